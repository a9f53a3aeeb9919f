import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { discover, isLink, listFiles } from '../../importers/discover.ts';
import { type LookBounds, lookAt } from '../../src/commands/inbox-look.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

// Rule D33.1: one look at an inbox, and what an import reads of what it saw.
const look = suite('A look at an inbox');

const bounds = (left = 1000): LookBounds => ({
  left,
  exceeded: false,
  signal: new AbortController().signal,
});

async function statesOf(folder: string, limits = bounds()): Promise<Record<string, string>> {
  return Object.fromEntries(await lookAt(folder, limits));
}

function fill(folder: string, count: number): string {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < count; index++) writeFileSync(join(folder, `${index}.txt`), 'x');
  return folder;
}

look('it ends at its bound; a folder that it does not see whole has no state', async () => {
  const folder = scratchFolder();
  fill(join(folder, 'sub'), 20);
  const exact = bounds(21);
  assert.is.not((await statesOf(folder, exact)).sub, '');
  assert.is(exact.exceeded, false);
  const less = bounds(20);
  assert.equal(await statesOf(folder, less), { sub: '' });
  assert.is(less.exceeded, true);
  const flat = fill(scratchFolder(), 20);
  const some = bounds(7);
  assert.is(Object.keys(await statesOf(flat, some)).length, 7);
  assert.is(some.exceeded, true);
});

look('a file that became a link after the look is not followed', async () => {
  const text = writeXccdf();
  const outside = scratchFolder();
  put(outside, 'a.xml', text);
  put(outside, 'b.zip', makeZip([{ name: 'b.xml', data: text }]));
  const inbox = scratchFolder();
  const names = ['a.xml', 'b.zip', 'sub/a.xml'];
  for (const name of names) put(inbox, name, 'x');
  const outcomes = async (files: ReturnType<typeof listFiles>) => {
    const found: string[] = [];
    for await (const each of discover(files))
      found.push(each.type === 'unreadable' ? `${each.outcome}: ${each.reason}` : `read ${each.source}`);
    return found;
  };
  const paths = ['a.xml', 'b.zip', 'sub'].map((name) => join(inbox, name));
  const listed = listFiles(paths, { noLinks: true });
  assert.is((await outcomes(listed)).filter((each) => each.startsWith('read ')).length, 3);
  for (const name of names) {
    rmSync(join(inbox, name));
    symlinkSync(join(outside, name.replace('sub/', '')), join(inbox, name));
  }
  assert.equal(await outcomes(listed), [
    ...Array(2).fill('rejected: a link, device or pipe, not a file'),
    'skipped: a link or device, not a file',
  ]);
  assert.equal(await outcomes(listFiles(paths, { noLinks: true })), [
    ...Array(2).fill(`rejected: ${isLink}`),
    'skipped: a link or device, not a file',
  ]);
});

look.run();
