import { cciRevisions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { elementsOf, textOf, type XmlElement, type XmlNode } from '../../src/read/xml.ts';
import { createLosses, type Losses, unstoredAttributes } from '../read/losses.ts';
import { collapseLine, excerpt, firstOf } from '../read/source-text.ts';
import { type ControlsResult, catalogRecord, cciRecord, withKind } from './catalog.ts';
import type { CatalogRecord, ControlRecord, MappingPair } from './control-record.ts';

const kind = 'cci-list';
const namespace = 'http://iase.disa.mil/cci';

/** True for the root element of DISA's CCI list. */
export function isCciList(root: XmlElement): boolean {
  return root.name === 'cci_list' && root.uri === namespace;
}

/**
 * Reads DISA's CCI list in order of identifiers (rule F4.1), with its pairs with 800-53. Throws `ImportError` for a
 * missing part and a repeated item.
 */
export function parseCciList(root: XmlNode): ControlsResult {
  return withKind(kind, () => {
    const [version = ''] = textsIn(root, 'version');
    if (version === '') throw new ImportError('the CCI list has no version');
    const losses = createLosses();
    countUnread(root, losses);
    const items = within(root, 'cci_item').map(readItem);
    const catalog = catalogRecord(
      { framework: 'cci', version, edition: version },
      items.map(({ control }) => control),
    );
    const referencesOf = new Map(items.map(({ control, references }) => [control, references]));
    const { pairs, warnings } = readReferences(
      version,
      catalog.controls.flatMap((control) => referencesOf.get(control)!),
    );
    return {
      kind,
      records: [catalog, { type: 'mapping', edition: version, pairs }],
      warnings: [...unknownStatuses(catalog), ...warnings, ...losses.warnings()],
    };
  });
}

/** A reference of a CCI to 800-53 as published. */
interface CciReference {
  cci: string;
  version: string;
  title: string;
  index: string;
}

/** The elements with a name, at any depth. */
const within = (node: XmlNode, name: string): XmlNode[] =>
  elementsOf(node).flatMap((child) => (child.name === name ? [child] : within(child, name)));

const textsIn = (node: XmlNode, name: string) => within(node, name).map((each) => textOf(each).trim());

function readItem(node: XmlNode): { control: ControlRecord; references: CciReference[] } {
  const { id = '' } = node.attributes;
  const identifier = canonicalIdentifier('cci', id);
  if (identifier === null) throw new ImportError(`the item id "${excerpt(id)}" is not a CCI`);
  const [status = ''] = textsIn(node, 'status');
  if (status === '') throw new ImportError(`${identifier} has no status`);
  const [definition = ''] = textsIn(node, 'definition').map(collapseLine);
  if (definition === '') throw new ImportError(`${identifier} has no definition`);
  const references = within(node, 'reference').map(
    ({ attributes: { version = '', title = '', index = '' } }) => ({
      cci: identifier,
      version: version.trim(),
      title: title.trim(),
      index: collapseLine(index),
    }),
  );
  if (references.some(({ version, index }) => version === '' || index === ''))
    throw new ImportError(`a reference of ${identifier} has no version or no index`);
  const type = textsIn(node, 'type').join(', ');
  return { control: cciRecord(identifier, status, type, definition), references };
}

/** Elements that are texts, with the text of the markup in them. */
const textElements = ['version', 'status', 'definition', 'type'];
/** Texts that an item has once. */
const singleTexts = ['status', 'definition'];
const storedAttributes = new Map([
  ['cci_item', ['id']],
  ['reference', ['version', 'title', 'index']],
]);

/** Counts the attributes and texts that are not stored (rule D53.1). */
function countUnread(node: XmlNode, losses: Losses, isInText = false): void {
  const { name, attributes, children } = node;
  const isText = isInText || textElements.includes(name);
  for (const attribute of unstoredAttributes(attributes, storedAttributes.get(name) ?? []))
    losses.add(`${name}@${attribute}`);
  for (const child of elementsOf(node)) countUnread(child, losses, isText);
  if (!isText && children.some((child) => typeof child === 'string' && child.trim() !== '')) losses.add(name);
  if (name === 'cci_item')
    for (const single of singleTexts)
      for (const _ of within(node, single).slice(1)) losses.add(`a repeated ${single}`);
}

const knownStatuses = ['', 'draft', 'published', 'deprecated'];

/** Warns of CCIs with a status that DISA does not use. Only deprecated CCIs make no edges (rule D7.1 (a)). */
export function unknownStatuses({ controls }: CatalogRecord): string[] {
  const unknown = controls.filter(({ familyCode }) => !knownStatuses.includes(familyCode.toLowerCase()));
  if (unknown.length === 0) return [];
  const named = firstOf(
    unknown.map(({ identifier, familyCode }) => `${identifier} "${excerpt(familyCode)}"`),
  );
  return [`${unknown.length} CCIs have an unknown status and are treated as active: ${named}`];
}

/** The pairs with 800-53 up to Rev 5, and warnings. Version 1 is 800-53A and gives none (rule F4.1). */
function readReferences(
  edition: string,
  references: CciReference[],
): { pairs: MappingPair[]; warnings: string[] } {
  const unread: { problem: string; name: string }[] = [];
  const pairs = references.flatMap(({ cci, title, version, index }) => {
    const { revision, controls, problem } = readReference(version, index);
    const name = `${cci} "${excerpt(title)}" version "${excerpt(version)}" index "${excerpt(index)}"`;
    if (problem !== null) unread.push({ problem, name });
    return controls.map(
      (toIdentifier): MappingPair => ({
        fromFramework: 'cci',
        fromVersion: edition,
        fromIdentifier: cci,
        toFramework: 'nist-800-53',
        toVersion: `Rev ${revision}`,
        toIdentifier,
        reference: index,
      }),
    );
  });
  const warnings = [...Map.groupBy(unread, (each) => each.problem)].map(
    ([problem, each]) =>
      `${each.length} references of CCIs ${problem}: ${firstOf(each.map(({ name }) => name))}`,
  );
  return { pairs, warnings };
}

function readReference(version: string, index: string) {
  const revision = Number(versionKey('nist-800-53', version));
  const nothing = (problem: string | null) => ({ revision, controls: [], problem });
  if (!Number.isInteger(revision) || revision < 1)
    return nothing('were left out, their version is not understood');
  if (revision === 1) return nothing(null);
  if (revision > cciRevisions.verified)
    return nothing(`were left out, as Rev ${cciRevisions.verified} is the newest that counts`);
  const { controls, isWhole } = readCciIndex(index);
  if (isWhole) return { revision, controls, problem: null };
  const problem = controls.length === 0 ? 'left out' : 'read in part';
  return { revision, controls, problem: `were ${problem}, their index is not understood` };
}

const controlAndItems = /^\s*([a-z]{2})\s*-\s*(\d+)\s*(?:\(\s*(\d+)\s*\))?(.*)$/is;
// Items are `a`, `1`, `(a)` or `(1)`. An index with a dot after the number is not read: 800-53A and OSCAL use it for
// other things.
const items = /^(?!\s*\.)(?:[\s.]*(?:\([\w ]+\)|[a-z]{1,2}(?![a-z])|\d{1,2}(?!\d)))*[\s.]*$/i;

// A word after the control and its items is not an item, but the control before it is still certain.
const word = /^\s*(?:\([\w ]+\)\s*)*[a-z]/i;

/**
 * The controls and enhancements that the index of a CCI reference names, without items (rule F4.2): `AC-2 (3) (d)`
 * gives AC-2(3), `AC-2 d (1)` gives AC-2, `SC-37, SC-37 (1)` gives both. A number in brackets is an enhancement only
 * directly after the number of the control.
 */
export function readCciIndex(index: string): { controls: string[]; isWhole: boolean } {
  const parts = index.split(/[,;]/).filter((part) => part.trim() !== '');
  const controls = new Set<string>();
  let isWhole = parts.length > 0;
  for (const part of parts) {
    const [, family, number, enhancement, rest = ''] = controlAndItems.exec(part) ?? [];
    const bracketed = enhancement === undefined ? '' : `(${enhancement})`;
    const identifier = canonicalIdentifier('nist-800-53', `${family}-${number}${bracketed}`);
    const isItems = items.test(rest);
    if (identifier !== null && (isItems || word.test(rest))) controls.add(identifier);
    isWhole &&= identifier !== null && isItems;
  }
  return { controls: [...controls], isWhole };
}
