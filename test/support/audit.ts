import fs, { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type AuditEvent, type Head, systemEvent } from '../../src/audit/event.ts';
import { openAuditFile } from '../../src/audit/file.ts';
import { type AuditStream, createAuditStream } from '../../src/audit/stream.ts';
import { AppError } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import { scratchFolder } from './scratch.ts';

/** A line of the audit stream as it was written. */
export type AuditLine = AuditEvent & Head & { time: string; prevHash: string };

/** The lines of an audit file. */
export function auditLines(file: string): AuditLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** An event that can be told from others by its name. */
export function someEvent(name: string): AuditEvent {
  return systemEvent('test.happen', null, { objectId: name });
}

/**
 * What the disk of this process does: while `full` is set, bytes are not written, but for half of the first ones where
 * `half` is set too; while `broken` is set, nothing is synced.
 */
export const disk = { full: false, half: false, broken: false };

const { writeSync, fdatasyncSync } = fs;
fs.writeSync = ((fd: number, data: Uint8Array | string, ...more: []) => {
  if (!disk.full || typeof data === 'string') return writeSync(fd, data as Uint8Array, ...more);
  if (disk.half && data.length > 1) {
    disk.half = false;
    return writeSync(fd, data.subarray(0, data.length >> 1));
  }
  throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}) as typeof fs.writeSync;
fs.fdatasyncSync = (fd) => {
  if (disk.broken) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  fdatasyncSync(fd);
};
syncBuiltinESMExports();

export interface TestAudit {
  file: string;
  stream: AuditStream;
  /** The lines so far; the start of the chain left out. */
  lines(): AuditLine[];
  log: { msg: string; level: string }[];
}

/** An audit stream on a file of its own, as a server has it. */
export function testAudit(
  clock: { now: Date },
  { failure = 'stop', ...options }: { failure?: 'stop' | 'continue'; lockTimeout?: number } = {},
): TestAudit {
  const file = join(scratchFolder(), 'audit.jsonl');
  const log: TestAudit['log'] = [];
  const now = () => clock.now;
  const stream = createAuditStream(openAuditFile(file, { now, ...options }), {
    failure,
    now,
    log: createLog('info', (line) => log.push(JSON.parse(line))),
    refuse: () => new AppError('UNAVAILABLE', 'not audited', { 'Retry-After': '30' }),
  });
  return { file, stream, log, lines: () => auditLines(file) };
}
