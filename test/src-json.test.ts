import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { repeatedMember } from '../src/base/json.ts';
import { suite } from './support/harness.ts';

const json = suite('repeatedMember');

json('names the first member that comes a second time in one object', () => {
  const cases: [string, (string | number)[] | null][] = [
    ['{"a":1,"a":1}', ['a']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"":1,"":2}', ['']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"a":{"b":1},"b":2,"c":[{"b":1},{"d":[[],{}, 0,{"e" : 1 ,\n"e":2}]}]}', ['c', 1, 'd', 3, 'e']],
    ['{"a":{"a":{"a":1}},"b":["a","a",{"a":"a"},{"a":"b"}]}', null],
    ['{"a":"\\"a\\":1,","b":"{\\"b\\":1,\\"b\\":2}\\\\","c":":,]}"}', null],
    ['{"a":"\\\\","a":1}', ['a']],
    ['{"a":1,"A":2,"a ":3}', null],
    ['[{"a":1},{"a":1}]', null],
    ...['{}', '[]', '"a:a"', '1', ' null '].map((text): [string, null] => [text, null]),
  ];
  for (const [text, path] of cases) {
    JSON.parse(text);
    assert.equal(repeatedMember(text), path, text);
  }
});

json('finds nothing in what was written from a value, and whatever is then put in again', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.string({ unit: 'binary' }), (text, key) => {
      assert.is(repeatedMember(text), null);
      const [first, second] = [JSON.stringify(key), escaped(key)];
      const twice = `[0, {${first}: ${text}, "${'x'.repeat(99)}": ${text}, ${second}: ${text}}]`;
      JSON.parse(twice);
      assert.equal(repeatedMember(twice), [1, key]);
    }),
    { numRuns: 100, seed: 20261121 },
  );
});

json('long texts, deep nesting and many members are no trouble', () => {
  const long = `{"a":"${'\\\\\\"'.repeat(300_000)}","b":${'['.repeat(50_000)}${']'.repeat(50_000)},"a":1}`;
  assert.equal(repeatedMember(long), ['a']);
  const many = `{${Array.from({ length: 20_000 }, (_, index) => `"${index}":1`).join(',')},"7":1}`;
  assert.equal(repeatedMember(many), ['7']);
});

/** A text as JSON may also write it: every unit escaped. */
function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

json.run();
