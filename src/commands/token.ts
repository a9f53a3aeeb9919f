import { Option } from '@commander-js/extra-typings';
import { checkTokenRequest, issueUserToken, type TokenRequest } from '../auth/tokens.ts';
import { type Config, readConfig } from '../base/config.ts';
import { isThere } from '../base/files.ts';
import { connectReadOnly } from '../db/connect.ts';
import { requireDatabaseFile } from '../db/database.ts';
import { auditedCommand, auditNewKey } from './audit.ts';
import { command, group, print, seconds } from './command.ts';
import { integrationTokenCommand } from './token-integration.ts';
import { userTokenCommand } from './token-user.ts';

/** Seconds: eight hours. */
const defaultLifetime = 8 * 3600;

const issueCommand = () =>
  command('issue', 'issue a user token with the local key', {
    settings: ['keyFile', 'jwks', 'auditFile'],
    examples: ['gapstone token issue --subject ann --org team-red --ttl 8h'],
  })
    .requiredOption('--subject <subject>', 'the user of the token')
    .option('--email <address>', 'their e-mail address')
    .option('--org <organization>', 'their organization')
    .addOption(
      new Option('--entitlement <name...>', 'what else they may read; may be given twice').choices([
        'regdoc',
        'occ',
      ]),
    )
    .option('--ttl <time>', 'how long it is valid: 30m, 8h, 90d ... (8h)', seconds)
    .action(
      async ({ subject, email, org: organization, entitlement: entitlements = [], ttl, ...options }) => {
        const request = { subject, email, organization, entitlements, lifetime: ttl ?? defaultLifetime };
        const config = readConfig(options);
        checkTokenRequest(config, request);
        requireServed(config);
        const token = await auditedToken(config, request);
        print(options.json, { token }, token);
      },
    );

export const tokenCommand = () =>
  group('token', 'issue, list, revoke and assign tokens', [
    issueCommand(),
    userTokenCommand(),
    integrationTokenCommand(),
  ]);

/**
 * Throws `CommandError` without a database: no server would accept the token. A key file that was named and exists is
 * enough.
 */
function requireServed({ db, keyFile, keyFileIsGiven }: Config): void {
  if (keyFileIsGiven && isThere(keyFile)) return;
  requireDatabaseFile(db);
  connectReadOnly(db, 'catalog', { anySchema: true }).close();
}

/** Issues a token and audits its subject and rights, never the token. */
export async function auditedToken(config: Config, request: TokenRequest): Promise<string> {
  const token = await issueUserToken(config, request, new Date(), auditNewKey(config));
  const { subject, organization, entitlements, lifetime } = request;
  const event = {
    action: 'user-token.issue',
    objectType: 'user',
    objectId: subject,
    org: organization ?? null,
    detail: { entitlements, seconds: lifetime },
  };
  return auditedCommand(config, null, event, () => token);
}
