import * as assert from 'uvu/assert';
import type { Viewer } from '../../src/auth/viewer.ts';
import { createAnswers, type Freshness, type Made } from '../../src/http/cache/answers.ts';
import { keepTexts } from '../../src/http/cache/keep-texts.ts';
import { namesTag } from '../../src/http/coding.ts';
import { suite } from '../support/harness.ts';

const answers = suite('Kept answers');

/** A database that changes when a test says so. */
function fakeDatabase() {
  const state = { version: 1, users: 1 };
  const fresh: Freshness = {
    catalogVersion: () => String(state.version),
    audience: { version: () => String(state.users) },
  };
  return { state, fresh };
}

function viewer(subject: string): Viewer {
  return {
    kind: 'user',
    subject,
    email: null,
    organization: null,
    entitlements: new Set(),
    expiresAt: 0,
  };
}
const [ann, bob] = [viewer('ann'), viewer('bob')];

function made(text: string): Made {
  return {
    bytes: Buffer.from(text),
    headers: { 'content-type': 'text/plain' },
    tag: `tag-of-${text.length}`,
  };
}

const about = { route: '/r', access: 'user', expensive: false };

answers('what depends on the catalog is shared until the catalog changes', () => {
  const { state, fresh } = fakeDatabase();
  const kept = createAnswers(fresh);
  kept.keep('/a', null, kept.stamp(null), made('one'), about);
  state.users++;
  assert.is(kept.find('/a', null)?.made.tag, 'tag-of-3');
  assert.is(kept.find('/a', ann), undefined);
  assert.is(kept.find('/b', null), undefined);
  state.version++;
  assert.is(kept.find('/a', null), undefined);
  assert.equal(kept.stats(), { ...kept.stats(), hits: 1, misses: 1 });
});

answers('what depends on users’ data is one caller’s, until something changes for them', () => {
  const { state, fresh } = fakeDatabase();
  const kept = createAnswers(fresh);
  for (const change of ['users', 'version'] as const) {
    kept.keep('/a', ann, kept.stamp(ann), made('hers'), about);
    for (const other of [bob, null]) assert.is(kept.find('/a', other), undefined);
    assert.is(kept.find('/a', ann)?.made.tag, 'tag-of-4');
    assert.is(kept.find('/a', viewer('ann'))?.made.tag, 'tag-of-4', 'whoever has the same rights');
    state[change]++;
    assert.is(kept.find('/a', ann), undefined);
  }
});

answers('a kept text is made once for each state of the catalog', async () => {
  const { state, fresh } = fakeDatabase();
  let made = 0;
  const kept = keepTexts(createAnswers(fresh));
  const make = async () => `${++made}, café`;
  assert.equal(
    [await kept('a', make), await kept('a', make), await kept('b', make)],
    ['1, café', '1, café', '2, café'],
  );
  state.version++;
  assert.is(await kept('a', make), '3, café');
  const changing = async () => {
    state.version++;
    return make();
  };
  assert.equal([await kept('c', changing), await kept('c', make)], ['4, café', '5, café']);
});

answers('callers and addresses cannot be read one for the other', () => {
  const { fresh } = fakeDatabase();
  const kept = createAnswers(fresh);
  kept.keep('/b /c', ann, kept.stamp(ann), made('1'), about);
  for (const address of ['/c', '["ann",null] /b /c', '["ann",null]\n/b /c'])
    for (const other of [viewer('["ann",null] /b'), bob]) assert.is(kept.find(address, other), undefined);
  assert.is(kept.find('/b /c', ann)?.made.tag, 'tag-of-1');
});

answers('what was made while something changed is not kept', () => {
  const { state, fresh } = fakeDatabase();
  const kept = createAnswers(fresh);
  const stamp = kept.stamp(null);
  state.version++;
  const late = kept.keep('/a', null, stamp, made('old'), about);
  assert.is(String(late.variants.get('identity')!.body), 'old', 'its own caller has it');
  assert.is(kept.find('/a', null), undefined);
  const own = kept.stamp(ann);
  state.users++;
  kept.keep('/a', ann, own, made('old'), about);
  assert.is(kept.find('/a', ann), undefined);
});

answers('a tag is named in any coding, in a list, weak or as anything', () => {
  for (const header of ['"t"', 'W/"t"', '"t-br"', '"t-gz"', '"x", "t"', '*', ' "x" , W/"t-gz" '])
    assert.ok(namesTag(header, 't'), header);
  for (const header of [undefined, '', 't', '"t-zz"', '"T"', '"tt"', '"x"'])
    assert.not.ok(namesTag(header, 't'));
});

answers('no more is kept than the bytes allow, and what is used stays', () => {
  const { fresh } = fakeDatabase();
  const most = 400_000;
  const kept = createAnswers(fresh, most);
  kept.keep('/loved', null, kept.stamp(null), made('x'), about);
  for (let number = 0; number < 500; number++) {
    const bytes = Buffer.alloc(20_000);
    kept.keep(`/other-${number}`, null, kept.stamp(null), { bytes, headers: {}, tag: 't' }, about);
    assert.ok(kept.find('/loved', null), `after ${number} others`);
    assert.ok(kept.stats().bytes <= most, `${kept.stats().bytes} bytes`);
  }
  assert.is(kept.find('/other-0', null), undefined);
  const huge = { bytes: Buffer.alloc(most / 2), headers: {}, tag: 't' };
  kept.keep('/huge', null, kept.stamp(null), huge, about);
  assert.is(kept.find('/huge', null), undefined, 'what would take most of it alone is not kept');
});

answers.run();
