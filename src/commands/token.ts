import { checkTokenRequest, issueUserToken, type TokenRequest } from '../auth/tokens.ts';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { lifetimeOf } from '../base/lifetime.ts';
import { connectReadOnly } from '../db/connect.ts';
import { requireDatabaseFile } from '../db/database.ts';
import { auditedCommand, auditNewKey } from './audit.ts';
import {
  type Command,
  expectPositionals,
  parse,
  print,
  required,
  text,
  texts,
  wrongAction,
} from './command.ts';

export const tokenCommand: Command = {
  name: 'token',
  summary: 'issue a user token with the local key',
  usage:
    'gapstone token issue --subject S [--email E] [--org O] [--entitlement regdoc] [--entitlement occ] [--ttl 8h] [--db FILE] [--users-db FILE] [--json]',
  help: [
    '--subject S      the user of the token',
    '--email E        their e-mail address',
    '--org O          their organization',
    '--entitlement X  regdoc or occ; may be given twice',
    '--ttl T          how long it is valid: 30m, 8h, 90d ... (8h)',
    '--json           the token as JSON',
  ],
  settings: ['keyFile', 'jwks', 'auditFile'],
  examples: ['gapstone token issue --subject ann --org team-red --ttl 8h'],
  async run(args) {
    const { values, positionals } = parse(args, null, {
      ...{ subject: text, email: text, org: text, entitlement: texts, ttl: text },
    });
    if (positionals[0] !== 'issue') throw wrongAction('token', positionals[0], ['issue']);
    expectPositionals(positionals.slice(1), []);
    const entitlements = values.entitlement ?? [];
    const wrong = entitlements.find((each) => each !== 'regdoc' && each !== 'occ');
    if (wrong !== undefined)
      throw new CommandError(`--entitlement must be regdoc or occ, not "${wrong.slice(0, 64)}"`, 2);
    const request = {
      subject: required(values.subject, 'subject'),
      email: values.email,
      organization: values.org,
      entitlements,
      lifetime: readLifetime(values.ttl ?? '8h'),
    };
    const config = readConfig(values);
    checkTokenRequest(config, request);
    requireServed(config);
    const token = await auditedToken(config, request);
    print(values.json, { token }, token);
    return 0;
  },
};

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

/** Seconds of a `--ttl` (or another option) such as 30m, 8h or 90d. Throws `CommandError`. */
export function readLifetime(text: string, option = 'ttl'): number {
  const seconds = lifetimeOf(text);
  if (seconds === null)
    throw new CommandError(`--${option} must be a number with s, m, h or d, not "${text.slice(0, 64)}"`, 2);
  return seconds;
}
