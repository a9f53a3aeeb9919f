import * as assert from 'uvu/assert';
import { bestCoding } from '../../src/http/coding.ts';
import { suite } from '../support/harness.ts';

const coding = suite('Codings of answers');

coding('the best coding that a header takes', () => {
  const table: [string | undefined, string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0', 'identity'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['br; q=0.000, *', 'identity'],
    ['*', 'identity'],
    ['*;q=0', 'identity'],
    ['identity', 'identity'],
    ['zstd, deflate', 'identity'],
    ['brotli, gzipped', 'identity'],
    [' , ;, ;q=1', 'identity'],
    ['gzip;q=1.0, identity; q=0.5, *;q=0', 'gzip'],
  ];
  for (const [header, wanted] of table) {
    assert.is(bestCoding(header), wanted, String(header));
    assert.is(bestCoding(header), wanted, `${header} again`);
  }
});

coding.run();
