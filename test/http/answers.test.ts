import * as assert from 'uvu/assert';
import type { Viewer } from '../../src/auth/viewer.ts';
import { createAnswerCache, type Freshness } from '../../src/http/cache.ts';
import { namesTag } from '../../src/http/coding.ts';
import { suite } from '../support/harness.ts';

const answers = suite('Cached answers');

/** A cache over a database that changes when a test says so. */
function cacheOf(maxSize?: number) {
  const state = { version: 1, users: 1 };
  const fresh: Freshness = {
    catalogVersion: () => String(state.version),
    audience: { version: () => String(state.users) },
  };
  const cache = createAnswerCache(fresh, maxSize);
  const store = (address: string, viewer: Viewer | null, text: string, stamp = cache.stamp(viewer)) => {
    const bytes = Buffer.from(text);
    const answer = { bytes, headers: { etag: '"t"' }, stamp, route: '/r', access: 'user', expensive: false };
    cache.store(address, viewer, 'identity', answer);
  };
  const find = (address: string, viewer: Viewer | null) => {
    const found = cache.find(address, viewer, 'identity');
    return found && String(found.bytes);
  };
  return { state, cache, store, find };
}

function viewer(subject: string): Viewer {
  return { kind: 'user', subject, email: null, organization: null, entitlements: new Set(), expiresAt: 0 };
}
const [ann, bob] = [viewer('ann'), viewer('bob')];

answers('what depends on the catalog is shared until the catalog changes', async () => {
  const { state, store, find } = cacheOf();
  store('/a', null, 'one');
  state.users++;
  assert.equal([find('/a', null), find('/a', ann), find('/b', null)], ['one', null, null]);
  state.version++;
  assert.is(find('/a', null), null);
});

answers('what depends on users’ data is one caller’s, until something changes for them', async () => {
  const { state, store, find } = cacheOf();
  for (const change of ['users', 'version'] as const) {
    store('/a', ann, 'hers');
    assert.equal([find('/a', bob), find('/a', null)], [null, null]);
    assert.equal(
      [find('/a', ann), find('/a', viewer('ann'))],
      ['hers', 'hers'],
      'whoever has the same rights',
    );
    state[change]++;
    assert.is(find('/a', ann), null);
  }
});

answers('callers and addresses cannot be read one for the other', async () => {
  const { store, find } = cacheOf();
  store('/b /c', ann, '1');
  for (const address of ['/c', '["ann",null] /b /c', '["ann",null]\n/b /c'])
    for (const other of [viewer('["ann",null] /b'), bob, null]) assert.is(find(address, other), null);
  assert.is(find('/b /c', ann), '1');
});

answers('what was made while something changed is not cached', async () => {
  const { state, cache, store, find } = cacheOf();
  const stamp = cache.stamp(null);
  state.version++;
  store('/a', null, 'old', stamp);
  assert.is(find('/a', null), null);
  const own = cache.stamp(ann);
  state.users++;
  store('/a', ann, 'old', own);
  assert.is(find('/a', ann), null);
});

answers('a tag is named in any coding, in a list, weak or as anything', () => {
  for (const tag of ['"t"', '"t-br"', '"t-gzip"']) {
    for (const header of ['"t"', 'W/"t"', '"t-br"', '"t-gzip"', '"x", "t"', '*', ' "x" , W/"t-gzip" '])
      assert.ok(namesTag(header, tag), header);
    for (const header of [undefined, '', 't', '"t', '"t-zz"', '"T"', '"tt"', '"x"'])
      assert.not.ok(namesTag(header, tag));
  }
});

answers('no more is cached than the bytes allow, and what is used stays', async () => {
  const most = 400_000;
  const { cache, store, find } = cacheOf(most);
  store('/loved', null, 'x');
  for (let number = 0; number < 500; number++) {
    store(`/other-${number}`, null, 'y'.repeat(20_000));
    assert.is(find('/loved', null), 'x', `after ${number} others`);
    assert.ok(cache.stats().bytes <= most, `${cache.stats().bytes} bytes`);
  }
  assert.is(find('/other-0', null), null);
  store('/huge', null, 'z'.repeat(most / 2));
  assert.is(find('/huge', null), null, 'what would take most of it alone is not cached');
});

answers.run();
