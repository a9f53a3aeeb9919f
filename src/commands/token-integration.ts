import { randomUUID } from 'node:crypto';
import { createIntegrationTokens, type IntegrationTokens } from '../auth/integration-tokens.ts';
import { requireName } from '../auth/tokens.ts';
import { type Flags, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { count } from '../base/text.ts';
import { openDatabase } from '../db/database.ts';
import { auditedCommand, type OperatorEvent } from './audit.ts';
import { command, group, print, seconds, tell } from './command.ts';

const longestLifetime = 3650 * 24 * 3600;
const objectType = 'integration-token';
const about = { settings: ['auditFile', 'auditFailure'] } as const;

/** Changes the tokens, with an audit event. */
async function change<T>(
  options: Flags,
  event: Omit<OperatorEvent, 'objectType'>,
  work: (tokens: IntegrationTokens) => T,
) {
  const config = readConfig(options);
  using db = openDatabase(config);
  const tokens = createIntegrationTokens(db, () => new Date());
  return await auditedCommand(config, db, { objectType, ...event }, () => work(tokens));
}

const createCommand = () =>
  command('create', 'make one; it is shown only once', {
    ...about,
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
        objectId: request.id,
        org: organization,
        detail: { lists },
      };
      const token = await change(options, event, (tokens) => tokens.create(request));
      if (!options.json) tell(`integration token ${request.id}. It is shown only once:`);
      print(options.json, { id: request.id, token }, token);
    });

const listCommand = () =>
  command('list', 'list them').action((options) => {
    using db = openDatabase(readConfig(options));
    for (const each of createIntegrationTokens(db, () => new Date()).list()) {
      const expires = each.expiresAt === null ? '' : `, expires ${each.expiresAt}`;
      const line = `${each.id}  ${each.state}  ${each.organization}  ${each.name} (${count(each.lists.length, 'list')}${expires})`;
      print(options.json, each, line);
    }
  });

const revokeCommand = () =>
  command('revoke', 'end one at once', about)
    .argument('<id>', 'the ID of a token')
    .action(async (id, options) => {
      const event = { action: 'integration-token.revoke', objectId: id };
      await change(options, event, (tokens) => tokens.revoke(id));
      tell(`integration token ${id} is revoked`);
    });

const assignCommand = () =>
  command('assign', 'let one read more lists', about)
    .argument('<id>', 'the ID of a token')
    .requiredOption('--list <id...>', 'a list that it may read; more ids may follow')
    .action(async (id, { list: lists, ...options }) => {
      const event = { action: 'integration-token.assign', objectId: id, detail: { lists } };
      await change(options, event, (tokens) => tokens.assign(id, lists));
      tell(`integration token ${id} may read ${count(lists.length, 'more list')}`);
    });

export const integrationTokenCommand = () =>
  group('integration', 'create, list, revoke and assign tokens for programs that read lists', [
    createCommand(),
    listCommand(),
    revokeCommand(),
    assignCommand(),
  ]);
