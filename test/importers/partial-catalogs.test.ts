import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { controlsCsv, oscalCatalog } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';
import { named, partSamples, whole } from './samples.ts';

// A catalog that is only a part never takes controls away (rule D29.6).
const parts = suite('Catalogs that are only a part');

async function importAll(names: string[], oneByOne = false) {
  const folder = scratchFolder();
  const db = emptyCatalog();
  const files = names.map((name) => put(folder, name, partSamples[name]!));
  const lines = [];
  for (const run of oneByOne ? files.map((file) => [file]) : [files])
    lines.push(...(await runImport(db, run)).lines);
  return { db, lines };
}

parts('the part is rejected with how many it lacks, and nothing changes', async () => {
  const { db } = await importAll(['whole.json']);
  const before = { tables: tableDigests(db), generation: db.catalogVersion() };
  const file = put(scratchFolder(), 'extract.json', partSamples['extract.json']!);
  const [line] = (await runImport(db, [file])).lines;
  assert.equal([line!.outcome, line!.target, line!.counts], ['rejected', null, {}]);
  assert.match(
    line!.reason!,
    /^only a part of nist-800-53 Rev 9\.9: it lacks 3 active controls that \S+whole\.json states \(AC-2\(1\), AU-1, AU-2\)$/,
  );
  assert.equal({ tables: tableDigests(db), generation: db.catalogVersion() }, before);
  // One that is named as withdrawn is not lacking.
  const newer = whole.map((each) => (each.id === 'au-2' ? { id: 'au-2', withdrawnInto: ['au-1'] } : each));
  const later = put(scratchFolder(), 'n.json', oscalCatalog(newer, '9.9', '2030-01-01'));
  assert.is((await runImport(db, [later])).lines[0]!.outcome, 'imported');
  db.close();
});

parts('a part that was stored first is removed when a fuller one comes, whose line says so', async () => {
  const { db, lines } = await importAll(['extract.json', 'whole.json'], true);
  assert.equal(
    told(lines, 'outcome'),
    ['imported', 'imported'],
    'nothing tells of a part while it is all there is',
  );
  assert.match(
    lines[1]!.warnings.join(),
    /extract\.json, imported before, is removed: only a part of nist-800-53 Rev 9\.9: it lacks 3 active controls that \S+whole\.json states/,
  );
  assert.is(db.sqlite.prepare('SELECT count(*) FROM sources').pluck().get(), 1);
  assert.is(db.sqlite.prepare("SELECT count(*) FROM controls WHERE status = 'active'").pluck().get(), 5);
  db.close();
  // Controls of its own do not make it whole, nor do they make the whole a part.
  for (const order of [
    ['whole.json', 'extract-and-own.json'],
    ['extract-and-own.json', 'whole.json'],
  ]) {
    const { db: other } = await importAll(order);
    const served = other.sqlite
      .prepare("SELECT identifier FROM controls WHERE status = 'active'")
      .pluck()
      .all();
    assert.equal(served, ['AC-1', 'AC-2', 'AC-2(1)', 'AU-1', 'AU-2']);
    other.close();
  }
});

parts('an older full edition is no part of a newer one that has more, and is not rejected', async () => {
  for (const order of [
    ['whole.json', 'release.json'],
    ['release.json', 'whole.json'],
  ]) {
    const { db, lines } = await importAll(order, true);
    assert.equal(
      lines.map((line) => [line.outcome, line.warnings]),
      [
        ['imported', []],
        ['imported', []],
      ],
    );
    const served = db.sqlite.prepare("SELECT identifier FROM controls WHERE status = 'active'").pluck().all();
    assert.equal(served, ['AC-1', 'AC-2', 'AC-2(1)', 'AU-1', 'AU-2', 'IA-13']);
    db.close();
  }
});

parts("a site's own CSV makes no publisher's catalog a part, and is one of the shipped facts", async () => {
  const folder = scratchFolder();
  const rows = (version: string, identifiers: string[]) =>
    controlsCsv(identifiers.map((identifier) => ({ framework: 'nist-800-53', version, identifier })));
  const all = ['AC-1', 'AC-2', 'AC-2(1)', 'AU-1', 'AU-2', 'AU-3', 'AC-98', 'AC-99'];
  const { db } = await importAll(['whole.json']);
  const { lines } = await runImport(db, [put(folder, 'site.csv', rows('Rev 9.9', all))]);
  assert.equal([lines[0]!.outcome, lines[0]!.warnings], ['imported', []]);
  assert.is(db.sqlite.prepare("SELECT count(*) FROM controls WHERE status = 'active'").pluck().get(), 5);

  await runImport(db, [shipped('controls')]);
  const before = tableDigests(db);
  for (const [name, text] of Object.entries({
    'few.csv': rows('Rev 5.2.0', ['AC-1', 'AC-2']),
    'few.json': oscalCatalog(named('ac-1', 'ac-2'), '5.2.0', '2026-11-22'),
    'few-of-old.json': oscalCatalog(named('ac-1', 'ac-2'), '5.2.0', '2001-01-01'),
    'few-of-4.json': oscalCatalog(named('ac-1', 'ac-2'), '4', '2026-11-22'),
  })) {
    const [line] = (await runImport(db, [put(folder, name, text)])).lines;
    const lacks = name === 'few-of-4.json' ? 824 : 1012;
    assert.is(line!.outcome, 'rejected', name);
    assert.match(
      line!.reason!,
      new RegExp(`lacks ${lacks} active controls that \\S+nist-800-53_rev[45]\\.csv`),
      name,
    );
    assert.equal(tableDigests(db), before, name);
  }
  db.close();
});

parts('a catalog resolved from a profile is rejected, with how many it lacks of what is there', async () => {
  const resolved = (version: string) =>
    oscalCatalog(named('ac-1', 'au-2'), version).replace(
      '"metadata":{',
      '"metadata":{"props":[{"name":"resolution-tool","value":"x"}],',
    );
  const { db } = await importAll(['whole.json']);
  const folder = scratchFolder();
  const { lines } = await runImport(db, [
    put(folder, 'a.json', resolved('9.9')),
    put(folder, 'b.json', resolved('9.8')),
  ]);
  const says =
    'a catalog resolved from a profile contains only part of nist-800-53: import the catalog and the profile instead';
  assert.equal(
    lines.map(({ outcome, reason }) => [outcome, reason]),
    [
      ['rejected', `${says}; it lacks 3 active controls of nist-800-53 Rev 9.9 (AC-2, AC-2(1), AU-1)`],
      ['rejected', says],
    ],
  );
  db.close();
});

parts.run();
