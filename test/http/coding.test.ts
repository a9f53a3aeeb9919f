import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { bestCoding, compress } from '../../src/http/coding.ts';
import { suite } from '../support/harness.ts';

const coding = suite('Codings of answers');

coding('the best coding that a header takes', () => {
  const table: [string | undefined, string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br;q=0', 'identity'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['br; q=0.000, *', 'gzip'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['*;q=0, br', 'br'],
    ['identity', 'identity'],
    ['zstd, deflate', 'identity'],
    ['brotli, gzipped', 'identity'],
    ['br;q=nonsense', 'identity'],
    [' , ;, ;q=1', 'identity'],
    ['gzip;q=1.0, identity; q=0.5, *;q=0', 'gzip'],
  ];
  for (const [header, wanted] of table) {
    assert.is(bestCoding(header), wanted, String(header));
    assert.is(bestCoding(header), wanted, `${header} again`);
  }
});

coding('headers from outside do not pile up, and long ones cost nothing', () => {
  for (let count = 0; count < 5000; count++) assert.is(bestCoding(`gzip, x-${count}`), 'gzip');
  assert.is(bestCoding(`${'a,'.repeat(500_000)}br`), 'identity');
  for (let length = 480; length < 520; length++)
    assert.is(bestCoding(`gzip,${'a'.repeat(length)},br;q=0`), 'gzip', String(length));
  assert.is(bestCoding('a'.repeat(600)), 'identity');
});

coding('compressed bytes read back, and are the same each time', async () => {
  const bytes = Buffer.from(
    JSON.stringify(Array.from({ length: 500 }, (_, index) => ({ index, text: 'größer' }))),
  );
  const [gz, again, br] = [
    await compress(bytes, 'gzip'),
    await compress(bytes, 'gzip'),
    await compress(bytes, 'br'),
  ];
  assert.ok(gz.equals(again));
  assert.ok(gunzipSync(gz).equals(bytes));
  assert.ok(brotliDecompressSync(br).equals(bytes));
  assert.ok(br.length < bytes.length / 4);
});

coding.run();
