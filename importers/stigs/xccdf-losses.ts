// What of an XCCDF benchmark is read, and what says nothing (rule F1.6).
import { elementsOf, textOf, type XmlElement, type XmlNode } from '../../src/read/xml.ts';
import { collapseLine } from '../read/source-text.ts';
import type { ReadElement } from '../read/tree-losses.ts';

/**
 * What is read of each element: `@attribute`, `element?` of which the first is read, `element*` of which all are. An
 * element without children of its own is a text. Attributes that only name an element within its file count as read.
 */
const grammar = `
  Benchmark @id title? description? version? status* plain-text* reference* Profile* Group* Rule*
  status @date
  Profile @id title? description? select*
  select @idref @selected
  Group @id title? description? reference* Group* Rule*
  Rule @id @severity @weight title? version? description* reference* ident* fixtext* check* complex-check*
  ident @system
  fixtext @fixref
  fix @id
  complex-check check* complex-check*
  check @system check-content-ref? check-content*
  check-content-ref @href @name
  notice @id`;

function readGrammar(line: string): [name: string, read: ReadElement] {
  const [name = '', ...parts] = line.trim().split(' ');
  const attributes = parts.filter((part) => part.startsWith('@')).map((part) => part.slice(1));
  const one = parts.filter((part) => part.endsWith('?')).map((part) => part.slice(0, -1));
  const many = parts.filter((part) => part.endsWith('*')).map((part) => part.slice(0, -1));
  return [name, one.length + many.length > 0 ? { attributes, one, many } : { attributes }];
}

/** What of an XCCDF benchmark is read. */
export const readElements: Record<string, ReadElement> = {
  ...Object.fromEntries(grammar.trim().split('\n').map(readGrammar)),
  'plain-text': { losses: lossesOfPlainText },
  reference: { losses: lossesOfReference },
};

/** Values that XCCDF takes for granted, by attribute. */
export const defaultValues = new Map([
  ...'abstract hidden multi-check multiple negate override prohibitChanges reboot resolved'
    .split(' ')
    .map((name): [string, string[]] => [name, ['false', '0']]),
  ['complexity', ['unknown']],
  ['disruption', ['unknown']],
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
