import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import {
  bytesOf,
  createPreparedAnswers,
  type Freshness,
  type Made,
  namesTag,
} from '../../src/prepared/answers.ts';
import { createShelf } from '../../src/prepared/shelf.ts';
import { suite } from '../support/harness.ts';

const answers = suite('Prepared answers');

/** A database that changes when a test says so. */
function fakeDatabase() {
  const state = { generation: 1, changes: 1 };
  const fresh: Freshness = {
    generation: () => state.generation,
    recentGeneration: () => state.generation,
    changes: () => String(state.changes),
  };
  return { state, fresh };
}

function made(text: string): Made {
  return {
    bytes: Buffer.from(text),
    headers: { 'Content-Type': 'text/plain' },
    tag: `tag-of-${text.length}`,
  };
}

const about = { route: '/r', access: 'user', expensive: false };

answers('what depends on the catalog is shared until the generation changes', () => {
  const { state, fresh } = fakeDatabase();
  const kept = createPreparedAnswers(fresh, ['X-All', 'yes']);
  kept.keep('catalog', '/a', '', kept.stamp('catalog'), made('one'), about);
  state.changes++;
  assert.is(kept.find('catalog', '/a', '')?.tag, 'tag-of-3');
  assert.is(kept.glance('/a', 'anybody')?.tag, 'tag-of-3');
  assert.is(kept.glance('/a', null)?.tag, 'tag-of-3');
  assert.is(kept.glance('/b', null), undefined);
  state.generation++;
  assert.is(kept.glance('/a', null), undefined);
  assert.is(kept.find('catalog', '/a', ''), undefined);
  assert.is(kept.stats().entries, 0);
});

answers('what depends on users’ data is one caller’s, until anything is written', () => {
  const { state, fresh } = fakeDatabase();
  const kept = createPreparedAnswers(fresh, []);
  kept.keep('database', '/a', 'ann', kept.stamp('database'), made('hers'), about);
  assert.is(kept.find('database', '/a', 'bob'), undefined);
  assert.is(kept.glance('/a', 'bob'), undefined);
  assert.is(kept.glance('/a', null), undefined);
  assert.is(kept.find('catalog', '/a', ''), undefined);
  assert.is(kept.glance('/a', 'ann')?.tag, 'tag-of-4');
  state.changes++;
  assert.is(kept.glance('/a', 'ann'), undefined);
  assert.is(kept.find('database', '/a', 'ann'), undefined);
});

answers('callers and targets cannot be read one for the other', () => {
  const { fresh } = fakeDatabase();
  const kept = createPreparedAnswers(fresh, []);
  kept.keep('database', '/b /c', '["ann"]', kept.stamp('database'), made('1'), about);
  assert.is(kept.find('database', '/c', '["ann"] /b'), undefined);
  assert.is(kept.find('database', '/b /c', '["ann"]')?.tag, 'tag-of-1');
});

answers('what was made while something changed is not kept', () => {
  const { state, fresh } = fakeDatabase();
  const kept = createPreparedAnswers(fresh, []);
  const stamp = kept.stamp('catalog');
  state.generation++;
  const prepared = kept.keep('catalog', '/a', '', stamp, made('old'), about);
  assert.is(String(prepared.variants.get('identity')!.content), 'old', 'its own caller has it');
  assert.is(kept.find('catalog', '/a', ''), undefined);
  const own = kept.stamp('database');
  state.changes++;
  kept.keep('database', '/a', 'ann', own, made('old'), about);
  assert.is(kept.find('database', '/a', 'ann'), undefined);
});

answers('each coding is made once, with a tag and a length of its own', async () => {
  const { fresh } = fakeDatabase();
  const kept = createPreparedAnswers(fresh, ['X-All', 'yes']);
  const text = 'text '.repeat(1000);
  const prepared = kept.keep('catalog', '/a', '', kept.stamp('catalog'), made(text), about);
  const before = kept.stats().bytes;
  const br = await kept.written(prepared, 'br');
  assert.is(await kept.written(prepared, 'br'), br);
  assert.is(kept.stats().bytes, before + br.content.length);
  assert.equal(br.headers, {
    'Content-Type': 'text/plain',
    ETag: '"tag-of-5000-br"',
    'Content-Length': String(br.content.length),
    'Content-Encoding': 'br',
  });
  assert.is(
    br.head,
    `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nETag: "tag-of-5000-br"\r\nContent-Length: ${br.content.length}\r\nContent-Encoding: br\r\nX-All: yes\r\n`,
  );
  assert.is(prepared.notModified.head, 'HTTP/1.1 304 Not Modified\r\nETag: "tag-of-5000"\r\nX-All: yes\r\n');
  const identity = await kept.written(prepared, 'identity');
  assert.equal(identity.headers, {
    'Content-Type': 'text/plain',
    ETag: '"tag-of-5000"',
    'Content-Length': '5000',
  });
  assert.equal(prepared.notModified.headers, { ETag: '"tag-of-5000"' });
});

answers('what does not become smaller is sent as it is', async () => {
  const { fresh } = fakeDatabase();
  const kept = createPreparedAnswers(fresh, []);
  const prepared = kept.keep('catalog', '/a', '', kept.stamp('catalog'), made('x'), about);
  assert.is(await kept.written(prepared, 'gzip'), await kept.written(prepared, 'identity'));
});

answers(
  'a body reads the same whether it is small enough for a text or not, in bytes of any value',
  async () => {
    const { fresh } = fakeDatabase();
    const kept = createPreparedAnswers(fresh, []);
    for (const length of [0, 1, 24 * 1024, 24 * 1024 + 1, 200_000]) {
      const bytes = randomBytes(length);
      const one: Made = { bytes, headers: {}, tag: 't' };
      const prepared = kept.keep('catalog', `/${length}`, '', kept.stamp('catalog'), one, about);
      assert.ok(bytesOf(await kept.written(prepared, 'identity')).equals(bytes), `${length} bytes`);
      const zeros: Made = { bytes: Buffer.alloc(length), headers: {}, tag: 't' };
      const plain = kept.keep('catalog', `/z${length}`, '', kept.stamp('catalog'), zeros, about);
      if (length > 1000)
        assert.ok(
          gunzipSync(bytesOf(await kept.written(plain, 'gzip'))).equals(zeros.bytes),
          `${length} bytes`,
        );
    }
  },
);

answers('a header that could end the head is refused when an answer is kept', () => {
  const { fresh } = fakeDatabase();
  const kept = createPreparedAnswers(fresh, []);
  for (const value of ['a\r\nX-Evil: yes', 'a\nb', '\u2028', '\0']) {
    const bad: Made = { bytes: Buffer.from('x'), headers: { 'X-Name': value }, tag: 't' };
    assert.throws(
      () => kept.keep('catalog', '/a', '', kept.stamp('catalog'), bad, about),
      'Invalid character',
    );
  }
});

answers('a coding is made once also for callers who come at the same time', async () => {
  const { fresh } = fakeDatabase();
  const kept = createPreparedAnswers(fresh, []);
  const prepared = kept.keep('catalog', '/a', '', kept.stamp('catalog'), made('text '.repeat(1000)), about);
  const before = kept.stats().bytes;
  const together = await Promise.all([1, 2, 3].map(() => kept.written(prepared, 'gzip')));
  assert.is(new Set(together).size, 1);
  assert.is(kept.stats().bytes, before + together[0]!.content.length);
});

answers('a tag is named in any coding, in a list, weak or as anything', () => {
  for (const header of ['"t"', 'W/"t"', '"t-br"', '"t-gz"', '"x", "t"', '*', ' "x" , W/"t-gz" '])
    assert.ok(namesTag(header, 't'), header);
  for (const header of [undefined, '', 't', '"t-zz"', '"T"', '"tt"', '"x"'])
    assert.not.ok(namesTag(header, 't'));
});

answers(
  'a shelf never holds more than its bytes, keeps what is used, and forgets in favour of the new',
  () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(30), fc.nat(20_000)), { maxLength: 300 }), (steps) => {
        const most = 200_000;
        const shelf = createShelf<{ key: string }>(most);
        const last = new Map<string, { key: string }>();
        for (const [number, bytes] of steps) {
          const key = `k${number}`;
          const value = { key };
          shelf.set(key, value, bytes);
          last.set(key, value);
          assert.ok(shelf.bytes() <= most, `${shelf.bytes()} bytes`);
          assert.is(shelf.get(key), value, 'what was just put is there');
          for (const [name, wanted] of last) {
            const has = shelf.has(name);
            const found = shelf.get(name);
            assert.is(has, found !== undefined);
            assert.ok(found === undefined || found === wanted, 'never an older value');
          }
        }
        shelf.clear();
        assert.equal([shelf.size(), shelf.bytes()], [0, 0]);
      }),
    );
  },
);

answers('what is asked for again and again stays while others come and go', () => {
  const shelf = createShelf<{ number: number }>(100_000);
  const loved = { number: -1 };
  shelf.set('loved', loved, 5000);
  for (let number = 0; number < 500; number++) {
    shelf.set(`other-${number}`, { number }, 5000);
    assert.is(shelf.get('loved'), loved, `after ${number} others`);
  }
  assert.is(shelf.get('other-0'), undefined);
});

answers('a value that would take most of the shelf alone is not kept', () => {
  const shelf = createShelf<object>(100_000);
  shelf.set('small', {}, 10);
  shelf.set('huge', {}, 90_000);
  assert.is(shelf.get('huge'), undefined);
  assert.ok(shelf.get('small'));
});

answers(
  'a value that grows stays within the bytes of the shelf, and goes where it would take most of it',
  () => {
    const most = 100_000;
    const shelf = createShelf<{ key: number }>(most);
    const values = Array.from({ length: 10 }, (_, key) => ({ key }));
    for (const value of values) {
      shelf.set(`k${value.key}`, value, 5000);
      shelf.grow(value, 10_000);
      assert.ok(shelf.bytes() <= most, `${shelf.bytes()} bytes`);
      assert.is(shelf.get(`k${value.key}`), value);
    }
    const last = values.at(-1)!;
    shelf.grow(last, most / 4);
    assert.is(shelf.get('k9'), undefined);
    const bytes = shelf.bytes();
    for (const gone of [last, values[0]!, { key: 0 }]) shelf.grow(gone, 10_000);
    assert.is(shelf.bytes(), bytes, 'what is not here is not counted');
  },
);

answers.run();
