import * as assert from 'uvu/assert';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from '../../src/collections/catalog-collections.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { readCsv, readXmlRows } from '../support/read-exports.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';

const roles = suite('Roles, documents and their collections');

let t: TestApp;
let alice: Caller;
let bob: Caller;
let carol: Caller;
let documentCollection: string;
let roleCollection: string;
let privateCollection: string;

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Json = any;
const get = (path: string, caller = alice) => ask(t, 'GET', path, caller);

roles.before(async () => {
  const real = hasReferenceData ? [reference('regulatory', 'nist-800-63-3')] : [];
  t = await testApp([shipped(), ...real]);
  const entitlements = ['regdoc', 'occ'];
  alice = await userCaller(t, { entitlements });
  bob = await userCaller(t, { sub: 'bob', entitlements });
  carol = await userCaller(t, { sub: 'carol', org: 'blue', entitlements });
  const owner = {
    kind: 'user' as const,
    subject: 'alice',
    email: 'alice@example.org',
    organization: 'red',
    entitlements: new Set<never>(),
    expiresAt: 0,
  };
  const newId = countingIds();
  const fields = (name: string, visibility: 'PRIVATE' | 'SHARED') => ({
    name,
    description: 'D',
    tags: ['t'],
    color: '#112233',
    visibility,
  });
  const documents = createDocumentCollectionService(t.db, () => t.clock.now, newId);
  const occupations = createRoleCollectionService(t.db, () => t.clock.now, newId);
  documentCollection = await documents.create(owner, fields('=Docs', 'SHARED'), [
    'lantern-web-guideline',
    'harbor-basic-directive',
  ]);
  roleCollection = await occupations.create(owner, fields('Roles', 'SHARED'), ['15-1252.00', '15-1299.00']);
  privateCollection = await occupations.create(owner, fields('Own', 'PRIVATE'), ['15-1252.00']);
});

roles.after(() => t.db.close());

/** The rows of a csv and of an xml file as objects, empty cells left out; both must say the same. */
async function rowsOf(path: string): Promise<Record<string, string>[]> {
  const [csv, xml] = await Promise.all([get(`${path}?format=csv&raw=true`), get(`${path}?format=xml`)]);
  const [header, ...records] = readCsv(csv.text);
  const filled = (cells: [string, string][]) => Object.fromEntries(cells.filter(([, value]) => value !== ''));
  const fromCsv = records.map((record) =>
    filled(header!.map((name, index): [string, string] => [name, record[index]!])),
  );
  const fromXml = readXmlRows(xml.text).rows.map((row) => filled(row.cells));
  assert.equal(
    fromXml.map((row) => JSON.stringify(Object.entries(row).map(([k, v]) => [k, v.replace(/\r\n?/g, '\n')]))),
    fromCsv.map((row) => JSON.stringify(Object.entries(row).map(([k, v]) => [k, v.replace(/\r\n?/g, '\n')]))),
  );
  return fromCsv;
}

/** A value as a cell shows it. */
const cells = (item: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => [name, String(value)]),
  );

/** The items of one section, put together again from their rows. */
function section(rows: Record<string, string>[], name: string): Record<string, string>[][] {
  const items: Record<string, string>[][] = [];
  for (const { section: of, ordinal, ...values } of rows) {
    if (of !== name) continue;
    const index = Number(ordinal) - 1;
    items[index] = [...(items[index] ?? []), values];
  }
  return items;
}

roles('csv and xml of a document read back to the values of the json', async () => {
  const { documents } = (await get('/api/v1/regdoc')).json;
  for (const { documentId } of documents) {
    const path = `/api/v1/regdoc/${documentId}/download`;
    const { json } = await get(path);
    assert.equal(Object.keys(json), ['documentId', 'title', 'signposts', 'actionableItems']);
    const rows = await rowsOf(path);
    assert.equal(section(rows, 'document'), [[{ documentId, title: json.title }]]);
    assert.equal(
      section(rows, 'signposts'),
      json.signposts.map(({ nistCsf, ...signpost }: Json) =>
        (nistCsf.length === 0 ? [{}] : nistCsf).map((csf: Json) => cells({ ...signpost, ...csf })),
      ),
    );
    assert.equal(
      section(rows, 'actionableItems'),
      json.actionableItems.map((item: Json) => [cells(item)]),
    );
  }
});

roles('the STIGs of a role come by their rank, not by their names', async () => {
  const { stigMappings } = (await get('/api/v1/roles/15-1212.00')).json;
  assert.equal(
    stigMappings.map((each: Json) => [each.relevanceRank, each.stigSlug]),
    [
      [2, 'harbor_linux_3'],
      [3, 'lantern_web_server_2'],
    ],
  );
});

roles('csv and xml of a role read back to the values of the json', async () => {
  for (const code of ['15-1244.00', '15-1299.00', '11-3021.00']) {
    const path = `/api/v1/roles/${code}/download`;
    const { json } = await get(path);
    assert.equal(Object.keys(json), ['occupationCode', 'title', 'tasks', 'technologySkills', 'stigMappings']);
    const rows = await rowsOf(path);
    assert.equal(section(rows, 'role'), [[{ occupationCode: code, title: json.title }]]);
    for (const name of ['tasks', 'technologySkills', 'stigMappings'])
      assert.equal(
        section(rows, name),
        json[name].map((item: Json) => [cells(item)]),
        name,
      );
  }
});

roles('csv and xml of collections read back to the values of the json', async () => {
  for (const [path, name] of [
    [`/api/v1/regdoc-collections/${documentCollection}/export`, 'documents'],
    [`/api/v1/role-collections/${roleCollection}/export`, 'roles'],
  ] as const) {
    const { json } = await get(path);
    assert.equal(await rowsOf(path), json[name].map(cells));
    assert.is(json[name].length, 2);
  }
});

roles('a collection is for its creator, and for the organization when it is SHARED', async () => {
  const seen = async (caller: Caller) =>
    (await get('/api/v1/role-collections', caller)).json.collections.map((each: Json) => each.id);
  assert.equal((await seen(alice)).sort(), [roleCollection, privateCollection].sort());
  assert.equal(await seen(bob), [roleCollection]);
  assert.equal(await seen(carol), []);
  const bytes = ({ status, headers, json }: Answer) =>
    JSON.stringify([status, [...headers].filter(([name]) => name !== 'x-request-id'), json.error.message]);
  const hidden = await Promise.all([
    get(`/api/v1/role-collections/${privateCollection}/export`, bob),
    get(`/api/v1/role-collections/${roleCollection}/export`, carol),
    get(`/api/v1/role-collections/${documentCollection}/export`, alice),
    get('/api/v1/role-collections/00000000-0000-4000-8000-999999999999/export', bob),
    get('/api/v1/role-collections/x/export', bob),
  ]);
  assert.is(new Set(hidden.map(bytes)).size, 1);
  assert.is(hidden[0]!.status, 404);
});

roles.run();
