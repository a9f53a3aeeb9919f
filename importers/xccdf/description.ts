/** The tags of a DISA rule description, in their order (FORMATS 1.5). */
export const descriptionTags = [
  'VulnDiscussion',
  'FalsePositives',
  'FalseNegatives',
  'Documentable',
  'Mitigations',
  'SeverityOverrideGuidance',
  'PotentialImpacts',
  'ThirdPartyTools',
  'MitigationControl',
  'Responsibility',
  'IAControls',
] as const;

export type DescriptionTag = (typeof descriptionTags)[number];

const opening = new RegExp(`<(${descriptionTags.join('|')})>`, 'g');

/**
 * Cuts a rule description (already decoded once) into its tags. The text is not XML: it holds bare `<` and `&`, so a
 * tag's text runs to the last of its closing tags before the next known opening tag. A tag that is repeated, as
 * `Responsibility` is, gives its texts joined by `, `; one that is absent gives `""`. A text without any known tag
 * is the discussion as it stands. Texts are trimmed.
 */
export function readDescription(text: string): Record<DescriptionTag, string> {
  const parts = Object.fromEntries(descriptionTags.map((tag) => [tag, ''])) as Record<DescriptionTag, string>;
  const starts = [...text.matchAll(opening)];
  if (starts.length === 0) {
    parts.VulnDiscussion = text.trim();
    return parts;
  }
  starts.forEach((start, index) => {
    const tag = start[1] as DescriptionTag;
    const from = start.index + start[0].length;
    const to = starts[index + 1]?.index ?? text.length;
    const segment = text.slice(from, to);
    const end = segment.lastIndexOf(`</${tag}>`);
    const value = (end < 0 ? segment : segment.slice(0, end)).trim();
    if (value !== '') parts[tag] = parts[tag] === '' ? value : `${parts[tag]}, ${value}`;
  });
  return parts;
}

/** The text inside a wrapper such as `<GroupDescription>`, or the text itself where there is none. */
export function unwrap(text: string, wrapper: 'GroupDescription' | 'ProfileDescription'): string {
  const match = new RegExp(`^\\s*<${wrapper}>([\\s\\S]*)</${wrapper}>\\s*$`).exec(text);
  return (match ? match[1]! : text).trim();
}
