import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { discover, listFiles } from '../../importers/discover.ts';
import { isLink, knowsPlaces } from '../../importers/open-file.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

// Rule D33.1: one look at an inbox, and what an import reads of what it saw.
const look = suite('A look at an inbox');

look('what became a link after the look is not followed, neither a file nor a folder above it', async () => {
  const text = writeXccdf();
  const outside = scratchFolder();
  put(outside, 'a.xml', text);
  put(outside, 'b.zip', makeZip([{ name: 'b.xml', data: text }]));
  const inbox = scratchFolder();
  const names = ['a.xml', 'b.zip', 'sub/a.xml', 'deep/sub/b.zip'];
  for (const name of names) put(inbox, name, 'x');
  const outcomes = async (files: ReturnType<typeof listFiles>) => {
    const found: string[] = [];
    await discover(files, (each) => {
      found.push(each.type === 'unreadable' ? `${each.outcome}: ${each.reason}` : `read ${each.source}`);
    });
    return found;
  };
  const paths = ['a.xml', 'b.zip', 'sub', 'deep'].map((name) => join(inbox, name));
  const listed = listFiles(paths, { noLinks: true });
  assert.is((await outcomes(listed)).filter((each) => each.startsWith('read ')).length, 4);
  for (const name of names.slice(0, 2)) {
    rmSync(join(inbox, name));
    symlinkSync(join(outside, name), join(inbox, name));
  }
  for (const name of ['sub', 'deep/sub']) {
    rmSync(join(inbox, name), { recursive: true });
    symlinkSync(outside, join(inbox, name));
  }
  // Of a file below a folder that became a link only the system says where it is.
  const lone = Array(2).fill('rejected: a link, device or pipe, not a file');
  if (knowsPlaces) assert.equal(await outcomes(listed), [...lone, ...Array(2).fill(`rejected: ${isLink}`)]);
  assert.equal(
    await outcomes(listFiles(paths.slice(0, 3), { noLinks: true })),
    Array(3).fill(`rejected: ${isLink}`),
  );
  assert.equal(await outcomes(listFiles([paths[3]!], { noLinks: true })), [
    'skipped: a link or device, not a file',
  ]);
});

look.run();
