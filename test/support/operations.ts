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

// One table of all operations of the API: who may use it, a sample of its request and of its answer, and the event that
// it leaves in the audit stream. Alice of red owns a PRIVATE and a SHARED list and collection, bob is of red, carol of blue.

/**
 * `rule | method path | body | answer | event`. A place of a path has its sample behind `=`; `{id}` alone is each bundle of
 * alice. An answer is a status, where it is not 200, and `place=value` in JSON: for all, or `alice / others`, or `alice / of
 * her organization / others`; `*` is each item, `#` their number. An event is its action, object and detail.
 */
const table = `
public    | get /healthz                                                   |    | status="ok"
public    | get /readyz                                                    |    | status="ready"
public    | get /metrics                                                   |    | text.#>100
public    | get /openapi.json                                              |    | openapi="3.1.0"
user      | get /api/v1/catalog                                            |    | stigs=2; bundle=null
cited     | get /api/v1/cite?ref=nist-800-53@Rev%201%23AC-2                |    | kind="control"; state="not_imported"
citedRule | get /api/v1/cite?ref=harbor_linux_3@V1R1                       |    | kind="stig"; state="former"
user      | get /api/v1/stigs                                              |    | pagination.total=2
user      | post /api/v1/stigs/batch | {"slugs":["harbor_linux_3"]} | meta={"requested":1,"found":1,"notFound":[]}
user      | get /api/v1/stigs/stats                                        |    | catalog.totalBenchmarks=2
user      | get /api/v1/stigs/changelog                                    |    | changes.#=3
user      | get /api/v1/stigs/changes?since=2026-01-01                     |    | totals.stigs=2
user      | get /api/v1/stigs/{slug=harbor_linux_3}                        |    | slug="harbor_linux_3"
user      | get /api/v1/stigs/{slug=harbor_linux_3}/controls?limit=1       |    | findings.#=1
user      | get /api/v1/stigs/{slug=harbor_linux_3}/versions               |    | versions.#=2
user      | get /api/v1/stigs/{slug=harbor_linux_3}/diff                   |    | slug="harbor_linux_3"
user      | get /api/v1/stigs/{slug=harbor_linux_3}/coverage               |    | totals.rules=14
user      | get /api/v1/stigs/{slug=harbor_linux_3}/automation             |    | totals.none=14
user      | get /api/v1/stigs/{slug=harbor_linux_3}/worksheet              |    | framework="nist-800-53"
user      | get /api/v1/stigs/{slug=harbor_linux_3}/download               |    | cklb_version="1.0"
user      | get /api/v1/rules/{id=V-900001}                                |    | id="V-900001"
user      | get /api/v1/search?q=V-900001                                  |    | results.0.groupId="V-900001"
user      | get /api/v1/control-rules/{framework=nist-800-53}/{controlId=AC-2} | | stigs=[]
user      | post /api/v1/references | {"text":"see V-900001"}              | counts.current=1
user      | post /api/v1/checklists/from-results | {"results":$results}    | report.counts.open=1
user      | post /api/v1/checklists/inspect | {"checklist":$checklist}     | stigs.0.rules=1
user      | post /api/v1/checklists/upgrade | {"slug":"harbor_linux_3","checklist":$checklist} | report.summary.rules=14
user      | post /api/v1/checklists/emass | {"checklists":[$checklist],"sheet":"poam","format":"json"} | withoutCci.#=1
public    | get /api/v1/controls                                           |    | frameworks.#=4
public    | get /api/v1/controls/{framework=acme}                          |    | 404 error.code="NOT_FOUND"
public    | get /api/v1/controls/{framework=acme}/{controlId=A-1}          |    | 404 error.code="NOT_FOUND"
public    | get /api/v1/controls/nist-800-53                               |    | framework="nist-800-53"; total=4
public    | get /api/v1/controls/nist-800-171                              |    | framework="nist-800-171"; total=1
public    | get /api/v1/controls/dod-8500                                  |    | framework="dod-8500"; total=1
public    | get /api/v1/controls/cci                                       |    | framework="cci"; total=0
public    | get /api/v1/controls/nist-800-53/{controlId=AC-2}              |    | identifier="AC-2"
public    | get /api/v1/controls/nist-800-171/{controlId=3.1.1}            |    | identifier="3.1.1"
public    | get /api/v1/controls/dod-8500/{controlId=ECCT-1}               |    | identifier="ECCT-1"
public    | get /api/v1/controls/cci/{cci=CCI-000001}                      |    | 404 error.code="NOT_FOUND"
public    | get /api/v1/controls/{framework=nist-800-53}/baselines         |    | baselines=[]
public    | get /api/v1/controls/{framework=nist-800-53}/export            |    | catalog.groups.#>0
public    | get /api/v1/crosswalk/export?from=cci&to=nist-800-53           |    | 404 error.code="NOT_FOUND"
public    | get /api/v1/crosswalk/resolve?from=cci:CCI-000015&to=nist-800-53 |  | to="nist-800-53"; paths=[]
public    | post /api/v1/crosswalk/resolve/batch | {"ccis":["CCI-000015"]} | CCI-000015=[]

lists read   | get /api/v1/lists           |  | lists.*.visibility=["PRIVATE","SHARED"] / ["SHARED"] / []
user         | post /api/v1/lists          | {"name":"N"} | 201 id=$new; createdById=$me; organizationId=$org; visibility="PRIVATE" | list.create $new {"visibility":"PRIVATE"}
list read    | get /api/v1/lists/{id}      |  | id=$id; createdById="alice"; organizationId="red"; stigCount=1
list change  | patch /api/v1/lists/{id}    | {"description":"new","visibility":"SHARED"} | description="new"; createdById="alice" | list.update $id {"visibility":"SHARED"}
list change  | delete /api/v1/lists/{id}   |  | success=true | list.delete $id null
list change  | post /api/v1/lists/{id}/restore |  | id=$id | list.restore $id {"visibility":$visibility}
restore      | post /api/v1/lists/{id=$deleted}/restore | | id=$deleted; name="Deleted" | list.restore $deleted {"visibility":"SHARED"}
list use     | post /api/v1/lists/{id}/duplicate |  | 201 id=$new; createdById=$me; organizationId=$org; name="N (copy)"; visibility="PRIVATE"; stigCount=1 | list.duplicate $id {"visibility":"PRIVATE","madeId":$new}
list use     | post /api/v1/lists/{id}/checklists | {"hosts":[{"hostName":"web01"}]} | type="application/zip" | list.checklists $id null
list change  | put /api/v1/lists/{id}/hosts | {"hosts":[{"hostName":"web01"}]} | hosts=[{"hostName":"web01"}]; warnings=[] | list.set-hosts $id null
list use     | get /api/v1/lists/{id}/hosts |  | hosts=[]; warnings=[]
list use     | put /api/v1/lists/{id}/seen  | {"at":$time} | seenAt=$time | list.mark-seen $id null
list read    | get /api/v1/lists/{id}/export |  | list.name="N"; stigs.*.slug=["harbor_linux_3"] | list.export $id null
list read    | get /api/v1/lists/{id}/stigs |  | list.name="N"; stigs.*.slug=["harbor_linux_3"]
list use     | get /api/v1/lists/{id}/coverage |  | totals.rules=14
list use     | get /api/v1/lists/{id}/automation |  | totals.none=14
list use     | get /api/v1/lists/{id}/worksheet |  | framework="nist-800-53"
list use     | get /api/v1/lists/{id}/changes?since=2026-01-01 | | totals.stigs=1
list change  | post /api/v1/lists/{id}/stigs | {"slugs":["harbor_linux_3","lantern_web_server_2"]} | added=1; total=2 | list.add-stigs $id {"added":1}
list change  | put /api/v1/lists/{id}/stigs/{stigSlug=harbor_linux_3} | {"notes":"x","position":7} | notes="x"; position=7; addedAt=$time; release=null | list.update-stig $id {"stigSlug":"harbor_linux_3"}
list change  | delete /api/v1/lists/{id}/stigs | {"slugs":["harbor_linux_3"]} | removed=1 | list.remove-stigs $id {"count":1}

user  | get /api/v1/control-collections | | collections.*.visibility=["PRIVATE","SHARED"] / ["SHARED"] / []
user  | post /api/v1/control-collections | {"name":"N"} | 201 id=$new; createdById=$me; controlCount=0; deletedAt=null | control-collection.create $new {"visibility":"PRIVATE"}
collection use    | get /api/v1/control-collections/{id} | | id=$id; createdById="alice"; controls.*.controlId=["AC-2"]
collection change | patch /api/v1/control-collections/{id} | {"name":"New"} | id=$id; name="New" | control-collection.update $id null
collection change | delete /api/v1/control-collections/{id} | | success=true | control-collection.delete $id null
collection use    | get /api/v1/control-collections/{id}/controls | | total=1
collection use    | post /api/v1/control-collections/{id}/controls | {"controls":[$ac2,$au2]} | added=1; total=2 | control-collection.add-controls $id {"added":1}
collection change | delete /api/v1/control-collections/{id}/controls | {"controls":[$ac2]} | removed=1 | control-collection.remove-controls $id {"count":1}
collection use    | get /api/v1/control-collections/{id}/export | | total=1 | control-collection.export $id null

user  | get /api/v1/my-stigs       | | slugs=["harbor_linux_3"] / []
user  | post /api/v1/my-stigs      | {"slugs":["lantern_web_server_2"]} | added=1; total=2 / 1 | favorite-stigs.add null {"added":1}
user  | delete /api/v1/my-stigs    | {"slugs":["harbor_linux_3"]} | removed=1 / 0 | favorite-stigs.remove null {"count":1}
user  | get /api/v1/my-controls    | | total=1 / 0
user  | post /api/v1/my-controls   | $au2 | id=$new; controlId="AU-2" | favorite-controls.add $new $au2
user  | delete /api/v1/my-controls | $ac2 | success=true; controlId="AC-2" | favorite-controls.remove null $ac2

regdoc | get /api/v1/regdoc | | pagination.total=2
regdoc | get /api/v1/regdoc/{documentId=harbor-basic-directive} | | actionableItemCount=7
regdoc | get /api/v1/regdoc/{documentId=harbor-basic-directive}/download | | signposts.#=5
regdoc | get /api/v1/regdoc-collections | | collections.0.documentCount=1
regdoc | get /api/v1/regdoc-collections/{id=$documents}/export | | documents.0.documentId="harbor-basic-directive" | regdoc-collection.export $documents null
occ | get /api/v1/roles | | pagination.total=29
occ | get /api/v1/roles/{code=15-1244.00} | | jobZone=4
occ | get /api/v1/roles/{code=15-1244.00}/download | | tasks.#=2
occ | get /api/v1/role-collections | | collections.*.roleCount=[1] / []
occ bundle | get /api/v1/role-collections/{id=$roles}/export | | roles.0.occupationCode="15-1244.00" | role-collection.export $roles null
session | get /api/v1/role-mapping/benchmark/{benchmarkId=harbor_linux_3}/roles | | mappings.0.occupationCode="15-1244.00"
token   | post /plants | {"id":1,"name":"fern"} | name="fern"

token     | post /api/v1/session | | 204 text="" | session.create hash null
session   | delete /api/v1/session | | 204 text="" | session.end hash null
session   | get /api/v1/session/tokens | | tokens.*.id=[$ownToken]
session   | post /api/v1/session/tokens | {"name":"n","ttl":"1h"} | 201 id=$new; name="n" | user-token.create $new null
session   | delete /api/v1/session/tokens/{id=$ownToken} | | 204 text="" | user-token.revoke $ownToken null
noSession | delete /api/v1/session/tokens/{id=$unknown} | | 404
cron | get /api/cron/purge-deleted-lists | | success=true; purged=0 | deleted-lists.purge null {"count":0}
cron | post /api/cron/purge-deleted-lists | | success=true; purged=0 | deleted-lists.purge null {"count":0}
`;

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
