import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { addControls } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { rowsOf } from '../support/tables.ts';

// `error.field` where a schema alone does not give it (rule D42.1); test/openapi.test.ts walks all schemas.
const fields = suite('The field of an error');
let t: TestApp;

fields.before(async () => {
  t = await testApp([shipped('stigs')]);
  addControls(t.db);
});
fields.after(() => t.db.close());

const slug = 'harbor_linux_3';
const rule = { group_id: 'V-900001', rule_id: 'SV-900001r1', status: 'open', severity: 'low' };
const checklist = (more: object) => ({
  stigs: [{ stig_id: 'A', stig_name: 'A', rules: [{ ...rule, ...more }] }],
});
const bad = checklist({ status: 'maybe' });
const place = '/stigs/0/rules/0/status';
const upgrade = '/api/v1/checklists/upgrade';
const fromResults = '/api/v1/checklists/from-results';
const inspect = '/api/v1/checklists/inspect';
const emass = '/api/v1/checklists/emass';

const other = checklist({ rule_id: 'SV-1r1', group_id: 'V-1' });
const cklb = (rules: unknown) => ({ stigs: [{ rules }] });
const pairs = '/api/v1/crosswalk/resolve/batch';
const twice = ['1', '2'].map((version) => ({ framework: 'cci', identifier: 'x', version }));
const wrongType = '/stigs/0/rules/0/group_id';
const sheet = (more: object) => ({ sheet: 'poam', checklists: [checklist({})], ...more });

const rows: [path: string, body: unknown, field: string | undefined][] = [
  [upgrade, { slug, checklist: bad }, `/checklist${place}`],
  // No pointer leads into a text.
  [upgrade, { slug, checklist: JSON.stringify(bad) }, '/checklist'],
  [upgrade, bad, place],
  [upgrade, { slug, checklist: '<CHECKLIST></CHECKLIST>' }, '/checklist'],
  [upgrade, '<CHECKLIST></CHECKLIST>', undefined],
  [upgrade, { slug, checklist: 'x' }, '/checklist'],
  [upgrade, { slug, checklist: '{' }, '/checklist'],
  [upgrade, { slug, checklist: '{"a":'.repeat(40) }, '/checklist'],
  [upgrade, { slug, checklist: other }, '/checklist'],
  [upgrade, { checklist: other }, '/checklist'],
  [upgrade, { slug, checklist: bad, format: 'pdf' }, '/format'],
  [upgrade, '{', undefined],
  [upgrade, [], undefined],
  [fromResults, { results: 'x' }, '/results'],
  [fromResults, { results: '<TestResult/>' }, '/results'],
  [fromResults, '<TestResult/>', undefined],
  [fromResults, { results: '<TestResult/>', checklist: bad }, `/checklist${place}`],
  [inspect, { results: '<TestResult/>' }, '/results'],
  [inspect, { checklist: '<TestResult/>' }, '/checklist'],
  [inspect, { checklist: { stigs: [] } }, '/checklist'],
  [inspect, { checklist: cklb([{ group_id: 5 }]) }, `/checklist${wrongType}`],
  [inspect, cklb([{ group_id: 5 }]), wrongType],
  [inspect, {}, undefined],
  [emass, sheet({ checklists: [checklist({}), bad] }), `/checklists/1${place}`],
  [emass, sheet({ checklists: [checklist({}), '<x/>'] }), '/checklists/1'],
  [emass, sheet({ template: 'test-results' }), '/template'],
  [emass, sheet({ columns: 'a,b' }), '/columns'],
  [emass, sheet({ columns: '"' }), '/columns'],
  [pairs, { from: [{ framework: 'cci' }], to: ['cci'] }, '/from/0/identifier'],
  [pairs, { from: twice, to: ['cci'] }, '/from/1'],
];

fields('what is wrong in a body is 400 with its place', async () => {
  for (const [path, body, field] of rows) {
    const { status, json } = await t.send('POST', path, body);
    const where = `${path} ${JSON.stringify(body).slice(0, 100)} ${json.error.message}`;
    assert.equal([status, json.error.field], [400, field], where);
  }
});

fields('what a parameter names and is not there is 404, or a baseline 400, with the parameter', async () => {
  for (const [path, status, field] of rowsOf(`
    stigs/${slug}/coverage?baseline=x | 400 | baseline
    stigs/${slug}/coverage?framework=dod-8500&baseline=high | 400 | baseline
    controls/nist-800-53?baseline=x | 400 | baseline
    controls/nist-800-53/export?baseline=x | 400 | baseline
    stigs/${slug}?version=V9R9 | 404 | version
    stigs/${slug}/controls?version=V9R9 | 404 | version
    stigs/${slug}/download?version=V9R9 | 404 | version
    stigs/${slug}/coverage?version=V9R9 | 404 | version
    stigs/${slug}/coverage?revision=9 | 404 | revision
    stigs/${slug}/diff?from=V9R9 | 404 | from
    stigs/${slug}/diff?to=V9R9 | 404 | to
    controls/nist-800-53?version=9 | 404 | version
    controls/nist-800-53/AC-2?version=9 | 404 | version
    controls/nist-800-53/baselines?version=9 | 404 | version
    controls/nist-800-53/export?version=9 | 404 | version
    crosswalk/export?from=nowhere&to=cci | 404 | from
    crosswalk/export?from=cci&to=nowhere | 404 | to
    stigs/nothing | 404 |
  `)) {
    const answer = await t.get(`/api/v1/${path}`);
    const { error } = answer.json;
    assert.equal([answer.status, error.field ?? ''], [Number(status), field], `${path} ${error.message}`);
  }
});

fields('what is not there is 404 with the place in the body that names it', async () => {
  const good = checklist({ group_id: 'V-900001', rule_id: 'SV-900001r1' });
  const results =
    '<TestResult xmlns="http://checklists.nist.gov/xccdf/1.2" id="t"><rule-result idref="SV-900001r1_rule"/></TestResult>';
  const version = 'V9R9';
  const cases: [path: string, body: unknown, field: string][] = [
    [upgrade, { slug: 'none', checklist: good }, '/slug'],
    [upgrade, { slug, version, checklist: good }, '/version'],
    [`${upgrade}?slug=none`, good, 'slug'],
    [`${upgrade}?slug=${slug}&version=${version}`, good, 'version'],
    [fromResults, { slug, version, results }, '/version'],
    [`${fromResults}?slug=none`, results, 'slug'],
    [emass, { sheet: 'poam', revision: '9', checklists: [good] }, '/revision'],
    ['/api/v1/my-controls', { framework: 'nist-800-53', controlId: 'AC-99' }, '/controlId'],
  ];
  for (const [path, body, field] of cases) {
    const { status, json } = await t.send('POST', path, body);
    assert.equal([status, json.error.field], [404, field], `${path} ${json.error.message}`);
  }
});

fields.run();
