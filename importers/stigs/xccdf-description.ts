import type { Losses } from '../read/losses.ts';

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

/** A name without case, separators and plural; `Security...` and `..._Discuss` are names of Vulcan and of checklists. */
function keyOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/^security/, 'severity')
    .replace(/discuss$/, 'discussion')
    .replace(/(?:ies|y)$/, 'i')
    .replace(/s$/, '');
}

const byKey = new Map(descriptionTags.map((tag) => [keyOf(tag), tag]));

/** The tag that a name means, in any spelling; undefined for none. */
export function descriptionTagOf(name: string): DescriptionTag | undefined {
  return name.length > 64 ? undefined : byKey.get(keyOf(name));
}

/**
 * Splits a rule description (decoded once) by its tags, texts trimmed. It is not XML but holds bare `<` and `&`: a
 * tag's text ends at its last closing tag before the next known opening tag. What stands between is read as tags in
 * other spellings; `losses` counts the content of unknown ones. The texts of a repeated tag, such as `Responsibility`,
 * are joined by `, `; a missing tag gives `""`. Text without any known tag is the discussion.
 */
export function readDescription(text: string, losses?: Losses): Record<DescriptionTag, string> {
  const parts = Object.fromEntries(descriptionTags.map((tag) => [tag, ''])) as Record<DescriptionTag, string>;
  const put = (tag: DescriptionTag, stated: string) => {
    const value = stated.trim();
    if (value !== '') parts[tag] = parts[tag] === '' ? value : `${parts[tag]}, ${value}`;
  };
  const openings = [...text.matchAll(/<([A-Za-z]+)>/g)].filter(([, name]) => known.has(name!));
  const head = text.slice(0, openings[0]?.index);
  const first = anyTag.exec(head.trimStart().slice(0, 66))?.[1] ?? '';
  if (openings.length > 0 || descriptionTagOf(first) !== undefined) readBetween(head, put, losses);
  else parts.VulnDiscussion = text.trim();
  for (const [at, { 0: opening, 1: tag, index }] of openings.entries()) {
    const segment = text.slice(index + opening.length, openings[at + 1]?.index);
    const closing = `</${tag}>`;
    const end = segment.lastIndexOf(closing);
    put(tag as DescriptionTag, end < 0 ? segment : segment.slice(0, end));
    if (end >= 0) readBetween(segment.slice(end + closing.length), put, losses);
  }
  return parts;
}

const anyTag = /^<([a-z](?:[\w.-]{0,62}[a-z0-9])?)>/i;

/** Reads the tags of a text between those in DISA's spelling. */
function readBetween(
  text: string,
  put: (tag: DescriptionTag, stated: string) => void,
  losses: Losses | undefined,
): void {
  for (let rest = text.trim(); rest !== ''; rest = rest.trimStart()) {
    const [opening, name = ''] = anyTag.exec(rest) ?? [];
    if (opening === undefined) {
      losses?.add('text between the tags of a description');
      const next = rest.indexOf('<', 1);
      rest = next < 0 ? '' : rest.slice(next);
      continue;
    }
    const closing = `</${name}>`;
    const end = rest.indexOf(closing, opening.length);
    const value = rest.slice(opening.length, end < 0 ? undefined : end);
    const tag = descriptionTagOf(name);
    if (tag !== undefined) put(tag, value);
    else if (value.trim() !== '') losses?.add(`<${name}> of a description`);
    rest = end < 0 ? '' : rest.slice(end + closing.length);
  }
}

/** The text inside a wrapper such as `<GroupDescription>`, or the whole text without one. */
export function unwrap(text: string, wrapper: 'GroupDescription' | 'ProfileDescription'): string {
  const [opening, closing] = [`<${wrapper}>`, `</${wrapper}>`];
  const whole = text.trim();
  const isWrapped = whole.startsWith(opening) && whole.endsWith(closing);
  return isWrapped ? whole.slice(opening.length, -closing.length).trim() : whole;
}
