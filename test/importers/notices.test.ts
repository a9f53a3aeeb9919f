import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { sha256 } from '../../src/base/ids.ts';
import { importTexts } from '../support/catalog-dump.ts';
import { withoutProgress } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

const test = suite('what an import tells');

test('an override of a benchmark that is nowhere is told of, and changes nothing', async () => {
  const folder = scratchFolder();
  const file = put(folder, 'a.xml', writeXccdf({ id: 'Harbor_STIG', title: 'Harbor STIG' }));
  const slugs = put(folder, 'slugs.csv', 'benchmarkId,slug\nHarbor_STIG,port\nHarbour_STIG,port\n');
  const run = await commandHere(['import', file, '--slugs', slugs, '--json', '--db', join(folder, 'x.db')]);
  assert.is(run.code, 0);
  const said = 'warning: --slugs names "Harbour_STIG", but no benchmark has this id\n';
  assert.is(withoutProgress(run.stderr), said);
  assert.is(JSON.parse(run.stdout.split('\n')[0]!).target, 'port');
  const db = emptyCatalog();
  const overrides = new Map([
    ['harbor', 'port'],
    ['Nowhere', 'port_2'],
  ]);
  for (const where of ['an id is also met as it folds', 'and in the catalog'])
    assert.equal((await runImport(db, [file], { overrides })).unusedOverrides, ['Nowhere'], where);
  db.close();
});

test('of two printings that no date tells apart the greater hash is kept, and that is the reason', async () => {
  const printings = [1, 2].map((revision) =>
    writeXccdf({ id: 'Pier', title: 'Pier STIG', rules: [{ ruleId: `SV-7r${revision}_rule` }] }),
  );
  const [greater, less] = [...printings].sort((a, b) => (sha256(a) < sha256(b) ? 1 : -1));
  const lost = /SV-7r\d_rule/.exec(less!)![0];
  for (const order of [printings, [...printings].reverse()]) {
    const db = emptyCatalog();
    const { lines } = await importTexts(db, order);
    const lineOf = (text: string) => lines.find((line) => line.sha256 === sha256(text))!;
    assert.equal([lineOf(greater!).outcome, lineOf(less!).outcome], ['imported', 'superseded']);
    assert.is(
      lineOf(less!).reason,
      `another printing is kept, V1R1 of Pier with 1 rule: it has 1 of the 1 rule of this one, 1 of them in another revision (${lost}); no date states which is newer, so the greater hash decides`,
    );
    db.close();
  }
});

test('a rule weight that is no number is a warning', async () => {
  const db = emptyCatalog();
  const { lines } = await importTexts(db, [writeXccdf().replace('weight="10.0"', 'weight="heavy"')]);
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
  assert.is(
    lines.map((line) => `${line.source.split('!/')[1] ?? '-'} ${line.outcome}`).join(', '),
    '- unchanged, broken.xml rejected, build.xml skipped, hidden.xml rejected, named.xml rejected, ' +
      'nameless.xml rejected, old.htm skipped, prefixed.xml rejected, readme.html skipped',
  );
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
  const offset = Buffer.from(latin, 'latin1').indexOf(0xe9);
  assert.equal(told(lines, 'outcome', 'kind', 'reason'), [
    `skipped other XML of an unknown kind: root <CHECKLIST>${said}`,
    `skipped other JSON of an unknown kind${said}`,
    'skipped other JSON of an unknown kind',
    `rejected xccdf not valid UTF-8: byte 0xE9 at offset ${offset} (line 4)`,
  ]);
});
test.run();
