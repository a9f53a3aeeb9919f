import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { testApp } from '../support/app.ts';
import { dumpCatalog, importTexts } from '../support/catalog-dump.ts';
import { suite, testIf } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { fieldFiles, fieldFolder } from '../support/reference.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// Products with one benchmark id (rule D24.4); identity.test.ts has how they are told apart.
const products = suite('several products with one benchmark id');

const title = (name: string) => `${name} PostgreSQL STIG Readiness Guide`;
const release = (name: string, number: number, first: number) =>
  writeXccdf({
    ...{ id: 'PostgreSQL', title: title(name), release: number, date: `0${number} Jan 2026` },
    rules: sampleRules(40, name, first),
  });
products('a checklist is upgraded to its own product', async () => {
  const db = emptyCatalog();
  await importTexts(db, [
    release('Alpha', 1, 300_000),
    release('Beta', 3, 310_000),
    release('Alpha', 2, 300_000),
  ]);
  const t = await testApp([], { db });
  const [own, other] = ['alpha', 'beta'].map((name) => `${name}_postgresql_stig_readiness_guide`);
  const cklb = (await t.get(`/api/v1/stigs/${own}/download?version=V1R1&hostName=db01`)).json;
  const upgrade = async (more: object) => {
    const { status, json } = await t.send('POST', '/api/v1/checklists/upgrade', {
      checklist: cklb,
      ...more,
    });
    assert.is(status, 200, JSON.stringify(json).slice(0, 300));
    return json.report;
  };
  const nothing = /^Nothing is carried: none of its answered rules is in Beta /;
  for (const status of ['not_reviewed', 'open']) {
    for (const rule of cklb.stigs[0].rules) rule.status = status;
    const { to, warnings } = await upgrade({});
    assert.equal([to.slug, to.version, warnings], [own, 'V1R2', []]);
    const wrong = await upgrade({ slug: other });
    assert.is(wrong.warnings.length, 1);
    assert.match(wrong.warnings[0], nothing);
  }
  // Of two STIGs with one id in a checklist each goes to its own.
  const second = (await t.get(`/api/v1/stigs/${other}/download?hostName=db01`)).json.stigs[0];
  cklb.stigs.unshift(second);
  const { from, warnings } = await upgrade({ slug: own });
  assert.equal([from.title, warnings], [title('Alpha'), []]);
  db.close();
});

const onField = testIf(fieldFiles, products);

onField('the files of the field are two STIGs', async () => {
  const [a, b] = ['id-a-director-v1r1.xml', 'id-b-identity-v1r3.xml'].map((name) => join(fieldFolder, name));
  for (const paths of [
    [a!, b!],
    [b!, a!],
  ]) {
    const db = emptyCatalog();
    for (const path of paths) await runImport(db, [path]);
    assert.is(dumpCatalog(db).stigs.length, 2);
    db.close();
  }
});

products.run();
