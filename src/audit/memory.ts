import type { Database } from '../db/database.ts';
import type { Head } from './event.ts';

/**
 * What an open database knows of the audit stream, so that a stream which is taken away together with its head is missed.
 * What it knows is behind the stream, as what changes nothing is not noted, and never
 * before it: lines are on the disk before the change that they tell of. So a backup, which knows less, accuses nobody.
 */
export function auditMemory({ sqlite }: Database) {
  const read = sqlite.prepare<[], Head>('SELECT seq, hash FROM audit_head');
  const note = sqlite.prepare<[number, string]>('UPDATE audit_head SET seq = ?, hash = ?');
  return {
    /** The last line of those that were written beside a change of the database; seq 0 where there is none. */
    known: () => read.get()!,
    /** Notes the last line, where the database is being changed: as a part of that change, or not at all. */
    remember({ seq, hash }: Head): void {
      if (sqlite.inTransaction) note.run(seq, hash);
    },
  };
}
