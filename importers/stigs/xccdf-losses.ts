// What of an XCCDF benchmark is read, and what says nothing (rule F1.6).
import { elementsOf, textOf, type XmlElement, type XmlNode } from '../../src/read/xml.ts';
import { collapseLine } from '../read/source-text.ts';
import type { ReadElement } from '../read/tree-losses.ts';

/** Attributes that only name an element within its file count as read. */
export const readElements: Record<string, ReadElement> = {
  Benchmark: {
    attributes: ['id'],
    one: ['title', 'description', 'version'],
    many: ['status', 'plain-text', 'reference', 'Profile', 'Group', 'Rule'],
  },
  status: { attributes: ['date'] },
  'plain-text': { losses: lossesOfPlainText },
  reference: { losses: lossesOfReference },
  Profile: { attributes: ['id'], one: ['title', 'description'], many: ['select'] },
  select: { attributes: ['idref', 'selected'], many: [] },
  Group: { attributes: ['id'], one: ['title', 'description'], many: ['reference', 'Group', 'Rule'] },
  Rule: {
    attributes: ['id', 'severity', 'weight'],
    one: ['title', 'version'],
    many: ['description', 'reference', 'ident', 'fixtext', 'check', 'complex-check'],
  },
  ident: { attributes: ['system'] },
  fixtext: { attributes: ['fixref'] },
  fix: { attributes: ['id'] },
  'complex-check': { many: ['check', 'complex-check'] },
  check: { attributes: ['system'], one: ['check-content-ref'], many: ['check-content'] },
  'check-content-ref': { attributes: ['href', 'name'] },
  notice: { attributes: ['id'] },
};

const no = ['false', '0'];

/** Values that XCCDF takes for granted, by attribute. */
export const defaultValues = new Map([
  ['abstract', no],
  ['complexity', ['unknown']],
  ['disruption', ['unknown']],
  ['hidden', no],
  ['multi-check', no],
  ['multiple', no],
  ['negate', no],
  ['override', no],
  ['prohibitChanges', no],
  ['reboot', no],
  ['resolved', no],
  ['role', ['full']],
  ['selected', ['true', '1']],
  ['strategy', ['unknown']],
]);

/** The release-info is read, and DISA's tools state their versions. */
const knownTexts = ['release-info', 'generator', 'conventionsVersion'];

function lossesOfPlainText(node: XmlNode): string[] {
  const isKnown = knownTexts.includes(node.attributes.id ?? '') || textOf(node).trim() === '';
  return isKnown ? [] : ['Benchmark/plain-text'];
}

const dublinCore = 'http://purl.org/dc/elements/1.1/';

/** The texts of the Dublin Core elements of a name in a reference. */
export function dublinCoreOf(reference: XmlNode, name: string): string[] {
  return elementsOf(reference)
    .filter((child) => child.uri === dublinCore && child.name === name)
    .map((child) => collapseLine(textOf(child)));
}

/** What DISA states in every reference: who publishes a STIG, and the name of the target with the stored identifier. */
const boilerplate = new Map([
  ['href', /^https?:\/\/(?:cyber\.mil|iase\.disa\.mil)\/?$/],
  ['publisher', /^DISA(?:,? (?:FSO|Field Security Operations))?$/],
  ['source', /^STIG\.DOD\.MIL$/],
  ['type', /^DPMS Target$/],
]);

function lossesOfReference(reference: XmlNode, parent: XmlElement): string[] {
  const isTarget = parent.name === 'Rule' && dublinCoreOf(reference, 'identifier').length > 0;
  const stored = isTarget ? ['identifier', 'title', 'subject'] : [];
  const ownText = reference.children.filter((child) => typeof child === 'string').join('');
  const stated: [name: string, text: string][] = [
    ['href', reference.attributes.href ?? ''],
    ['', ownText],
    ...elementsOf(reference).map((child): [string, string] => [child.name, collapseLine(textOf(child))]),
  ];
  const owner = parent.name === 'Rule' ? 'a Rule' : 'a Benchmark or Group';
  return stated
    .filter(
      ([name, text]) => text.trim() !== '' && !stored.includes(name) && !boilerplate.get(name)?.test(text),
    )
    .map(([name]) => `reference${name === '' ? '' : `/${name}`} of ${owner}`);
}
