import type { Database } from './database.ts';

/** The last line of the audit stream: its number and hash. */
interface Head {
  seq: number;
  hash: string;
}

/**
 * The audit head in the database, to notice a removed stream. It may be behind the stream but never ahead, so that
 * restoring a backup raises no false alarm.
 */
export function auditMemory({ sqlite }: Database) {
  const read = sqlite.prepare<[], Head>('SELECT seq, hash FROM audit_head');
  const note = sqlite.prepare<[number, string]>('UPDATE audit_head SET seq = ?, hash = ?');
  return {
    /** The last line written with a change of the database; seq 0 where there is none. */
    known: () => read.get()!,
    /** Records the last line as a part of the current transaction; does nothing outside of one. */
    remember({ seq, hash }: Head): void {
      if (sqlite.inTransaction) note.run(seq, hash);
    },
  };
}
