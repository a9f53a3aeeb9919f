import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openPieces } from '../../src/content/pieces.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const pieces = suite('Pieces of a bundle');

pieces('every byte is read once and in order, over pieces and chunks of any length', () => {
  const bytes = Buffer.from(
    Uint32Array.from({ length: (5 << 17) + 2 }, (_, n) => Math.imul(n, 2654435761)).buffer,
  );
  for (const length of [bytes.length, 1 << 20, (1 << 20) - 1, 700_001]) {
    const folder = scratchFolder();
    for (let index = 0; index * length < bytes.length; index++) {
      const name = length === bytes.length ? 'all' : `all.${String(index + 1).padStart(3, '0')}`;
      put(folder, name, bytes.subarray(index * length, (index + 1) * length));
    }
    using reader = openPieces(join(folder, 'all'));
    const first = reader.read(3);
    const rest = [...reader.chunks(reader.left())];
    assert.is(Buffer.concat([first, ...rest]).compare(bytes), 0, `pieces of ${length}`);
    assert.is(reader.left(), 0);
  }
});

pieces.run();
