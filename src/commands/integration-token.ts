import { randomUUID } from 'node:crypto';
import { createIntegrationTokens, type IntegrationTokens } from '../auth/integration-tokens.ts';
import { requireName } from '../auth/tokens.ts';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { count } from '../base/text.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { auditedCommand } from './audit.ts';
import {
  type Command,
  expectPositionals,
  parse,
  print,
  required,
  tell,
  text,
  texts,
  wrongAction,
} from './command.ts';
import { readLifetime } from './token.ts';

const maxLifetime = 3650 * 24 * 3600;

type Given = Partial<Record<'name' | 'org' | 'ttl', string>> & { lists: string[]; json?: boolean };

export const integrationTokenCommand: Command = {
  name: 'integration-token',
  summary: 'create, list, revoke and assign tokens for programs that read lists',
  usage: `gapstone integration-token create --name N --org O [--list ID...] [--ttl 90d] [--db FILE] [--users-db FILE] [--json]
gapstone integration-token list
gapstone integration-token revoke ID
gapstone integration-token assign ID --list ID...`,
  help: [
    '--name N    what the token is for',
    '--org O     the organization whose lists it may read',
    '--list ID   a list that it may read; more ids may follow',
    '--ttl T     how long it is valid: 8h, 90d, 365d ... (no limit)',
    '--json      print the result as JSON',
  ],
  settings: ['auditFile', 'auditFailure'],
  examples: [
    'gapstone integration-token create --name dashboard --org team-red --ttl 365d',
    'gapstone integration-token list',
  ],
  async run(args) {
    const { values, positionals } = parse(args, null, { name: text, org: text, list: texts, ttl: text });
    const [action, ...rest] = positionals;
    const own = action === 'revoke' || action === 'assign' ? 1 : 0;
    // More arguments after `--list A` are lists too: `--list A B C`.
    const lists = [...(values.list ?? []), ...(values.list === undefined ? [] : rest.slice(own))];
    expectPositionals(
      values.list === undefined ? rest : rest.slice(0, own),
      own === 1 ? ['the ID of a token'] : [],
    );
    const run = actions.get(action ?? '');
    if (!run) throw wrongAction('integration-token', action, [...actions.keys()]);
    const config = readConfig(values);
    using db = openDatabase(config);
    await run(
      { config, db, tokens: createIntegrationTokens(db, () => new Date()) },
      { ...values, lists },
      rest[0] ?? '',
    );
    return 0;
  },
};

const actions = new Map(Object.entries({ create, list, revoke, assign }));

interface Deps {
  config: Config;
  db: Database;
  tokens: IntegrationTokens;
}

const objectType = 'integration-token';

async function create({ config, db, tokens }: Deps, { name, org, lists, ttl, json }: Given): Promise<void> {
  const request = {
    id: randomUUID(),
    name: requireName('name', required(name, 'name')),
    organization: requireName('org', required(org, 'org')),
    lists,
    lifetime: ttl === undefined ? null : readLifetime(ttl),
  };
  if (request.lifetime !== null && (request.lifetime < 1 || request.lifetime > maxLifetime)) {
    throw new CommandError('--ttl must be from 1s to 3650d', 2);
  }
  const done = { action: `${objectType}.create`, objectType, objectId: request.id };
  const about = { org: request.organization, detail: { lists } };
  const token = await auditedCommand(config, db, { ...done, ...about }, () => tokens.create(request));
  if (!json) tell(`integration token ${request.id}. It is shown only once:`);
  print(json, { id: request.id, token }, token);
}

function list({ tokens }: Deps, { json }: Given): void {
  for (const each of tokens.list()) {
    const expires = each.expiresAt === null ? '' : `, expires ${each.expiresAt}`;
    const line = `${each.id}  ${each.state}  ${each.organization}  ${each.name} (${count(each.lists.length, 'list')}${expires})`;
    print(json, each, line);
  }
}

async function revoke({ config, db, tokens }: Deps, _: Given, id: string): Promise<void> {
  const done = { action: `${objectType}.revoke`, objectType, objectId: id };
  await auditedCommand(config, db, done, () => tokens.revoke(id));
  tell(`integration token ${id} is revoked`);
}

async function assign({ config, db, tokens }: Deps, { lists }: Given, id: string): Promise<void> {
  if (lists.length === 0) throw new CommandError('--list must be given', 2);
  const done = { action: `${objectType}.assign`, objectType, objectId: id, detail: { lists } };
  await auditedCommand(config, db, done, () => tokens.assign(id, lists));
  tell(`integration token ${id} may read ${count(lists.length, 'more list')}`);
}
