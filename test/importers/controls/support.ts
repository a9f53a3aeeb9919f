import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import type { ControlsResult } from '../../../importers/controls/catalog.ts';
import type {
  CatalogRecord,
  ControlRecord,
  ControlsRecord,
  MappingPair,
} from '../../../importers/controls/control-record.ts';
import { sha256 } from '../../../src/base/ids.ts';
import type { StatementPart } from '../../../src/catalog/controls/schema.ts';
import { ImportError, type Kind } from '../../../src/read/import-error.ts';
import { readXml, wholeTree, type XmlNode } from '../../../src/read/xml.ts';
import { reference } from '../../support/reference.ts';

/** The bytes of a file of the reference data. */
export function bytesOf(...parts: string[]): Buffer {
  return readFileSync(reference(...parts));
}

/** The value of a JSON file of the reference data. */
export function jsonOf(...parts: string[]): unknown {
  return JSON.parse(bytesOf(...parts).toString('utf8'));
}

/** The tree of an XML source, as every parser of a small document gets it. */
export function treeOf(source: string | Uint8Array): XmlNode {
  let tree = null as XmlNode | null;
  readXml(Buffer.from(source), { strict: true }, () => wholeTree((root) => (tree = root)));
  return tree!;
}

/** How a publisher's text is named in a test: by the first half of its SHA-256, never by itself. */
export function digest(text: string): string {
  return sha256(text).slice(0, 16);
}

/** The records that a source gave; fails when it was skipped. */
export function recordsOf(result: ControlsResult): ControlsRecord[] {
  assert.ok(result.records, result.records === null ? result.reason : '');
  return result.records;
}

/** The only catalog that a source gave. */
export function catalogOf(result: ControlsResult): CatalogRecord {
  const catalogs = recordsOf(result).filter((record) => record.type === 'catalog');
  assert.is(catalogs.length, 1);
  return catalogs[0]!;
}

/** The pairs that a source gave. */
export function pairsOf(result: ControlsResult): MappingPair[] {
  return recordsOf(result).flatMap((record) => (record.type === 'mapping' ? record.pairs : []));
}

/** The control of an identifier; fails when it is not there. */
export function controlOf(catalog: CatalogRecord, identifier: string): ControlRecord {
  const control = catalog.controls.find((each) => each.identifier === identifier);
  assert.ok(control, `${identifier} is not in the catalog`);
  return control;
}

/** Why a source was skipped; fails when it was not. */
export function reasonOf(result: ControlsResult): string {
  assert.is(result.records, null);
  return result.records === null ? result.reason : '';
}

/** The message with which a source of a kind is refused: one clear line without control characters. */
export function refusal(kind: Kind, read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    assert.is(error.kind, kind, error.message);
    assert.ok(error.message.length > 10 && error.message.length < 300, error.message);
    assert.not.match(error.message, /[\u0000-\u001f\u007f-\u009f]/);
    return error.message;
  }
  return assert.unreachable('the source was accepted') as never;
}

/** What a rendered text must never hold (rule D6.4). */
export function assertRendered(control: ControlRecord): void {
  const { identifier, statement, guidance } = control;
  for (const text of [statement, guidance]) {
    assert.not.match(
      text,
      /\{\{|insert:|organization-defined organization-defined| [;,:)]| \.(?!\w)|\( |\]\(/,
      identifier,
    );
    assert.not.match(text, /[^\n ] {2,}|[^\S\n ]| $| \n|<\/?[a-z]|&\w+;/m, identifier);
  }
  assert.not.match(statement, /\n\n/, identifier);
  const lines = linesOf(control.statementParts, 0);
  if (lines.length > 0) assert.equal(statement.split('\n'), lines, identifier);
}

function linesOf(parts: StatementPart[], depth: number): string[] {
  return parts.flatMap(({ label, prose, parts: below }) => [
    `${'  '.repeat(depth)}${`${label} ${prose}`.trim()}`,
    ...linesOf(below, depth + 1),
  ]);
}
