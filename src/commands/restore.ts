import { readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { restoreBackup } from '../db/restore-backup.ts';
import { newestSchema } from '../db/schema.ts';
import { auditedRun } from './audit.ts';
import { command, print, tell } from './command.ts';

export const restoreCommand = () =>
  command('restore', 'verify a backup and replace what it holds', {
    settings: ['auditFile', 'auditFailure'],
    notes: ['Stop the server first. What is replaced is kept beside the new file.'],
    examples: ['gapstone restore gapstone.zip'],
  })
    .argument(
      '<file>',
      "the backup, of both files or of users' data alone; compared with FILE.sha256 if that exists",
    )
    .action(async (file, options) => {
      const config = readConfig(options);
      // A typo must not create an audit stream.
      if (!isThere(file)) throw new CommandError(`there is no backup at ${file}`);
      requireFolder(config.db);
      requireFolder(config.usersDb);
      const restored = await auditedRun(
        config,
        { action: 'database.restore', objectType: 'file', objectId: file },
        // The backup may have the audit head of another machine.
        (stream) => restoreBackup(file, config, new Date(), stream.head()),
        ({ sha256, files }) => ({
          sha256,
          files: files.map((each) => each.file),
          before: files.flatMap(({ before }) => before ?? []),
        }),
      );
      print(options.json, restored, `${restored.sha256}  ${file}`);
      if (restored.lost !== undefined) tell(`warning: ${restored.lost}`);
      for (const { kind, file, schema, before } of restored.files) {
        if (before !== null) tell(`the replaced ${file} is in ${before}`);
        const newest = newestSchema(kind);
        if (schema < newest) tell(`${file} has schema ${schema}: the next start upgrades it to ${newest}`);
        if (kind === 'users')
          tell(
            'all sessions were ended; revoke again any integration token that was revoked after the backup',
          );
      }
    });
