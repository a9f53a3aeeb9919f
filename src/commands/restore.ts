import { readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { restoreBackup } from '../db/restore-backup.ts';
import { newestSchema } from '../db/schema.ts';
import { auditedRun } from './audit.ts';
import { type Command, parse, print, tell } from './command.ts';

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'verify a backup and replace what it holds',
  usage: 'gapstone restore FILE [--db FILE] [--users-db FILE] [--json]',
  help: [
    "FILE      the backup, of both files or of users' data alone; compared with FILE.sha256 if that exists",
    '--json    bytes, sha256, and of each file kind, file, schema and before (the replaced one) as JSON',
    'Stop the server first. What is replaced is kept beside the new file.',
  ],
  settings: ['auditFile', 'auditFailure'],
  examples: ['gapstone restore gapstone.zip'],
  async run(args) {
    const { values, positionals } = parse(args, ['FILE'], {});
    const config = readConfig(values);
    const file = positionals[0]!;
    // A typo must not create an audit stream.
    if (!isThere(file)) throw new CommandError(`there is no backup at ${file}`);
    requireFolder(config.db);
    requireFolder(config.usersDb);
    const event = { action: 'database.restore', objectType: 'file', objectId: file };
    const restored = await auditedRun(
      config,
      event,
      // The backup may have the audit head of another machine.
      (stream) => restoreBackup(file, config, new Date(), stream.head()),
      ({ sha256, files }) => ({
        sha256,
        files: files.map((each) => each.file),
        before: files.flatMap(({ before }) => before ?? []),
      }),
    );
    print(values.json, restored, `${restored.sha256}  ${file}`);
    if (restored.lost !== undefined) tell(`warning: ${restored.lost}`);
    for (const { kind, file, schema, before } of restored.files) {
      if (before !== null) tell(`the replaced ${file} is in ${before}`);
      const newest = newestSchema(kind);
      if (schema < newest) tell(`${file} has schema ${schema}: the next start upgrades it to ${newest}`);
      if (kind === 'users')
        tell('all sessions were ended; revoke again any integration token that was revoked after the backup');
    }
    return 0;
  },
};
