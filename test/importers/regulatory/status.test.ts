import * as assert from 'uvu/assert';
import { statusOf } from '../../../importers/guidance/document-status.ts';
import { runImport } from '../../../importers/run.ts';
import { catalogDigest } from '../../../src/db/digest.ts';
import { testApp } from '../../support/app.ts';
import { ask, sessionCaller, userCaller } from '../../support/callers.ts';
import { suite, testIf } from '../../support/harness.ts';
import { loadPage, textOf } from '../../support/pages.ts';
import { reference, referenceData } from '../../support/reference.ts';
import { put, scratchFolder } from '../../support/scratch.ts';

// Rule D53.6.
const status = suite('The status of a document');

status('titles and first paragraphs that say it, and those that speak of something else', () => {
  const said: Record<string, [title: string, paragraph?: string][]> = {
    revoked: [
      ['[REVOKED] Directive 7'],
      ['Directive 7 (rescinded by Directive 9)'],
      ['Withdrawn: Directive 7'],
      ['Directive 7 - Withdrawn'],
      ['WITHDRAWN Directive 7'],
      ['Directive 7', 'This directive has been revoked. It is superseded by Directive 9.'],
      ['Directive 7', 'Effective today, this emergency directive is hereby rescinded.'],
      ['Directive 17-01', 'Read first. BOD 17-01 was withdrawn on May 2, 2020.'],
      ['Directive 7', 'Status: Revoked'],
      ['Directive 7', '[RESCINDED]'],
    ],
    superseded: [
      ['Lamp Guideline [superseded]'],
      ['Lamp Guideline', 'This publication is superseded by Lamp Guideline 2.'],
      ['Lamp Guideline', 'The Lamp Guideline has now been superseded by another.'],
      ['Lamp Guideline', 'Superseded by Lamp Guideline 2.'],
    ],
    active: [
      ['Lamp Guideline'],
      ['Revoked Certificates: How to Find Them'],
      ['Handling of withdrawn lamps'],
      ['Directive 9', 'This directive supersedes Directive 7, which is hereby revoked.'],
      ['Directive 19-02', 'Directive 17-01 has been revoked.'],
      ['Directive 9', 'This directive remains in effect until it is superseded or revoked.'],
      ['Directive 9', 'Certificates that were revoked must be listed.'],
      ['Directive 9', 'This requirement was withdrawn.'],
      ['Directive 9', 'Revoked certificates are listed.'],
      ['Directive 9', 'This document is revoked only if the Bureau says so.'],
    ],
  };
  for (const [expected, texts] of Object.entries(said))
    for (const [title, paragraph] of texts)
      assert.is(
        statusOf(title, paragraph === undefined ? [] : [paragraph]),
        expected,
        `${title}: ${paragraph}`,
      );
});

const body = '## Act\n\nMay 1, 2020\n\nAll must act.\n';
const interchange = (id: string, more: object) =>
  JSON.stringify({
    formatVersion: '1',
    document: { documentId: id, title: id, publisher: 'P', doctype: 'law', published: '2020-02-29', ...more },
    actionableItems: [{ actionId: '1', text: 'Act.', obligation: true }],
  });

status('the API filters by it, and pages do not show what is over as in force', async () => {
  const t = await testApp();
  const folder = scratchFolder();
  const { lines } = await runImport(t.db, [
    put(folder, 'a.md', `---\ntitle: Alpha\nstatus: Rescinded\n---\n${body}`),
    put(
      folder,
      'b.md',
      `---\ntitle: Beta\n---\n## Act\n\n**This directive is superseded by Gamma.**\n\nAll must act.\n`,
    ),
    put(folder, 'c.md', `---\ntitle: Gamma\nstatus: final\n---\n${body}`),
    put(folder, 'd.json', interchange('Delta', { status: 'WITHDRAWN' })),
    put(
      folder,
      'e.json',
      interchange('Epsilon [Superseded]'.replace(/ .*/, ''), { title: 'Epsilon [Superseded]' }),
    ),
    put(folder, 'f.json', interchange('Zeta', { title: '[revoked] Zeta', status: 'active' })),
    put(folder, 'g.json', interchange('Eta', { status: 'lost' })),
  ]);
  assert.match(lines[2]!.warnings.join(), /the status "final" of the head is not one of active, revoked, /);
  assert.match(lines[6]!.reason!, /^document "Eta": \/document\/status: must be one of active, revoked, /);
  const caller = await userCaller(t, { entitlements: ['regdoc'] });
  const list = async (query = '') =>
    (await ask(t, 'GET', `/api/v1/regdoc${query}`, caller)).json.documents.map(
      (each: { title: string; status: string }) => `${each.title}: ${each.status}`,
    );
  assert.equal(await list(), [
    '[revoked] Zeta: active',
    'Alpha: revoked',
    'Beta: superseded',
    'Delta: revoked',
    'Epsilon [Superseded]: superseded',
    'Gamma: active',
  ]);
  assert.equal(await list('?status=Revoked'), ['Alpha: revoked', 'Delta: revoked']);
  assert.equal(await list('?status=active'), ['[revoked] Zeta: active', 'Gamma: active']);
  assert.is((await ask(t, 'GET', '/api/v1/regdoc?status=lost', caller)).status, 400);
  const record = (await ask(t, 'GET', '/api/v1/regdoc/alpha', caller)).json;
  assert.equal([record.status, record.actionableItems.length], ['revoked', 1]);
  assert.equal(Object.keys(record).slice(0, 4), ['id', 'documentId', 'title', 'status']);

  const session = await sessionCaller(t, caller);
  const all = textOf((await loadPage(t, '/documents', session)).html);
  assert.match(all, '6 documents, 2 in force');
  assert.match(all, /Alpha revoked/);
  assert.match(all, /none in force/);
  const some = textOf((await loadPage(t, '/documents?status=superseded', session)).html);
  assert.match(some, '2 documents, 0 in force');
  const over = textOf((await loadPage(t, '/documents/alpha', session)).html);
  assert.match(over, 'This document is revoked: its requirements are no longer in force.');
  assert.match(over, 'Former requirements');
  const current = textOf((await loadPage(t, '/documents/gamma', session)).html);
  assert.not.match(current, /no longer in force|Former/);
  t.db.close();
});

status('an active document is stored as before: its digest does not depend on the field', async () => {
  const digestOf = async (text: string) => {
    const t = await testApp();
    await runImport(t.db, [put(scratchFolder(), 'a.json', text)]);
    const rows = t.db.sqlite
      .prepare('SELECT record FROM document_facts UNION ALL SELECT record_json FROM documents')
      .all();
    const digest = catalogDigest(t.db);
    t.db.close();
    return { digest, rows: JSON.stringify(rows) };
  };
  const plain = await digestOf(interchange('A', {}));
  assert.not.match(plain.rows, 'status');
  assert.equal((await digestOf(interchange('A', { status: 'active' }))).rows, plain.rows);
  const over = await digestOf(interchange('A', { status: 'revoked' }));
  assert.is.not(over.digest, plain.digest);
});

testIf(referenceData, status)('of the real directives two are revoked, as they say themselves', async () => {
  const t = await testApp([reference('regulatory', 'cisa-directives')]);
  const caller = await userCaller(t, { entitlements: ['regdoc'] });
  const { documents } = (await ask(t, 'GET', '/api/v1/regdoc', caller)).json;
  assert.equal(
    documents
      .filter((each: { status: string }) => each.status !== 'active')
      .map((each: { documentId: string; status: string }) => `${each.documentId} ${each.status}`),
    ['binding-operational-directive-15-01 revoked', 'binding-operational-directive-16-01 revoked'],
  );
  t.db.close();
});

status.run();
