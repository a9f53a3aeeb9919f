import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { changedWords, type TextSegment } from '../../src/pages/parts/diff-text.tsx';
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

words('the words that changed and no more, marks by themselves, neighbours as one', () => {
  for (const [old, now, segments] of [
    ['Set it to 15 or less.', 'Set it to 10 or less.', '=Set it to |-15|+10|= or less.'],
    ['a b c', 'a c', '=a |-b |=c'],
    ['same', 'same', '=same'],
    ['', 'new', '+new'],
    ['old', '', '-old'],
    ['', '', ''],
    ['stat -c %a /etc/x', 'stat -L %a /etc/x', '=stat -|-c|+L|= %a /etc/x'],
    ['a != b', 'a == b', '=a |-!|==|+=|= b'],
    ['run one two now', 'run three four now', '=run |-one two|+three four|= now'],
    ['x\none\ntwo\ny', 'x\n1\n2\ny', '=x\n|-one|+1|=\n|-two|+2|=\ny'],
  ] as const)
    assert.is(short(changedWords(old, now)).join('|'), segments);
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
    { numRuns: 300 },
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
    { numRuns: 200 },
  );
});

words('texts that are too different are compared by lines, and at last as a whole', () => {
  const random = (seed: number, count: number, between = ' ') =>
    Array.from({ length: count }, (_, n) => `w${(n * seed) % 7919}`).join(between);
  const byLines = assertWhole(`first\n${random(31, 20_000)}\nlast\n`, `first\n${random(37, 20_000)}\nlast\n`);
  assert.is(byLines.map(({ kind }) => kind).join(), 'equal,removed,added,equal');
  const [old, now] = [31, 37].map((seed) => `same\n${random(seed, 300_000, '\n')}`);
  assert.is(
    assertWhole(old!, now!)
      .map(({ kind }) => kind)
      .join(),
    'removed,added',
  );
});

words.run();
