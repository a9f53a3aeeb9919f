import * as assert from 'uvu/assert';
import { type Answer, testApp } from '../support/app.ts';
import { ask, type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import {
  cronSecret,
  kindOf,
  type Operation,
  type OperationSite,
  operationSite,
  operations,
  programCallers,
} from '../support/operations.ts';
import { noSession, noToken, noUserToken } from '../support/words.ts';

// Who may use which operation. Carol is entitled to the roles alone, alice to both products. `assigned` is an integration
// token that sees both lists, `unassigned` sees none; `session` is alice's.
const columns = 'anonymous expired owner member outsider assigned unassigned session'.split(' ');

const refusals: Record<string, [status: number, code: string, message: string]> = {
  U: [401, 'UNAUTHORIZED', noToken],
  S: [401, 'UNAUTHORIZED', noSession],
  T: [403, 'FORBIDDEN', noUserToken],
  C: [403, 'FORBIDDEN', 'Only the creator may do this'],
  R: [403, 'FORBIDDEN', 'You need the document permission (regdoc)'],
  O: [403, 'FORBIDDEN', 'You need the role-data permission (occ)'],
  N: [404, 'NOT_FOUND', 'Not found'],
};

/** The cells of a rule in the order of the columns (`ok` is what the operation says), and the `x-access` of its routes. */
const rules = Object.fromEntries(
  `
public                   | ok ok ok ok ok ok ok ok | public
user                     | U  U  ok ok ok T  T  ok | user
cited                    | ok ok ok ok ok ok ok ok | user unless public
citedRule                | U  U  ok ok ok T  T  ok | user unless public
token                    | U  U  ok ok ok T  T  U  | user token
session                  | S  S  S  S  S  S  S  ok | session
noSession                | S  S  S  S  S  S  S  N  | session
cron                     | U  U  U  U  U  U  U  U  | cron
regdoc                   | U  U  ok R  R  T  T  ok | user+regdoc
regdoc, absent           | U  U  N  R  R  T  T  N  | user+regdoc
occ                      | U  U  ok O  ok T  T  ok | user+occ
occ, absent              | U  U  N  O  N  T  T  N  | user+occ
occ bundle               | U  U  ok O  N  T  T  ok | user+occ
occ bundle, absent       | U  U  N  O  N  T  T  N  | user+occ
lists read               | U  U  ok ok ok ok ok ok | user or lists:read
list read PRIVATE        | U  U  ok N  N  ok N  ok | user or lists:read
list read SHARED         | U  U  ok ok N  ok N  ok | user or lists:read
list use PRIVATE         | U  U  ok N  N  T  T  ok | user
list use SHARED          | U  U  ok ok N  T  T  ok | user
list change PRIVATE      | U  U  ok N  N  T  T  ok | user
list change SHARED       | U  U  ok C  N  T  T  ok | user
restore                  | U  U  ok N  N  T  T  ok | user
collection use PRIVATE   | U  U  ok N  N  T  T  ok | user
collection use SHARED    | U  U  ok ok N  T  T  ok | user
collection change PRIVATE| U  U  ok N  N  T  T  ok | user
collection change SHARED | U  U  ok C  N  T  T  ok | user
`
    .trim()
    .split('\n')
    .map((line) => {
      const [name, cells, access] = line.split('|').map((cell) => cell.trim());
      return [name!, { cells: cells!.split(/ +/), access: access! }];
    }),
);

const access = suite('Access');
let t: OperationSite;
let callers: Record<string, Caller>;

access.before(async () => {
  t = await operationSite();
  const past = Math.floor(t.clock.now.getTime() / 1000) - 3600;
  const expired = await userCaller(t, { iat: past, exp: past + 60 });
  callers = { ...t.callers, ...(await programCallers(t)), anonymous: {}, expired };
});
access.after(() => t.db.close());

/** An operation as it is sent: with each bundle that it is of, and to something of a product that is not there. */
function* variants(
  operation: Operation,
): Generator<[rule: string, Operation, more: Record<string, unknown>]> {
  const { rule, path } = operation;
  const kind = kindOf(operation);
  if (kind === null) yield [rule, operation, {}];
  else
    for (const visibility of ['PRIVATE', 'SHARED'])
      yield [`${rule} ${visibility}`, operation, { id: t.names[`${kind} ${visibility}`], visibility }];
  const absent = path.replace(/(\/(?:regdoc|roles|\w+-collections))\/[^/]+/, '$1/no-such-thing');
  if (`${rule}, absent` in rules && absent !== path)
    yield [`${rule}, absent`, { ...operation, path: absent }, {}];
}

/** What stands at a place of an answer. */
function at(answer: Answer, place: string): unknown {
  if (place === 'text') return answer.text;
  if (place === 'type') return answer.headers.get('Content-Type');
  let values: unknown[] = [answer.json ?? { text: answer.text }];
  let isEach = false;
  for (const name of place.split('.')) {
    if (name === '*') {
      values = values.flat();
      isEach = true;
    } else if (name === '#') values = values.map((each) => (each as unknown[]).length);
    else values = values.map((each) => (each as Record<string, unknown>)[name]);
  }
  return isEach ? values : values[0];
}

function assertAnswer(answer: Answer, wanted: string, column: string, more: Record<string, unknown>): void {
  const [, status = '200', rest] = /^(\d{3})? ?(.*)$/.exec(wanted)!;
  assert.is(answer.status, Number(status), `${column}: ${answer.text.slice(0, 200)}`);
  const [me, org] = { member: ['bob', 'red'], outsider: ['carol', 'blue'] }[column] ?? ['alice', 'red'];
  const group = { member: 1, outsider: 2, unassigned: 2 }[column] ?? 0;
  for (const part of rest!.split('; ').filter(Boolean)) {
    const [, place, sign, value] = /^([^=>]+)([=>])(.*)$/.exec(part)!;
    const each = value!.split(' / ');
    const expected = JSON.parse(t.fill(each[Math.min(group, each.length - 1)]!, { ...more, me, org }));
    if (sign === '>') assert.ok((at(answer, place!) as number) > expected, `${column} ${part}`);
    else assert.equal(at(answer, place!), expected, `${column} ${part}`);
  }
}

for (const operation of operations)
  access(`${operation.rule}: ${operation.method} ${operation.path}`, async () => {
    for (const [rule, each, more] of variants(operation))
      for (const [index, column] of columns.entries()) {
        const answer = await t.operate(each, callers[column]!, more);
        const refusal = refusals[rules[rule]!.cells[index]!];
        if (refusal === undefined) {
          assertAnswer(answer, each.answer, column, more);
          continue;
        }
        const [status, code, message] = refusal;
        const requestId = answer.headers.get('X-Request-Id');
        // The sample endpoint has errors of its own form (rule D10).
        const isSample = each.route === '/plants';
        const where = `${rule}, ${column}: ${answer.text.slice(0, 200)}`;
        assert.is(answer.status, status, where);
        const expected = isSample ? { error: status, message } : { error: { code, message, requestId } };
        assert.equal(answer.json, expected, where);
        assert.is(answer.headers.get('WWW-Authenticate'), status === 401 ? 'Bearer' : null);
      }
  });

const securities: Record<string, object[]> = {
  public: [],
  user: [{ userToken: [] }, { session: [] }],
  'user unless public': [{}, { userToken: [] }, { session: [] }],
  'user token': [{ userToken: [] }],
  session: [{ session: [] }],
  cron: [{ cronSecret: [] }],
  'user+regdoc': [{ userToken: [] }, { session: [] }],
  'user+occ': [{ userToken: [] }, { session: [] }],
  'user or lists:read': [{ userToken: [] }, { session: [] }, { integrationToken: [] }],
};

access('every route of /openapi.json is in the table, and says itself what the table says', async () => {
  const document = (await t.get('/openapi.json', { token: null })).json;
  const declared = new Set(['GET /openapi.json']);
  for (const [path, methods] of Object.entries<object>(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      declared.add(name);
      const rows = operations.filter((each) => `${each.method} ${each.route}` === name);
      assert.ok(rows.length > 0, `${name} is not in the table`);
      for (const each of rows) {
        const rule = rules[each.rule] ?? rules[`${each.rule} PRIVATE`]!;
        assert.is(operation['x-access'], rule.access, name);
      }
      assert.equal(operation.security, securities[operation['x-access']], name);
      for (const each of operation.security.flatMap((scheme: object) => Object.keys(scheme)))
        assert.ok(each in document.components.securitySchemes, name);
    }
  for (const { method, route } of operations) assert.ok(declared.has(`${method} ${route}`), route);
});

access('the cron endpoint takes its secret alone, and does not exist without one', async () => {
  const without = await testApp([]);
  for (const operation of operations.filter(({ rule }) => rule === 'cron')) {
    const { method, path, answer } = operation;
    assertAnswer(await t.operate(operation, { Authorization: `bearer ${cronSecret}` }), answer, 'cron', {});
    const wrong = ['Bearer the-cron-secreT', `Bearer ${cronSecret}2`, `Basic ${cronSecret}`, 'Bearer', ''];
    for (const header of wrong)
      assert.is((await t.operate(operation, { Authorization: header })).status, 401, header);
    const off = await ask(without, method, path, t.callers.cron);
    const nowhere = await ask(without, method, '/api/cron/nothing', {});
    assert.equal([off.status, off.json.error.message], [404, nowhere.json.error.message]);
  }
});

access.run();
