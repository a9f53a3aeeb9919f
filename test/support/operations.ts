import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from '../../src/collections/catalog-collections.ts';
import { type Answer, type TestApp, testApp } from './app.ts';
import {
  ask,
  type Caller,
  countingIds,
  integrationCaller,
  sessionCaller,
  testId,
  userCaller,
} from './callers.ts';
import type { Given } from './context.ts';
import { addControls } from './control-rows.ts';
import { shipped } from './reference.ts';
import { writeResults } from './results-writer.ts';

// One table of all operations of the API (operations.txt): who may use it, a sample of its request and of its answer, and the event that
// it leaves in the audit stream. Alice of red owns a PRIVATE and a SHARED list and collection, bob is of red, carol of blue.

/**
 * `rule | method path | body | answer | event`. A place of a path has its sample behind `=`; `{id}` alone is each bundle of
 * alice. An answer is a status, where it is not 200, and `place=value` in JSON: for all, or `alice / others`, or `alice / of
 * her organization / others`; `*` is each item, `#` their number. An event is its action, object and detail.
 */
const table = readFileSync(join(import.meta.dirname, 'operations.txt'), 'utf8');

/** An operation of the table; texts with `$name` are read by the site's `fill`. */
export interface Operation {
  rule: string;
  method: string;
  /** As OpenAPI has it. */
  route: string;
  /** As it is asked for, with `{id}` for each bundle. */
  path: string;
  body: string;
  answer: string;
  event: string;
}

export const operations: Operation[] = table
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [rule = '', request = '', body = '', answer = '', event = ''] = line
      .split('|')
      .map((cell) => cell.trim());
    const [method, path] = request.split(' ') as [string, string];
    return {
      ...{ rule, method: method.toUpperCase(), body, answer, event },
      route: path.replace(/=[^}]*(?=\})/g, '').split('?')[0]!,
      path: path.replace(/\{\w+=([^}]*)\}/g, '$1'),
    };
  });

/** The bundle that an operation is of; null where it is of none. */
export const kindOf = ({ rule }: Operation) =>
  rule.startsWith('list ') ? 'lists' : rule.startsWith('collection ') ? 'control-collections' : null;

export const cronSecret = 'the-cron-secret';
const time = '2026-11-21T12:00:00.000Z';
const ac2 = { controlId: 'AC-2', framework: 'nist-800-53' };
const checklist = {
  stigs: [
    { stig_id: 'Harbor_Linux_3_STIG', rules: [{ rule_id: 'SV-1r1', severity: 'low', status: 'open' }] },
  ],
};

interface Filled {
  method: string;
  path: string;
  body: string | undefined;
}

/** An application with what the samples are of. */
export interface OperationSite extends TestApp {
  callers: Record<'owner' | 'member' | 'outsider' | 'session' | 'cron', Caller>;
  /** What a `$name` of the table stands for. */
  names: Record<string, unknown>;
  /** Writes what the names stand for, as JSON; of a path as they are. */
  fill(text: string, more?: Record<string, unknown>): string;
  /**
   * Sends a request of which nothing stays: a change is taken back, and its first new id is `$new`. It runs inside a
   * transaction for that, where `db.read` takes part and no generation is read: so what only reads runs without one.
   */
  send(method: string, path: string, caller: Caller, body?: unknown): Promise<Answer>;
  /** The request of an operation as it stands in the table. */
  filled(operation: Operation, more?: Record<string, unknown>): Filled;
  /** Sends an operation as it stands in the table, by `send`. */
  operate(operation: Operation, caller: Caller, more?: Record<string, unknown>): Promise<Answer>;
}

/** Makes the site of the table. */
export async function operationSite(deps: Given = {}): Promise<OperationSite> {
  const first = countingIds();
  const ids = { next: first };
  const t = await testApp([shipped('stigs'), shipped('roles'), shipped('regulatory')], {
    ...{ cronSecret, newId: () => ids.next() },
    ...deps,
  });
  addControls(t.db);
  const owner = await userCaller(t, { entitlements: ['regdoc', 'occ'] });
  const make = async (path: string, body: object, caller = owner) =>
    (await ask(t, 'POST', `/api/v1${path}`, caller, body)).json.id as string;
  const names: Record<string, unknown> = {
    ...{ ac2, au2: { ...ac2, controlId: 'AU-2' }, time, checklist, new: testId(1000), unknown: testId(999) },
    results: writeResults([{ id: 'SV-900001r100010_rule', result: 'fail' }]),
  };
  for (const visibility of ['PRIVATE', 'SHARED']) {
    const list = await make('/lists', { name: 'N', visibility });
    await make(`/lists/${list}/stigs`, { slugs: ['harbor_linux_3'] });
    const collection = await make('/control-collections', { name: 'N', visibility });
    await make(`/control-collections/${collection}/controls`, { controls: [ac2] });
    Object.assign(names, {
      [`lists ${visibility}`]: list,
      [`control-collections ${visibility}`]: collection,
    });
  }
  names.deleted = await make('/lists', { name: 'Deleted', visibility: 'SHARED' });
  await ask(t, 'DELETE', `/api/v1/lists/${names.deleted}`, owner);
  await make('/my-stigs', { slugs: ['harbor_linux_3'] });
  await make('/my-controls', ac2);
  const session = await sessionCaller(t, owner);
  names.ownToken = await make('/session/tokens', { name: 'n', ttl: '1h' }, session);

  const alice = { kind: 'user', subject: 'alice', email: null, organization: 'red', expiresAt: 0 } as const;
  const viewer = { ...alice, entitlements: new Set<never>() };
  const fields = { name: 'N', description: '', tags: [], color: '', visibility: 'SHARED' as const };
  const now = deps.now ?? (() => t.clock.now);
  Object.assign(names, { documents: testId(801), roles: testId(802) });
  await createDocumentCollectionService(t.db, now, () => testId(801)).create(viewer, fields, [
    'harbor-basic-directive',
  ]);
  await createRoleCollectionService(t.db, now, () => testId(802)).create(viewer, fields, ['15-1244.00']);

  const fill: OperationSite['fill'] = (text, more = {}) =>
    text.replace(/\$(\w+)/g, (_, name) => {
      const value = { ...names, ...more }[name];
      return text.startsWith('/') ? String(value) : JSON.stringify(value);
    });
  async function send(method: string, path: string, caller: Caller, body?: unknown): Promise<Answer> {
    if (method === 'GET' || method === 'HEAD') return ask(t, method, path, caller);
    let count = 999;
    ids.next = () => testId(++count);
    t.db.sqlite.exec('BEGIN');
    try {
      return await ask(t, method, path, caller, body);
    } finally {
      t.db.sqlite.exec('ROLLBACK');
      ids.next = first;
    }
  }
  const filled: OperationSite['filled'] = ({ method, path, body }, more = {}) => ({
    method,
    path: fill(path, more).replace('{id}', String(more.id)),
    body: body === '' ? undefined : fill(body, more),
  });
  return {
    ...t,
    names,
    fill,
    send,
    filled,
    callers: {
      owner,
      session,
      member: await userCaller(t, { sub: 'bob', email: 'bob@example.org' }),
      outsider: await userCaller(t, { sub: 'carol', org: 'blue', entitlements: ['occ'] }),
      cron: { Authorization: `Bearer ${cronSecret}` },
    },
    operate(operation, caller, more) {
      const { method, path, body } = filled(operation, more);
      return send(method, path, caller, body);
    },
  };
}

/** Headers of an integration token that sees both lists of alice, and of one that sees none. */
export async function programCallers(t: OperationSite): Promise<{ assigned: Caller; unassigned: Caller }> {
  const lists = ['PRIVATE', 'SHARED'].map((visibility) => String(t.names[`lists ${visibility}`]));
  return {
    assigned: await integrationCaller(t, testId(901), lists),
    unassigned: await integrationCaller(t, testId(902), []),
  };
}
