import * as assert from 'uvu/assert';
import { parseSource } from '../../importers/parse.ts';
import type { XccdfFinding, XccdfRelease } from '../../importers/stigs/xccdf-record.ts';
import { type FindingRow, fieldOf, findingFields } from '../../importers/stigs/xccdf-rows.ts';

/** Reads bytes (or text) that must be a manual benchmark, without any database. */
export function parseRelease(
  source: string | Uint8Array,
  options: { strict?: boolean } = {},
): { release: XccdfRelease; warnings: string[] } {
  const parsed = parseSource(Buffer.from(source), options);
  assert.is(parsed.kind, 'xccdf', parsed.content === null ? parsed.reason : '');
  assert.ok(parsed.content?.type === 'stig');
  const { rows, ...head } = parsed.content.release;
  return { release: { ...head, findings: rows.map(findingOf) }, warnings: parsed.warnings };
}

function findingOf(row: FindingRow): XccdfFinding {
  const isList = (field: string) => field === 'ccis' || field === 'legacyIds';
  const read = findingFields.map((field) => {
    const value = fieldOf(row, field);
    return [field, isList(field) ? JSON.parse(value!) : value];
  });
  return Object.fromEntries(read);
}

/** Reads bytes (or text) that must be of a kind that is not stored. */
export function parseSkipped(source: string | Uint8Array): { kind: string; reason: string } {
  const parsed = parseSource(Buffer.from(source));
  assert.is(parsed.content, null);
  return { kind: parsed.kind, reason: parsed.content === null ? parsed.reason : '' };
}
