import * as assert from 'uvu/assert';
import { parseSource } from '../../importers/parse.ts';
import type { XccdfRelease } from '../../importers/stigs/xccdf-record.ts';

/** Reads bytes (or text) that must be a manual benchmark, without any database. */
export function parseRelease(
  source: string | Uint8Array,
  options: { strict?: boolean } = {},
): { release: XccdfRelease; warnings: string[] } {
  const parsed = parseSource(Buffer.from(source), options);
  assert.is(parsed.kind, 'xccdf', parsed.content === null ? parsed.reason : '');
  assert.ok(parsed.content?.type === 'stig');
  return { release: parsed.content.release, warnings: parsed.warnings };
}

/** Reads bytes (or text) that must be of a kind that is not stored. */
export function parseSkipped(source: string | Uint8Array): { kind: string; reason: string } {
  const parsed = parseSource(Buffer.from(source));
  assert.is(parsed.content, null);
  return { kind: parsed.kind, reason: parsed.content === null ? parsed.reason : '' };
}
