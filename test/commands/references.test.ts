import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { sarifOf } from '../../src/commands/references.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { readCsv } from '../support/read-exports.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const test = suite('gapstone references');

test('SARIF names what is not current, by place (rule D39.2)', () => {
  const fact = {
    kind: 'rule',
    title: null,
    slug: null,
    version: null,
    file: 'a b/c.yml',
    column: 5,
  } as const;
  const { version, runs } = sarifOf([
    { ...fact, line: 3, text: 'V-1234', id: 'V-1234', state: 'current', advice: null },
    { ...fact, line: 4, text: 'V-1235', id: 'V-1235', state: 'removed', advice: 'Why' },
  ]);
  const { columnKind, results, tool } = runs[0]!;
  assert.equal([version, columnKind, tool.driver.rules[1]!.id], ['2.1.0', 'utf16CodeUnits', 'removed']);
  const artifactLocation = { uri: 'a%20b/c.yml' };
  const region = { startLine: 4, startColumn: 5, endColumn: 11 };
  assert.equal(results, [
    {
      ...{ ruleId: 'removed', ruleIndex: 1, level: 'error' },
      message: { text: 'V-1235: No newest release has the rule. Why' },
      locations: [{ physicalLocation: { artifactLocation, region } }],
    },
  ]);
});

test('a folder is read file by file, in every format, and what cannot be read is skipped by name', async () => {
  const folder = scratchFolder();
  const db = join(folder, 'x.db');
  const imported = await commandHere(['import', shipped('stigs'), shipped('controls'), '--db', db]);
  assert.is(imported.code, 0, imported.stderr);
  put(folder, 'tree/a.yml', 'one AC-2\ntwo AC-99');
  put(folder, 'tree/deep/b.txt', Buffer.from('\ufeffV-999999999', 'utf16le'));
  put(folder, 'tree/c.bin', Buffer.from([0, 1, 2]));
  put(folder, 'tree/many.txt', 'AC-2 '.repeat(50_001));
  const run = (...args: string[]) => commandHere(['references', join(folder, 'tree'), '--db', db, ...args]);
  const text = await run();
  assert.is(text.code, 0, text.stderr);
  assert.equal(text.stdout.replaceAll(`${folder}/tree/`, '').split('\n'), [
    'a.yml:2:5: AC-99 unknown',
    'deep/b.txt:1:1: V-999999999 unknown',
    '50002 current, 2 unknown',
    '',
  ]);
  assert.match(text.stderr, /c\.bin is skipped: a binary file/);
  assert.is((await run('--strict')).code, 1);
  const csv = readCsv((await run('--format', 'csv')).stdout);
  assert.is(csv.length, 1 + 50_004);
  assert.equal(csv[2]!.slice(1, 6), ['2', '5', 'AC-99', 'control', 'unknown']);
  const json = JSON.parse((await run('--json')).stdout);
  assert.equal(json.counts, { current: 50_002, unknown: 2 });
  const sarif = JSON.parse((await run('--format', 'sarif')).stdout);
  assert.is(sarif.runs[0].results.length, 2);
  const device = await commandHere(['references', '/dev/null', '--db', db]);
  assert.match(device.stderr, /\/dev\/null is skipped: neither a file nor a folder/);
  // What was not looked at cannot be current: a file of windows-1252 is read, each kind that is skipped fails.
  const strict = (...paths: string[]) =>
    commandHere(['references', '--strict', '--db', db, ...paths.map((path) => join(folder, path))]);
  put(folder, 'ansi/a.txt', Buffer.from('f\xfcr \x93AC-2\x94', 'latin1'));
  put(folder, 'ansi/b.xml', Buffer.from('<?xml version="1.0" encoding="shift_jis"?><a>AC-2</a>'));
  const ansi = await strict('ansi');
  assert.equal([ansi.code, ansi.stdout, ansi.stderr], [0, '2 current\n', '']);
  put(folder, 'large.txt', 'x'.repeat(8 * 1024 * 1024 + 1));
  put(folder, 'links/a.txt', 'AC-2');
  symlinkSync('a.txt', join(folder, 'links', 'b.txt'));
  put(folder, 'packed.gz', Buffer.from([0x1f, 0x8b, 8, 0, 0xff]));
  for (const path of ['large.txt', 'links', 'packed.gz', 'tree/c.bin'])
    assert.is((await strict('ansi', path)).code, 1, path);
  const none = await commandHere(['references', join(folder, 'nothing'), '--db', db]);
  assert.is(none.code, 1);
  assert.match(none.stderr, /there is no .*nothing/);
});

test.run();
