import fc from 'fast-check';

const words = (text: string) => text.trim().split(/\s+/);

/** Texts that have broken other software: numbers that are none, SQL, FTS, paths, names of prototypes, odd Unicode. */
const hostile = [
  ...words(String.raw`0 -1 +1 1.5 01 0x10 1e308 NaN Infinity 1abc 9007199254740993 null undefined true [] {}
    ' " % _ \ * NEAR( col:x -x ..%2f %00 %zz % %ff %C0%AF %2e%2e / // ? # ; : ../../etc/passwd =1+1
    __proto__ constructor prototype toString hasOwnProperty __proto__:x x:__proto__ İ ß é 😀 （1）
    2024-13-45 0000-00-00 10000-01-01 2026-02-29 2026-01-01T00:00:00Z #12345g`),
  ...['', ' ', '\t', '\0', '\r\n', '[object Object]', "'; DROP TABLE stigs; --"],
  ...['a OR', '"a" "b"', '#FFFFFF\n'],
  ...['\ud800', '\udfff\ud800', '\u202e', '\ufeff', '\uffff', 'e\u0301', '9'.repeat(400), 'x'.repeat(64)],
  ...['x'.repeat(300), 'x'.repeat(5000), 'a-'.repeat(2000), ' '.repeat(3000), '('.repeat(2000)],
];

/** Texts that mean something here, so that a request gets past the first check. */
const familiar = [
  ...words(`harbor_linux_3 lantern_web_server_2 V1R1 V2R3 high low,medium HIGH cklb json csv xml nist-800-53
    nist-800-171 dod-8500 cci AC-2 AC-2(1) ac-2.1 3.1.1 CCI-000366 nist-800-53:AC-2 cci:CCI-000366 from auto rejected
    MACI LOW 1 2 50 250 1000000 true false findings slugs SHARED PRIVATE 15-1212.00`),
  ...['ac-02 (01)', 'Rev 5'],
];

const oneOf = (texts: string[]) => fc.constantFrom(...texts);
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: oneOf(hostile) },
  { weight: 4, arbitrary: oneOf(familiar) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.tuple(oneOf(familiar), oneOf(hostile)).map((pair) => pair.join('')) },
);

/** Values of JSON that no field expects. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, 2 ** 53, -0, [], {}, [[]], [null], [{}], [1]),
  fc.array(hostileText, { maxLength: 5 }),
  fc.constantFrom(51, 251, 3000).map((length) => Array(length).fill('AC-2')),
  fc.dictionary(hostileText, fc.constantFrom<unknown>('x', 1, null, []), { maxKeys: 4 }),
  fc.constantFrom(50, 500).map((depth) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)),
);
