import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { changedWords, type TextSegment } from '../../src/site/parts/changed-words.ts';
import { suite } from '../support/harness.ts';

const words = suite('Changed words');

/** Segments in short: `=` shared, `-` old, `+` new. */
const short = (segments: TextSegment[]) =>
  segments.map(({ kind, text }) => `${{ equal: '=', removed: '-', added: '+' }[kind]}${text}`);
const side = (segments: TextSegment[], other: TextSegment['kind']) =>
  segments
    .filter(({ kind }) => kind !== other)
    .map(({ text }) => text)
    .join('');

function assertWhole(old: string, now: string): TextSegment[] {
  const segments = changedWords(old, now);
  assert.is(side(segments, 'added'), old);
  assert.is(side(segments, 'removed'), now);
  return segments;
}

words('the words that changed, and no more', () => {
  assert.equal(short(changedWords('Set the value to 15 or less.', 'Set the value to 10 or less.')), [
    '=Set the value to ',
    '-15',
    '+10',
    '= or less.',
  ]);
  assert.equal(short(changedWords('a b c', 'a c')), ['=a ', '-b ', '=c']);
  assert.equal(short(changedWords('same', 'same')), ['=same']);
  assert.equal(short(changedWords('', 'new')), ['+new']);
  assert.equal(short(changedWords('old', '')), ['-old']);
  assert.equal(changedWords('', ''), []);
});

words('marks count by themselves: an option of a command is seen', () => {
  assert.equal(short(changedWords('stat -c %a /etc/x', 'stat -L %a /etc/x')), [
    '=stat -',
    '-c',
    '+L',
    '= %a /etc/x',
  ]);
  assert.equal(short(changedWords('a != b', 'a == b')), ['=a ', '-!', '==', '+=', '= b']);
});

words('neighbouring changes are one, old before new', () => {
  assert.equal(short(changedWords('run one two now', 'run three four now')), [
    '=run ',
    '-one two',
    '+three four',
    '= now',
  ]);
  assert.equal(short(changedWords('x\none\ntwo\ny', 'x\n1\n2\ny')), [
    '=x\n',
    '-one',
    '+1',
    '=\n',
    '-two',
    '+2',
    '=\ny',
  ]);
});

words('the segments make up both texts, for any two texts', () => {
  const text = fc
    .array(
      fc.oneof(
        fc.constantFrom('a', 'b', ' ', '\n', '  ', 'the', '.', '👩🏽‍💻', 'é', '\u0301', '\ud800'),
        fc.string(),
      ),
      {
        maxLength: 60,
      },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, (old, now) => {
      const segments = assertWhole(old, now);
      assert.not(segments.some(({ text: each }) => each === ''));
      for (const [index, { kind }] of segments.entries()) assert.is.not(kind, segments[index + 1]?.kind);
      assert.is(
        segments.some(({ kind }) => kind !== 'equal'),
        old !== now,
      );
    }),
    { numRuns: 1000 },
  );
});

words('no shorter edit exists, against the longest common subsequence by brute force', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 14 });
  fc.assert(
    fc.property(letters, letters, (old, now) => {
      const table = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
      for (let i = 1; i <= old.length; i++)
        for (let j = 1; j <= now.length; j++)
          table[i]![j] =
            old[i - 1] === now[j - 1]
              ? table[i - 1]![j - 1]! + 1
              : Math.max(table[i - 1]![j]!, table[i]![j - 1]!);
      // Marks are units of their own, so that no blanks join what is apart.
      const marks = (each: string) => ({ a: '!', b: '?', c: ';' })[each]!;
      const segments = changedWords(old.map(marks).join(''), now.map(marks).join(''));
      const shared = segments
        .filter(({ kind }) => kind === 'equal')
        .reduce((sum, { text }) => sum + text.length, 0);
      assert.is(shared, table[old.length]![now.length]!);
    }),
    { numRuns: 500 },
  );
});

words('texts that are too different are compared by lines, and at last as a whole', () => {
  const random = (seed: number, count: number) =>
    Array.from({ length: count }, (_, n) => `w${(n * seed) % 7919}`);
  const [old, now] = [random(31, 20_000), random(37, 20_000)].map((each) => each.join(' ')) as [
    string,
    string,
  ];
  const byLines = assertWhole(`first\n${old}\nlast\n`, `first\n${now}\nlast\n`);
  assert.equal(
    byLines.map(({ kind, text }) => `${kind} ${text.slice(0, 6)}`),
    ['equal first\n', `removed ${old.slice(0, 6)}`, `added ${now.slice(0, 6)}`, 'equal last\n'],
  );
  const lines = (seed: number) => random(seed, 300_000).join('\n');
  assert.equal(
    assertWhole(`same\n${lines(31)}`, `same\n${lines(37)}`).map(({ kind }) => kind),
    ['removed', 'added'],
  );
  const huge = 'x '.repeat(1_500_000);
  assert.is(assertWhole(huge, `${huge}y`).length, 2);
});

words.run();
