import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openDatabase } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const test = suite('overrides of slugs');
const harbor = shipped('stigs', 'U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml');
const text = readFileSync(harbor, 'utf8')
  .replaceAll('Harbor_Linux_3_STIG', 'Pier_STIG')
  .replaceAll('Harbor Linux 3 Security', 'Pier Security')
  .replaceAll('SV-9000', 'SV-8000')
  .replaceAll('HARB-03', 'PIER-01');
const pier = put(scratchFolder(), 'pier.xml', text);

test('two benchmarks with other rules of one version are never forced under one slug, fresh or stored', async () => {
  const db = openDatabase(':memory:', { create: true });
  const one = {
    overrides: new Map([
      ['Pier_STIG', 'one'],
      ['Harbor_Linux_3_STIG', 'one'],
    ]),
  };
  const refuse = async () => {
    const error = await runImport(db, [harbor, pier], one).then(
      () => null,
      (reason: Error) => reason,
    );
    assert.match(
      error?.message ?? '',
      /^two benchmarks hold other rules as V1R1: one slug, one, cannot serve both$/,
    );
  };
  const releases = () => db.sqlite.prepare('SELECT count(*) FROM stig_releases').pluck().get();
  await refuse();
  assert.is(releases(), 0);
  await runImport(db, [harbor, pier]);
  await refuse();
  assert.is(releases(), 2);
  db.close();
});

test('the ledger tells where a stored release was moved', async () => {
  const db = openDatabase(':memory:', { create: true });
  await runImport(db, [pier]);
  const { lines } = await runImport(db, [pier], { overrides: new Map([['Pier_STIG', 'two']]) });
  assert.equal(
    [lines[0]!.outcome, lines[0]!.target, lines[0]!.reason],
    ['unchanged', 'two', 'operator override: moved from pier'],
  );
  db.close();
});

test.run();
