import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { escaped, escapedLine } from '../../src/base/text.ts';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rule S3.5: what a name holds never controls the terminal nor the file that a text goes to.
const escapes = suite('Escape characters of names');

const hostile = 'a\u001b[2Jb\u0085c\u202ed\u007fe\u200bf\u009b31mg\u0007';
const unseen = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/u;

function assertClean(what: string, text: string): void {
  const at = text.search(unseen);
  assert.is(at, -1, `${what}: ${JSON.stringify(text.slice(Math.max(0, at - 30), at + 30))}`);
}

escapes('are written as JSON writes them, so that JSON stays the same', () => {
  for (let code = 0; code < 0x3000; code++) {
    const text = `x${String.fromCodePoint(code)}y`;
    assertClean(code.toString(16), escaped(text));
    assert.not.match(escapedLine(text), /\n/);
    assert.equal(JSON.parse(escapedLine(JSON.stringify({ text }))), { text });
  }
  for (const code of [0xd800, 0xdfff, 0xfeff, 0xe0001, 0xfff9, 0x10ffff, 0x1d173])
    assertClean(code.toString(16), escaped(`x${String.fromCodePoint(code)}y`));
  assert.is(escapedLine('a\u001b[2J\nü😀'), 'a\\u001b[2J\\u000aü😀');
});

escapes('reach neither stdout nor stderr nor a file, whatever the command', async () => {
  const cwd = join(scratchFolder(), `w${hostile}`);
  mkdirSync(cwd);
  const guide = writeXccdf({ id: 'Hostile_STIG', title: `Hostile ${'\u202e'}STIG` });
  put(cwd, `in/${hostile}.xml`, guide);
  put(cwd, `in/line\nimported x.xml`, '<Benchmark');
  put(cwd, `in/${hostile}.txt`, 'no source');
  const key = sampleKey('depot');
  const { file } = await build(await sampleCatalog([[join(cwd, 'in')]]), key, { sequence: 1 });
  const bundle = put(cwd, `${hostile}.bundle`, readFileSync(file));
  const commands = [
    ['import', 'in'],
    ['import', 'in', '--json'],
    ['import', 'in', '--strict'],
    ['import', `none${hostile}`],
    ['import', 'in', '--slugs', `none${hostile}`],
    ['content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot'],
    ['content', 'trust', 'add', `none${hostile}`, '--name', `n${hostile}`],
    ['content', 'trust', 'list'],
    ['content', 'verify', bundle],
    ['content', 'plan', bundle],
    ['content', 'plan', bundle, '--all', '--json'],
    ['content', 'plan', bundle, '--html', `plan${hostile}.html`],
    ['content', 'plan', `none${hostile}`],
    ['content', 'apply', bundle],
    ['content', 'apply', bundle, '--drop-local'],
    ['content', 'apply', `none${hostile}`],
    ['content', 'list'],
    ['content', 'list', '--json'],
    ['content', hostile],
    ['check'],
    ['check', '--json'],
    ['check', '--audit', `none${hostile}`],
    ['status'],
    ['status', '--json'],
    ['backup', `backup${hostile}`],
    ['restore', `none${hostile}`],
    ['check', '--upgrade', cwd],
    ['check', '--upgrade', `none${hostile}`],
    ['mapping', 'list'],
    ['mapping', 'set', '--from', hostile, '--to', hostile],
    ['check', '--self-assessment', '--answers', `none${hostile}`],
    ['token', 'issue', '--subject', hostile],
    ['collection', hostile],
    ['serve', '--port', hostile],
    [hostile],
    [`--${hostile}`],
    ['import', `--${hostile}`],
  ];
  let names = 0;
  for (const command of commands) {
    const common = command.length === 1 ? [] : ['--db', `g${hostile}.db`];
    const { stdout, stderr } = await commandHere([...command, ...common], { cwd });
    assertClean(command.join(' '), stdout);
    assertClean(command.join(' '), stderr);
    if (`${stdout}${stderr}`.includes('a\\u001b[2Jb\\u0085c\\u202ed')) names++;
  }
  assert.ok(names > 15, `${names} commands said the name`);
  assertClean('the plan', readFileSync(join(cwd, `plan${hostile}.html`), 'utf8'));
});

escapes.run();
