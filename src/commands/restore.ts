import { readConfig } from '../base/config.ts';
import { readHeader } from '../db/header.ts';
import { listMigrations } from '../db/migrate.ts';
import { requireFolder, restoreDatabase } from '../db/restore.ts';
import { auditedRun } from './audit.ts';
import { type Command, parse, tell } from './command.ts';

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'verify a backup and replace the database with it',
  usage: 'gapstone restore FILE [--db FILE] [--json]',
  help: [
    'FILE      the backup; compared with FILE.sha256 if that exists',
    '--json    file, bytes, sha256, schema and before (the replaced database) as JSON',
    'Stop the server first. The replaced database is kept beside the new one.',
  ],
  async run(args) {
    const { values, positionals } = parse(args, ['FILE'], {});
    const config = readConfig({ db: values.db });
    const file = positionals[0]!;
    // A slip of the pen leaves no audit stream behind where nothing is.
    readHeader(file);
    requireFolder(config.db);
    const event = { action: 'database.restore', objectType: 'file', objectId: file };
    const restored = await auditedRun(
      config,
      event,
      // What the backup knows of the audit stream may be of another machine's.
      (stream) => restoreDatabase(file, config.db, new Date(), { audited: stream.head() }),
      ({ sha256, schema, before: kept }) => ({ sha256, schema, before: kept }),
    );
    const { before, schema } = restored;
    if (values.json) process.stdout.write(`${JSON.stringify(restored)}\n`);
    else process.stdout.write(`${restored.sha256}  ${file}\n`);
    if (before !== null) tell(`the replaced database is in ${before}`);
    if (schema < listMigrations().length)
      tell(`it has schema ${schema}: the next start upgrades it to ${listMigrations().length}`);
    tell('all sessions were ended; revoke again any integration token that was revoked after the backup');
    return 0;
  },
};
