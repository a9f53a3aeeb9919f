import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { sha256 } from '../../src/base/ids.ts';
import { suite } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { killAll, type Running, startServer, until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

const inboxes = suite('The inbox');

inboxes.after(killAll);

const names = ['First', 'Good', 'Inner', 'Broken', 'Cut', 'Hidden', 'Slow', 'Changed', 'Late', 'Other'];
const benchmark = (name: (typeof names)[number]) =>
  writeXccdf({
    id: `${name}_STIG`,
    title: `${name} Security Technical Implementation Guide`,
    stem: name.toUpperCase(),
    first: 200_001 + 100 * names.indexOf(name),
  });

function site(): { folder: string; inbox: string } {
  const folder = scratchFolder();
  const inbox = join(folder, 'inbox');
  mkdirSync(inbox);
  return { folder, inbox };
}

async function serve(folder: string, inbox: string): Promise<Running> {
  const started = await runHere(folder, ['import', put(folder, 'first.xml', benchmark('First'))]);
  assert.is(started.code, 0, started.stderr);
  return startServer(folder, ['serve', '--port', '0'], { GAPSTONE_INBOX: inbox });
}

async function stop({ child, ended }: Running): Promise<void> {
  child.kill('SIGTERM');
  assert.equal(await ended, { code: 0, signal: null });
}

interface Line {
  run: number;
  source: string;
  outcome: string;
}

/** What the ledger says of everything from the inbox, in the order in which it was met. */
function ledger(folder: string, inbox: string): Line[] {
  const db = new Sqlite(join(folder, 'gapstone.db'), { readonly: true });
  try {
    const all = db
      .prepare<[], Line>('SELECT run_id AS run, source, outcome FROM import_ledger ORDER BY run_id, ordinal')
      .all();
    return all
      .filter(({ source }) => source.startsWith(`${inbox}/`))
      .map((line) => ({ ...line, source: line.source.slice(inbox.length + 1) }));
  } finally {
    db.close();
  }
}

const outcomes = (folder: string, inbox: string) =>
  Object.fromEntries(ledger(folder, inbox).map(({ source, outcome }) => [source, outcome]));

/** Everything about the files of a folder that an import must leave alone. */
const stateOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { size, mtimeMs, ctimeMs, ino, mode } = lstatSync(join(folder, name));
    return [name, size, mtimeMs, ctimeMs, ino, mode].join(' ');
  });

inboxes('what lies there at the start is imported, each file named, none touched', async () => {
  const { folder, inbox } = site();
  put(inbox, 'good.xml', benchmark('Good'));
  put(inbox, 'library.zip', makeZip([{ name: 'a/inner.xml', data: benchmark('Inner') }]));
  put(inbox, 'broken.xml', benchmark('Broken').slice(0, 600));
  put(inbox, 'cut.zip', makeZip([{ name: 'x.xml', data: benchmark('Cut') }]).subarray(0, 40));
  put(inbox, '.rsync.part', benchmark('Hidden'));
  put(inbox, 'boats/cover.md', '# Boats\n\nMay 21, 2015\n');
  put(inbox, 'boats/sec1.md', '# One\n\nBoats must float.\n');
  mkdirSync(join(inbox, 'empty'));
  symlinkSync(join(folder, 'first.xml'), join(inbox, 'link.xml'));
  const before = stateOf(inbox);
  const running = await serve(folder, inbox);
  await until('all of it is in the ledger', () => ledger(folder, inbox).length > 0);
  assert.equal(outcomes(folder, inbox), {
    'good.xml': 'imported',
    'library.zip': 'imported',
    'library.zip!/a/inner.xml': 'imported',
    'broken.xml': 'rejected',
    'cut.zip': 'rejected',
    boats: 'imported',
  });
  assert.is(new Set(ledger(folder, inbox).map(({ run }) => run)).size, 1);
  await until('it is logged', () => running.stdout().includes('inbox: imported'));
  for (const name of ['broken.xml', 'cut.zip'])
    assert.match(
      running.stdout(),
      new RegExp(`"inbox: rejected","source":"[^"]*/${name.replace('.', '\\.')}"`),
    );
  await stop(running);
  assert.equal(stateOf(inbox), before);
});

inboxes('a file is answered once it is whole, and its content is taken once', async () => {
  const { folder, inbox } = site();
  const running = await serve(folder, inbox);
  const issued = await runHere(folder, ['token', 'issue', '--subject', 'ann']);
  const headers = { Authorization: `Bearer ${issued.stdout.trim()}` };
  const status = async (slug: string) =>
    (await fetch(`${running.url}/api/v1/stigs/${slug}`, { headers })).status;
  // It grows until another, which lay there as long and stands still, was taken: at each look it is another one.
  const text = benchmark('Slow') + ' '.repeat(100_000);
  let at = 400;
  const file = put(inbox, 'slow.xml', text.slice(0, at));
  put(inbox, 'other.xml', benchmark('Other'));
  const growing = setInterval(() => appendFileSync(file, text.slice(at, ++at)), 5);
  await until('what stands still is taken', () => running.stdout().includes('inbox: imported'));
  clearInterval(growing);
  appendFileSync(file, text.slice(at));
  assert.is(await status('other'), 200);
  await until('the other is taken', () => ledger(folder, inbox).length === 2);
  assert.is(await status('slow'), 200);
  assert.equal(
    ledger(folder, inbox).map(({ outcome }) => outcome),
    ['imported', 'imported'],
    'no half of it was taken',
  );
  assert.is(readFileSync(file, 'utf8'), text);
  // The same bytes under another name are nothing new, but have a line; what changes is.
  put(inbox, 'again.xml', text);
  put(inbox, 'sub/again.xml', text);
  put(inbox, 'slow.xml', benchmark('Changed'));
  await until('each file has a line', () => ledger(folder, inbox).length >= 5);
  assert.is(await status('changed'), 200);
  await stop(running);
  const told = ledger(folder, inbox);
  assert.equal(told.map(({ source, outcome }) => `${outcome} ${source}`).sort(), [
    'imported other.xml',
    'imported slow.xml',
    'imported slow.xml',
    'unchanged again.xml',
    'unchanged sub/again.xml',
  ]);
  const restarted = await startServer(folder, ['serve', '--port', '0'], { GAPSTONE_INBOX: inbox });
  put(inbox, 'late.xml', benchmark('Late'));
  await until('what came last is imported', () => ledger(folder, inbox).length > told.length);
  assert.equal(
    ledger(folder, inbox)
      .slice(told.length)
      .map(({ source }) => source),
    ['late.xml'],
  );
  await stop(restarted);
});

inboxes('an import that fails as a whole is told and leaves the files for another try', async () => {
  const { folder, inbox } = site();
  const running = await serve(folder, inbox);
  const audit = join(folder, 'gapstone-audit.jsonl');
  renameSync(audit, `${audit}.away`);
  mkdirSync(audit);
  put(inbox, 'good.xml', benchmark('Good'));
  await until('it is told', () => running.stdout().includes('inbox: the import failed'));
  assert.match(
    running.stdout(),
    /"inbox: the import failed; it is tried again","folder":"[^"]+","reason":"gapstone: .+audit/,
  );
  assert.equal(ledger(folder, inbox), []);
  await stop(running);
});

inboxes('import --once leaves out what an import has met, and opens no archive for it', async () => {
  const { folder, inbox } = site();
  const library = put(inbox, 'library.zip', makeZip([{ name: 'a.xml', data: benchmark('Inner') }]));
  const broken = put(inbox, 'broken.xml', benchmark('Broken').slice(0, 600));
  const first = await runHere(folder, ['import', '--once', library, broken]);
  assert.is(first.code, 3);
  const told = ledger(folder, inbox);
  const again = await runHere(folder, ['import', '--once', '--json', library, broken, join(inbox, 'none')]);
  const known = [library, broken].map((file) => sha256(readFileSync(file)));
  assert.equal(again, {
    code: 0,
    stdout: `${JSON.stringify({ knownHashes: known, removedPaths: [] })}\n`,
    stderr: 'nothing to import: every path is missing or already imported\n',
  });
  assert.equal(ledger(folder, inbox), told);
  const other = put(inbox, 'other.xml', benchmark('Other'));
  const gone = join(inbox, 'gone.xml');
  const third = await runHere(folder, ['import', '--once', library, gone, other, broken]);
  assert.is(third.code, 0);
  assert.equal(
    ledger(folder, inbox)
      .slice(told.length)
      .map(({ source }) => source),
    ['other.xml'],
  );
  // Known content under a new name has a line of its own, once.
  for (const name of ['copy.xml', 'copy.zip'])
    put(inbox, name, readFileSync(name === 'copy.xml' ? other : library));
  const copies = [join(inbox, 'copy.xml'), join(inbox, 'copy.zip')];
  for (let time = 0; time < 2; time++)
    assert.is((await runHere(folder, ['import', '--once', ...copies])).code, 0);
  assert.equal(
    ledger(folder, inbox)
      .slice(told.length + 1)
      .map(({ source, outcome }) => `${outcome} ${source}`),
    ['unchanged copy.xml', 'unchanged copy.zip', 'unchanged copy.zip!/a.xml'],
  );
});

inboxes('an inbox that is no folder, or that would fill a catalog in memory, stops the start', async () => {
  const { folder, inbox } = site();
  const file = put(folder, 'file', '');
  const db = join(inbox, 'in', 'g.db');
  for (const [name, value, message] of [
    ['gapstone.db', file, ` is not a folder: ${file}`],
    [':memory:', inbox, ' needs a catalog in a file'],
    [db, inbox, ` must not hold our own files: ${db}`],
  ] as const) {
    const { code, stderr } = await runHere(folder, ['serve', '--db', name], { GAPSTONE_INBOX: value });
    assert.equal([code, stderr], [2, `gapstone: GAPSTONE_INBOX${message}\n`]);
  }
});

inboxes.run();
