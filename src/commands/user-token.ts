import { allOwnTokens, revokeOwnToken } from '../auth/own-tokens.ts';
import { readConfig } from '../base/config.ts';
import { openDatabase } from '../db/database.ts';
import { auditedCommand } from './audit.ts';
import { type Command, expectPositionals, parse, print, tell, wrongAction } from './command.ts';

export const userTokenCommand: Command = {
  name: 'user-token',
  summary: 'list and revoke the tokens that users made for their scripts',
  usage: `gapstone user-token list [--db FILE] [--users-db FILE] [--json]
gapstone user-token revoke ID`,
  help: ['--json  print the result as JSON'],
  settings: ['selfTokens', 'auditFile', 'auditFailure'],
  examples: ['gapstone user-token list'],
  async run(args) {
    const { values, positionals } = parse(args, null, {});
    const [action, ...rest] = positionals;
    if (action !== 'list' && action !== 'revoke') throw wrongAction('user-token', action, ['list', 'revoke']);
    expectPositionals(rest, action === 'revoke' ? ['the ID of a token'] : []);
    const config = readConfig(values);
    using db = openDatabase(config);
    if (action === 'list') {
      for (const each of allOwnTokens(db, new Date())) {
        const organization = each.organization ?? '-';
        const line = `${each.id}  ${each.state}  ${each.subject}  ${organization}  ${each.name} (expires ${each.expiresAt})`;
        print(values.json, each, line);
      }
      return 0;
    }
    const id = rest[0]!;
    const done = { action: 'user-token.revoke', objectType: 'user-token', objectId: id };
    await auditedCommand(config, db, done, () => revokeOwnToken(db, id, new Date()));
    tell(`user token ${id} is revoked`);
    return 0;
  },
};
