import { randomUUID } from 'node:crypto';
import { Option } from '@commander-js/extra-typings';
import { createIntegrationTokens, type IntegrationTokens } from '../auth/integration-tokens.ts';
import { allOwnTokens, revokeOwnToken } from '../auth/own-tokens.ts';
import { checkTokenRequest, issueUserToken, requireName, type TokenRequest } from '../auth/tokens.ts';
import { type Config, type Flags, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { count } from '../base/text.ts';
import { connectReadOnly } from '../db/connect.ts';
import { type Database, openDatabase, requireDatabaseFile } from '../db/database.ts';
import { auditedCommand, auditNewKey, type OperatorEvent } from './audit.ts';
import { command, group, print, seconds, tell } from './command.ts';

/** Seconds: eight hours. */
const defaultLifetime = 8 * 3600;
/** Seconds: ten years. */
const longestLifetime = 3650 * 24 * 3600;
const settings = ['auditFile', 'auditFailure'] as const;

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

/** Changes tokens of a kind in users' data, with an audit event. */
async function change<T>(options: Flags, event: OperatorEvent, work: (db: Database) => T): Promise<T> {
  const config = readConfig(options);
  using db = openDatabase(config);
  return await auditedCommand(config, db, event, () => work(db));
}

const listOwnCommand = () =>
  command('list', 'list them', { settings: ['selfTokens', ...settings] }).action((options) => {
    using db = openDatabase(readConfig(options));
    for (const each of allOwnTokens(db, new Date())) {
      const organization = each.organization ?? '-';
      const line = `${each.id}  ${each.state}  ${each.subject}  ${organization}  ${each.name} (expires ${each.expiresAt})`;
      print(options.json, each, line);
    }
  });

const revokeOwnCommand = () =>
  command('revoke', 'end one at once', { settings: ['selfTokens', ...settings] })
    .argument('<id>', 'the ID of a token')
    .action(async (id, options) => {
      const event = { action: 'user-token.revoke', objectType: 'user-token', objectId: id };
      await change(options, event, (db) => revokeOwnToken(db, id, new Date()));
      tell(`user token ${id} is revoked`);
    });

const integrationTokens = (db: Database): IntegrationTokens => createIntegrationTokens(db, () => new Date());
const objectType = 'integration-token';

const createCommand = () =>
  command('create', 'make one; it is shown only once', {
    settings,
    examples: ['gapstone token integration create --name dashboard --org team-red --ttl 365d'],
  })
    .requiredOption('--name <name>', 'what the token is for', (text: string) => requireName('name', text))
    .requiredOption('--org <organization>', 'the organization whose lists it may read', (text: string) =>
      requireName('org', text),
    )
    .option('--list <id...>', 'a list that it may read; more ids may follow')
    .option('--ttl <time>', 'how long it is valid: 8h, 90d, 365d ... (no limit)', seconds)
    .action(async ({ name, org: organization, list: lists = [], ttl: lifetime = null, ...options }) => {
      if (lifetime !== null && (lifetime < 1 || lifetime > longestLifetime))
        throw new CommandError('--ttl must be from 1s to 3650d', 2);
      const request = { id: randomUUID(), name, organization, lists, lifetime };
      const event = {
        action: 'integration-token.create',
        objectType,
        objectId: request.id,
        org: organization,
        detail: { lists },
      };
      const token = await change(options, event, (db) => integrationTokens(db).create(request));
      if (!options.json) tell(`integration token ${request.id}. It is shown only once:`);
      print(options.json, { id: request.id, token }, token);
    });

const listCommand = () =>
  command('list', 'list them').action((options) => {
    using db = openDatabase(readConfig(options));
    for (const each of integrationTokens(db).list()) {
      const expires = each.expiresAt === null ? '' : `, expires ${each.expiresAt}`;
      const line = `${each.id}  ${each.state}  ${each.organization}  ${each.name} (${count(each.lists.length, 'list')}${expires})`;
      print(options.json, each, line);
    }
  });

const revokeCommand = () =>
  command('revoke', 'end one at once', { settings })
    .argument('<id>', 'the ID of a token')
    .action(async (id, options) => {
      const event = { action: 'integration-token.revoke', objectType, objectId: id };
      await change(options, event, (db) => integrationTokens(db).revoke(id));
      tell(`integration token ${id} is revoked`);
    });

const assignCommand = () =>
  command('assign', 'let one read more lists', { settings })
    .argument('<id>', 'the ID of a token')
    .requiredOption('--list <id...>', 'a list that it may read; more ids may follow')
    .action(async (id, { list: lists, ...options }) => {
      const event = { action: 'integration-token.assign', objectType, objectId: id, detail: { lists } };
      await change(options, event, (db) => integrationTokens(db).assign(id, lists));
      tell(`integration token ${id} may read ${count(lists.length, 'more list')}`);
    });

export const tokenCommand = () =>
  group('token', 'issue, list, revoke and assign tokens', [
    issueCommand(),
    group('user', 'list and revoke the tokens that users made for their scripts', [
      listOwnCommand(),
      revokeOwnCommand(),
    ]),
    group('integration', 'create, list, revoke and assign tokens for programs that read lists', [
      createCommand(),
      listCommand(),
      revokeCommand(),
      assignCommand(),
    ]),
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
