import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { sha256 } from '../../src/base/ids.ts';
import { importTexts } from '../support/catalog-dump.ts';
import { gapstone, withoutProgress } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

const test = suite('what an import tells');

test('an override of a benchmark that is nowhere is told of, and changes nothing', async () => {
  const folder = scratchFolder();
  const file = put(folder, 'a.xml', writeXccdf({ id: 'Harbor_STIG', title: 'Harbor STIG' }));
  const slugs = put(folder, 'slugs.csv', 'benchmarkId,slug\nHarbor_STIG,port\nHarbour_STIG,port\n');
  const { code, stderr, stdout } = await gapstone([
    'import',
    file,
    '--slugs',
    slugs,
    '--json',
    '--db',
    join(folder, 'x.db'),
  ]);
  assert.is(code, 0);
  assert.is(withoutProgress(stderr), 'warning: --slugs names "Harbour_STIG", but no benchmark has this id\n');
  assert.is(JSON.parse(stdout.split('\n')[0]!).target, 'port');
  const db = emptyCatalog();
  const overrides = new Map([
    ['harbor', 'port'],
    ['Nowhere', 'port_2'],
  ]);
  const { unusedOverrides } = await runImport(db, [file], { overrides });
  assert.equal(unusedOverrides, ['Nowhere'], 'an id is also met as it folds');
  assert.equal(
    (await runImport(db, [file], { overrides })).unusedOverrides,
    ['Nowhere'],
    'and in the catalog',
  );
  db.close();
});

test('of two printings that no date tells apart the greater hash is kept, and that is the reason', async () => {
  const printings = ['one', 'two'].map((title) =>
    writeXccdf({
      id: 'Pier',
      title: `Pier STIG (${title})`.replace(/ \(\w+\)/, ''),
      rules: 3,
      prefix: title,
    }),
  );
  const [greater, less] = [...printings].sort((a, b) => (sha256(a) < sha256(b) ? 1 : -1));
  for (const order of [printings, [...printings].reverse()]) {
    const db = emptyCatalog();
    const { lines } = await importTexts(db, order);
    const lineOf = (text: string) => lines.find((line) => line.sha256 === sha256(text))!;
    assert.is(lineOf(greater!).outcome, 'imported');
    assert.is(lineOf(less!).outcome, 'superseded');
    assert.is(
      lineOf(less!).reason,
      'another printing is kept, V1R1 of Pier with 3 rules: it has 3 of the 3 rules of this one; no date states which is newer, so the greater hash decides',
    );
    db.close();
  }
});

test('a rule weight that is no number is a warning', async () => {
  const db = emptyCatalog();
  const text = writeXccdf().replace('weight="10.0"', 'weight="heavy"');
  const { lines } = await importTexts(db, [text]);
  assert.is(lines[0]!.outcome, 'imported');
  assert.equal(lines[0]!.warnings, [
    'the rule SV-100001r1_rule has the weight "heavy", which is not a number',
  ]);
  db.close();
});

test('HTML and foreign XML with a DOCTYPE are skipped; what names or holds a root of ours is rejected', async () => {
  const members = {
    'readme.html': '<!DOCTYPE html>\n<html><br></html>',
    'old.htm': '<!doctype HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">\n<html>',
    'build.xml': '<?xml version="1.0"?><!DOCTYPE project [<!ENTITY a "b">]><project>&a;</project>',
    'named.xml': '<!DOCTYPE Benchmark><x/>',
    'prefixed.xml': '<!DOCTYPE x:Benchmark><x/>',
    'hidden.xml': writeXccdf().replace('<Benchmark', '<!DOCTYPE html><Benchmark'),
    'nameless.xml': '<!DOCTYPE ><x/>',
    'broken.xml': '<x><y></x>',
  };
  const folder = scratchFolder();
  const zip = put(folder, 'a.zip', makeZip(Object.entries(members).map(([name, data]) => ({ name, data }))));
  const db = emptyCatalog();
  const { lines } = await runImport(db, [zip]);
  const outcome = Object.fromEntries(lines.map((line) => [line.source.split('!/')[1] ?? '', line.outcome]));
  assert.equal(outcome, {
    '': 'unchanged',
    'readme.html': 'skipped',
    'old.htm': 'skipped',
    'build.xml': 'skipped',
    'named.xml': 'rejected',
    'prefixed.xml': 'rejected',
    'hidden.xml': 'rejected',
    'nameless.xml': 'rejected',
    'broken.xml': 'rejected',
  });
  const skipped = lines.find((line) => line.source.endsWith('readme.html'))!;
  assert.is(skipped.reason, 'XML or HTML of an unknown kind, with a DOCTYPE: root <html>');
  assert.is(skipped.kind, 'other');
  db.close();
});

test('a checklist is named as what it is; a benchmark that cannot be decoded is one all the same', async () => {
  const ckl = '<?xml version="1.0"?><!--DISA STIG Viewer :: 2.17--><CHECKLIST><ASSET/></CHECKLIST>';
  const cklb = '{"title":"x","cklb_version":"1.0","target_data":{},"stigs":[]}';
  const latin = writeXccdf({ title: 'A caf\u00e9 STIG' });
  const files: [string, string | Buffer][] = [
    ['a.ckl', ckl],
    ['a.cklb', cklb],
    ['a.json', '{"stigs":[]}'],
    ['a.xml', Buffer.from(latin, 'latin1')],
  ];
  const folder = scratchFolder();
  const db = emptyCatalog();
  const paths = files.map(([name, content]) => put(folder, name, content));
  const { lines } = await runImport(db, paths, { strict: true });
  db.close();
  const said = ' (a checklist: upgrade it on the page “Upgrade checklists”; it cannot be imported)';
  assert.equal(
    lines.map(({ outcome, kind, reason }) => [outcome, kind, reason]),
    [
      ['skipped', 'other', `XML of an unknown kind: root <CHECKLIST>${said}`],
      ['skipped', 'other', `JSON of an unknown kind${said}`],
      ['skipped', 'other', 'JSON of an unknown kind'],
      [
        'rejected',
        'xccdf',
        `not valid UTF-8: byte 0xE9 at offset ${Buffer.from(latin, 'latin1').indexOf(0xe9)} (line 4)`,
      ],
    ],
  );
});

test.run();
