import type { Losses } from '../read/losses.ts';

/** The fields of a rule by the tag of a DISA rule description (rule F1.5). */
export const descriptionFields = {
  VulnDiscussion: 'vulnDiscussion',
  FalsePositives: 'falsePositives',
  FalseNegatives: 'falseNegatives',
  Documentable: 'documentable',
  Mitigations: 'mitigations',
  SeverityOverrideGuidance: 'severityOverrideGuidance',
  PotentialImpacts: 'potentialImpacts',
  ThirdPartyTools: 'thirdPartyTools',
  MitigationControl: 'mitigationControl',
  Responsibility: 'responsibility',
  IAControls: 'iaControls',
} as const;

type DescriptionTag = keyof typeof descriptionFields;

/** The texts of a description by field. */
export type Description = Record<(typeof descriptionFields)[DescriptionTag], string>;

const tags = Object.keys(descriptionFields) as DescriptionTag[];

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

const tagByKey = new Map(tags.map((tag) => [keyOf(tag), tag]));

/** The tag that a name means, in any spelling; undefined for none. */
export function descriptionTagOf(name: string): DescriptionTag | undefined {
  return name.length > 64 ? undefined : tagByKey.get(keyOf(name));
}

const anyTag = /^<([a-z](?:[\w.-]{0,62}[a-z0-9])?)>/i;
const beforeTag = new RegExp(`(?=<(?:${tags.join('|')})>)`);

/**
 * Splits a rule description (decoded once) by its tags, texts trimmed. It is not XML but holds bare `<` and `&`: a
 * tag's text ends at its last closing tag before the next known opening tag. What stands between is read as tags in
 * other spellings; `losses` counts the content of unknown ones. The texts of a repeated tag, such as `Responsibility`,
 * are joined by `, `; a missing tag gives `""`. Text without any known tag is the discussion.
 */
export function readDescription(text: string, losses?: Losses): Description {
  const description = Object.fromEntries(
    Object.values(descriptionFields).map((field) => [field, '']),
  ) as Description;

  function add(tag: DescriptionTag, stated: string): void {
    const field = descriptionFields[tag];
    const texts = [description[field], stated.trim()];
    description[field] = texts.filter((each) => each !== '').join(', ');
  }

  /** Reads a tag at the beginning of a text to its first or last closing tag; gives the rest. */
  function readTag(piece: string, name: string, tag: DescriptionTag | undefined, isLast: boolean): string {
    const closing = `</${name}>`;
    const from = name.length + 2;
    const found = isLast ? piece.lastIndexOf(closing) : piece.indexOf(closing, from);
    const end = found < 0 ? piece.length : found;
    const stated = piece.slice(from, end);
    if (tag !== undefined) add(tag, stated);
    else if (stated.trim() !== '') losses?.add(`<${name}> of a description`);
    return piece.slice(end + closing.length);
  }

  const head = text.trimStart();
  const isTagged = beforeTag.test(text) || descriptionTagOf(anyTag.exec(head)?.[1] ?? '') !== undefined;
  if (!isTagged) return { ...description, vulnDiscussion: text.trim() };
  for (const piece of text.split(beforeTag)) {
    const known = tags.find((tag) => piece.startsWith(`<${tag}>`));
    let rest = known === undefined ? piece : readTag(piece, known, known, true);
    for (rest = rest.trim(); rest !== ''; rest = rest.trimStart()) {
      const name = anyTag.exec(rest)?.[1];
      if (name !== undefined) rest = readTag(rest, name, descriptionTagOf(name), false);
      else {
        losses?.add('text between the tags of a description');
        const next = rest.indexOf('<', 1);
        rest = next < 0 ? '' : rest.slice(next);
      }
    }
  }
  return description;
}

/** The text inside a wrapper such as `<GroupDescription>`, or the whole text without one. */
export function unwrap(text: string, wrapper: 'GroupDescription' | 'ProfileDescription'): string {
  const [opening, closing] = [`<${wrapper}>`, `</${wrapper}>`];
  const whole = text.trim();
  const isWrapped = whole.startsWith(opening) && whole.endsWith(closing);
  return isWrapped ? whole.slice(opening.length, -closing.length).trim() : whole;
}
