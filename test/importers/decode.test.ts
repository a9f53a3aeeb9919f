import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { parseSource } from '../../importers/parse.ts';
import { decodeText } from '../../src/read/decode.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { suite } from '../support/harness.ts';
import { parseRelease, parseSkipped } from '../support/parsed.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

/** The description of a benchmark: the text that these tests fill. */
const described = (bytes: Uint8Array, options: { strict?: boolean } = {}) =>
  parseRelease(bytes, options).release.description;

function refused(bytes: Uint8Array, pattern: RegExp, options: { strict?: boolean } = {}): void {
  assert.throws(
    () => parseSource(bytes, options),
    (error: unknown) => error instanceof ImportError && pattern.test(error.message),
    String(pattern),
  );
}

const declare = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>`;
const xml = (text: string, declaration = declare('utf-8')) => writeXccdf({ description: text, declaration });

/** A benchmark whose description holds raw bytes. */
function withBytes(bytes: number[], declaration = declare('utf-8')): Buffer {
  const [before, after] = xml('@@', declaration).split('@@');
  return Buffer.concat([Buffer.from(before!), Buffer.from(bytes), Buffer.from(after!)]);
}

function swap16(buffer: Buffer): Buffer {
  return Buffer.from(buffer).swap16();
}

const utf16 = suite('X5: UTF-16');
const wide = 'Gr\u00f6\u00dfe \u2013 \u201cx\u201d \u{1f512}';

utf16('both byte orders with their mark are read, whatever the declaration says', () => {
  for (const declaration of ['', declare('utf-16'), declare('UTF-16'), declare('utf-8')]) {
    const text = `\ufeff${xml(wide, declaration)}`;
    const little = Buffer.from(text, 'utf16le');
    assert.is(described(little), wide, `${declaration} little`);
    assert.is(described(swap16(little)), wide, `${declaration} big`);
    assert.is(described(little, { strict: true }), wide);
  }
});

utf16('broken or unmarked UTF-16 is never stored', () => {
  const little = Buffer.from(`\ufeff${xml(wide)}`, 'utf16le');
  refused(little.subarray(0, little.length - 1), /UTF-16|line/);
  refused(
    Buffer.concat([little.subarray(0, 400), Buffer.from([0x00, 0xd8]), little.subarray(400)]),
    /UTF-16/,
  );
  refused(little.subarray(2), /line 1|printable|encoding/);
  assert.is(parseSkipped(swap16(little).subarray(2)).kind, 'other');
  refused(Buffer.from(xml('A', declare('utf-16'))), /encoding "utf-16"/);
});

utf16.run();

const utf8 = suite('X5: UTF-8');

utf8('is read with and without a byte-order mark', () => {
  for (const declaration of [
    '',
    declare('utf-8'),
    declare('UTF-8'),
    declare('Utf-8'),
    "<?xml version='1.0' encoding='utf-8'?>",
  ]) {
    const text = xml(wide, declaration);
    assert.is(described(Buffer.from(text)), wide);
    assert.is(described(Buffer.from(`\ufeff${text}`)), wide);
    assert.equal(parseSource(Buffer.from(text)).warnings, []);
  }
});

utf8('a byte-order mark says more than the declaration', () => {
  for (const encoding of ['windows-1252', 'iso-8859-1'])
    assert.is(described(Buffer.from(`\ufeff${xml(wide, declare(encoding))}`)), wide, encoding);
});

utf8('US-ASCII is read; an encoding that nobody supports is refused by name', () => {
  assert.is(described(Buffer.from(xml('Plain', declare('US-ASCII')))), 'Plain');
  for (const encoding of ['utf-7', 'shift_jis', 'ebcdic-cp-us', 'utf-32', 'x-user-defined', ''])
    refused(Buffer.from(xml('A', declare(encoding))), /encoding/);
});

utf8('NUL, controls and noncharacters are refused, also in a windows-1252 reading', () => {
  for (const code of [0x00, 0x01, 0x08, 0x0b, 0x0c, 0x0e, 0x1b, 0x1f]) {
    refused(withBytes([0x41, code, 0x42]), /line \d+|printable/);
    refused(withBytes([0x41, code, 0x93]), /printable/);
    refused(withBytes([code], declare('windows-1252')), /printable/);
    refused(withBytes([code], declare('iso-8859-1')), /line \d+/);
  }
  for (const last of [0xbe, 0xbf]) refused(withBytes([0xef, 0xbf, last]), /line \d+/);
});

utf8('XML 1.1 does not bring control characters in', () => {
  const declaration = '<?xml version="1.1" encoding="utf-8"?>';
  const text = writeXccdf({ description: '@@', declaration }).replace('@@', 'a&#1;&#x1b;b');
  refused(Buffer.from(text), /line \d+/);
});

utf8.run();

const latin = suite('X5: one byte for each character');

latin('windows-1252 is read without a warning where it is declared, in any case', () => {
  for (const encoding of ['windows-1252', 'Windows-1252', 'WINDOWS-1252']) {
    const bytes = withBytes([0x80, 0x93, 0xa0, 0x41, 0xff], declare(encoding));
    const parsed = parseRelease(bytes, { strict: true });
    assert.equal([parsed.release.description, parsed.warnings], ['\u20ac\u201c\u00a0A\u00ff', []]);
  }
});

latin('all 27 printable bytes of its own, and the five that are none', () => {
  const own = '€0‚ƒ„…†‡ˆ‰Š‹Œ0Ž00‘’“”•–—˜™š›œ0žŸ';
  for (let byte = 0x80; byte <= 0xff; byte++) {
    const file = withBytes([0x41, byte, 0x42], declare('windows-1252'));
    if ([0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte))
      refused(file, new RegExp(`0x${byte.toString(16).toUpperCase()}`));
    else assert.is(described(file), `A${own[byte - 0x80] ?? String.fromCharCode(byte)}B`, String(byte));
  }
});

latin('ISO-8859-1 declared: its own characters, and no others', () => {
  const bytes = Array.from({ length: 0x60 }, (_, at) => 0xa0 + at);
  assert.is(
    described(withBytes([0x41, ...bytes], declare('ISO-8859-1'))),
    `A${String.fromCharCode(...bytes)}`,
  );
});

latin('UTF-8 said, windows-1252 meant: read with one warning that names byte, offset and line', () => {
  const file = withBytes([0x93, 0x41, 0x94, 0x85, 0x96]);
  const offset = file.indexOf(0x93);
  const parsed = parseRelease(file);
  assert.is(parsed.release.description, '\u201cA\u201d\u2026\u2013');
  const line = file.toString('latin1', 0, offset).split('\n').length;
  assert.equal(parsed.warnings.length, 1);
  assert.ok(parsed.warnings[0]!.includes(`byte 0x93 at offset ${offset} (line ${line})`), parsed.warnings[0]);
  assert.match(parsed.warnings[0]!, /windows-1252$/);
  refused(file, new RegExp(`UTF-8.*offset ${offset}\\b`), { strict: true });
  const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), file]);
  assert.ok(parseSource(marked).warnings[0]!.includes(`offset ${offset + 3} `), 'the mark counts');
  assert.is(described(marked), '\u201cA\u201d\u2026\u2013');
});

latin('valid UTF-8 and other bytes mixed: the warning says that something is misread', () => {
  for (const bytes of [
    [0xe2, 0x80, 0x99, 0x41, 0x93],
    [0x93, 0x41, 0xe2, 0x80, 0x99],
    [0x93, 0xf0, 0x9f, 0x94, 0x92],
  ]) {
    // 0x9F and 0x94 are printable in windows-1252, so all of these can be read.
    const parsed = parseSource(withBytes(bytes));
    assert.is(parsed.warnings.length, 1);
    assert.match(parsed.warnings[0]!, /which are misread this way/, bytes.join());
  }
  assert.not.match(parseSource(withBytes([0x93, 0x41, 0x94])).warnings[0]!, /which are misread this way/);
});

latin('bytes that are neither are refused, never replaced', () => {
  for (const byte of [0x81, 0x8d, 0x8f, 0x90, 0x9d]) {
    const hex = `0x${byte.toString(16).toUpperCase()}`;
    refused(
      withBytes([0x41, byte, 0x42]),
      new RegExp(`not valid UTF-8: byte ${hex}.*nor windows-1252.*${hex}`),
    );
  }
  for (const bytes of [
    [0x41, 0x93],
    [0xc3, 0x28],
    [0xff, 0xfe],
  ])
    assert.not.match(described(withBytes(bytes)), /[\ufffd\u0000]/);
});

latin('the position is that of the first byte that breaks UTF-8, wherever it stands', () => {
  const anyBytes = fc.array(
    fc.oneof(
      fc.constantFrom([0x41], [0xc3, 0xa9], [0xe2, 0x80, 0x93], [0xf0, 0x9f, 0x94, 0x92], [0x0a]),
      fc.constantFrom([0x93], [0xc3], [0xe2, 0x80], [0xf0, 0x9f, 0x94], [0xe9], [0xa0], [0xff], [0xc0, 0xaf]),
      fc.constantFrom([0xed, 0xa0, 0xb0], [0xf4, 0xbf, 0xbf, 0xbf], [0xf8]),
    ),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(anyBytes, (parts) => {
      const bytes = Buffer.from(parts.flat());
      if (isUtf8(bytes)) {
        assert.equal(decodeText(bytes), { text: bytes.toString('utf8'), warnings: [] });
        return;
      }
      const where = `at offset ${firstBad(bytes)} `;
      const line = bytes.subarray(0, firstBad(bytes)).toString('latin1').split('\n').length;
      assert.throws(
        () => decodeText(bytes, true),
        (error: Error) => error.message.includes(`${where}(line ${line})`),
        `${bytes.toString('hex')}: ${where}`,
      );
      const { text, warnings } = decodeText(bytes);
      assert.is(text.length, bytes.length);
      assert.ok(warnings[0]!.includes(where));
    }),
    { numRuns: 500 },
  );
});

latin.run();

/** The start of the first sequence that is not UTF-8: the longest valid prefix, tried byte by byte. */
function firstBad(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length) {
    const length = [1, 2, 3, 4].find(
      (size) => at + size <= bytes.length && isUtf8(bytes.subarray(at, at + size)),
    );
    if (length === undefined) return at;
    at += length;
  }
  return -1;
}
