import { allOwnTokens, revokeOwnToken } from '../auth/own-tokens.ts';
import { readConfig } from '../base/config.ts';
import { openDatabase } from '../db/database.ts';
import { auditedCommand } from './audit.ts';
import { command, group, print, tell } from './command.ts';

const about = { settings: ['selfTokens', 'auditFile', 'auditFailure'] } as const;

const listCommand = () =>
  command('list', 'list them', about).action((options) => {
    using db = openDatabase(readConfig(options));
    for (const each of allOwnTokens(db, new Date())) {
      const organization = each.organization ?? '-';
      const line = `${each.id}  ${each.state}  ${each.subject}  ${organization}  ${each.name} (expires ${each.expiresAt})`;
      print(options.json, each, line);
    }
  });

const revokeCommand = () =>
  command('revoke', 'end one at once', about)
    .argument('<id>', 'the ID of a token')
    .action(async (id, options) => {
      const config = readConfig(options);
      using db = openDatabase(config);
      const done = { action: 'user-token.revoke', objectType: 'user-token', objectId: id };
      await auditedCommand(config, db, done, () => revokeOwnToken(db, id, new Date()));
      tell(`user token ${id} is revoked`);
    });

export const userTokenCommand = () =>
  group('user', 'list and revoke the tokens that users made for their scripts', [
    listCommand(),
    revokeCommand(),
  ]);
