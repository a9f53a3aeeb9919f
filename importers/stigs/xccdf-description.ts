/** The tags of a DISA rule description, in their order (rule F1.5). */
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

const known = new Set<string>(descriptionTags);
const longestTag = Math.max(...descriptionTags.map((tag) => tag.length));

interface Opening {
  tag: DescriptionTag;
  at: number;
  from: number;
}

/**
 * Splits a rule description (decoded once) by its tags, texts trimmed. It is not XML but holds bare `<` and `&`: a
 * tag's text ends at its last closing tag before the next known opening tag. The texts of a repeated tag, such as
 * `Responsibility`, are joined by `, `; a missing tag gives `""`. Text without any known tag is the discussion.
 */
export function readDescription(text: string): Record<DescriptionTag, string> {
  const parts = Object.fromEntries(descriptionTags.map((tag) => [tag, ''])) as Record<DescriptionTag, string>;
  const openings = openingsOf(text);
  if (openings.length === 0) parts.VulnDiscussion = text.trim();
  for (const [index, { tag, from }] of openings.entries()) {
    const segment = text.slice(from, openings[index + 1]?.at);
    const end = segment.lastIndexOf(`</${tag}>`);
    const value = (end < 0 ? segment : segment.slice(0, end)).trim();
    if (value !== '') parts[tag] = parts[tag] === '' ? value : `${parts[tag]}, ${value}`;
  }
  return parts;
}

function openingsOf(text: string): Opening[] {
  const openings: Opening[] = [];
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    const from = text.indexOf('>', at) + 1;
    if (from === 0) break;
    if (from - at > longestTag + 2) continue;
    const tag = text.slice(at + 1, from - 1);
    if (known.has(tag)) openings.push({ tag: tag as DescriptionTag, at, from });
  }
  return openings;
}

/** The text inside a wrapper such as `<GroupDescription>`, or the whole text without one. */
export function unwrap(text: string, wrapper: 'GroupDescription' | 'ProfileDescription'): string {
  const match = new RegExp(`^\\s*<${wrapper}>([\\s\\S]*)</${wrapper}>\\s*$`).exec(text);
  return (match ? match[1]! : text).trim();
}
