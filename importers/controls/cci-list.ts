import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { XmlElement, XmlHandler } from '../../src/read/xml.ts';
import { createLosses, unstoredAttributes } from '../read/losses.ts';
import { collapseLine, excerpt, firstOf } from '../read/source-text.ts';
import { type ControlsResult, cciListRecord } from './catalog.ts';
import { readCciReferences } from './cci-references.ts';
import type { CciItem } from './control-record.ts';

const kind = 'cci-list';
const namespace = 'http://iase.disa.mil/cci';

/** True for the root element of DISA's CCI list. */
export function isCciList(root: XmlElement): boolean {
  return root.name === 'cci_list' && root.uri === namespace;
}

/** Elements whose text the builder reads, with the text of the markup in them. */
const textElements = new Set(['version', 'status', 'definition', 'type']);
const attributesRead: Record<string, string[]> = {
  cci_item: ['id'],
  reference: ['version', 'title', 'index'],
};

interface RawItem {
  id: string;
  status: string;
  types: string[];
  definition: string;
  references: CciItem['references'];
}

/** Builds the CCI list from XML events, without a tree: no other source about controls is as large. */
export class CciListBuilder implements XmlHandler {
  private version = '';
  private readonly items: RawItem[] = [];
  private item: RawItem | null = null;
  private captured = '';
  private readonly losses = createLosses();
  private readonly opened: { local: string; isRead: boolean; hasText: boolean }[] = [];

  open({ name: local, attributes }: XmlElement): void {
    const isRead = textElements.has(local) || this.opened.at(-1)?.isRead === true;
    this.opened.push({ local, isRead, hasText: false });
    for (const name of unstoredAttributes(attributes, attributesRead[local] ?? []))
      this.losses.add(`${local}@${name}`);
    if (textElements.has(local)) this.captured = '';
    else if (local === 'cci_item') {
      this.item = { id: attributes.id ?? '', status: '', types: [], definition: '', references: [] };
      this.items.push(this.item);
    } else if (local === 'reference' && this.item) {
      const { version = '', title = '', index = '' } = attributes;
      this.item.references.push({ version: version.trim(), title: title.trim(), index: collapseLine(index) });
    }
  }

  text(text: string): void {
    this.captured += text;
    if (text.trim() !== '') this.opened.at(-1)!.hasText = true;
  }

  close({ name: local }: XmlElement): void {
    const { item, captured: text } = this;
    const { isRead, hasText } = this.opened.pop()!;
    if (hasText && !isRead) this.losses.add(local);
    const isRepeated =
      item && ((local === 'status' && item.status) || (local === 'definition' && item.definition));
    if (isRepeated) this.losses.add(`a repeated ${local}`);
    if (local === 'cci_item') this.item = null;
    else if (!item && local === 'version') this.version = text.trim();
    else if (item && local === 'status') item.status = text.trim();
    else if (item && local === 'definition') item.definition = collapseLine(text);
    else if (item && local === 'type') item.types.push(text.trim());
  }

  /** The list in order of identifiers (rule F4.1). Throws `ImportError` for a missing part and a repeated item. */
  result(): ControlsResult {
    if (this.version === '') throw new ImportError('the CCI list has no version', kind);
    const record = cciListRecord(kind, this.version, this.items.map(readItem));
    const { pairs, warnings } = readCciReferences(record.items);
    return {
      kind,
      records: [{ ...record, pairs }],
      warnings: [...unknownStatuses(record.items), ...warnings, ...this.losses.warnings()],
    };
  }
}

const knownStatuses = new Set(['', 'draft', 'published', 'deprecated']);

/** Warns of CCIs with a status that DISA does not use. Only deprecated CCIs make no edges (rule D7.1 (a)). */
export function unknownStatuses(items: CciItem[]): string[] {
  const unknown = items.filter(({ status }) => !knownStatuses.has(status.toLowerCase()));
  if (unknown.length === 0) return [];
  const named = firstOf(unknown.map(({ identifier, status }) => `${identifier} "${excerpt(status)}"`));
  return [`${unknown.length} CCIs have an unknown status and are treated as active: ${named}`];
}

function readItem({ id, status, types, definition, references }: RawItem): CciItem {
  const identifier = canonicalIdentifier('cci', id);
  if (identifier === null) throw new ImportError(`the item id "${excerpt(id)}" is not a CCI`, kind);
  if (status === '') throw new ImportError(`${identifier} has no status`, kind);
  if (definition === '') throw new ImportError(`${identifier} has no definition`, kind);
  const incomplete = references.find(({ version, index }) => version === '' || index === '');
  if (incomplete) throw new ImportError(`a reference of ${identifier} has no version or no index`, kind);
  return { identifier, status, type: types.join(', '), definition, references };
}
