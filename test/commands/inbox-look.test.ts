import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { discover, isLink, listFiles } from '../../importers/discover.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

// Rule D33.1: what an import reads of what lies in an inbox.
const look = suite('Links in an inbox');

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
    await discover(files, async (each) => {
      const { refusal, source } = each;
      found.push(refusal === null ? `read ${source}` : `${refusal.outcome}: ${refusal.reason}`);
      return true;
    });
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
