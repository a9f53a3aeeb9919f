import * as assert from 'uvu/assert';
import { type User, viewerKey } from '../../src/auth/viewer.ts';
import { unauthorized } from '../../src/base/errors.ts';
import { rememberTokens } from '../../src/http/verified-tokens.ts';
import { suite } from '../support/harness.ts';

const remembered = suite('Tokens that were just verified');

function user(subject: string, more: Partial<User> = {}): User {
  return {
    kind: 'user',
    subject,
    email: null,
    organization: null,
    entitlements: new Set(),
    expiresAt: 1000,
    ...more,
  };
}

/** A verifier that counts, and takes every token but `bad`. */
function counting(expiresAt = 1000) {
  const seen: string[] = [];
  const state = { now: 0, keys: 0, seen };
  const tokens = rememberTokens(
    async (token) => {
      seen.push(token);
      if (token.startsWith('bad')) throw unauthorized();
      return user(token, { expiresAt });
    },
    () => state.keys,
    () => new Date(state.now),
    10,
  );
  return { state, tokens };
}

remembered('never past its exp, not by the tolerance of the clock either', async () => {
  const { state, tokens } = counting();
  state.now = 900_000;
  await tokens.verify('a');
  state.now = 999_999;
  assert.ok(tokens.known('a', ''));
  state.now = 1_000_000;
  assert.is(tokens.known('a', ''), null);
  await tokens.verify('a');
  assert.equal(state.seen, ['a', 'a']);
});

remembered('a token counts for the address that it came from, and for five minutes', async () => {
  const { state, tokens } = counting();
  await tokens.verify('a', '192.0.2.1');
  assert.is(tokens.known('a', '192.0.2.2'), null);
  const first = tokens.known('a', '192.0.2.1')!;
  state.now = 5 * 60_000 - 1;
  assert.is(tokens.known('a', '192.0.2.1'), first);
  state.now++;
  assert.is(tokens.known('a', '192.0.2.1'), null);
});

remembered('another key set means another look', async () => {
  const { state, tokens } = counting();
  await tokens.verify('a');
  state.keys++;
  assert.is(tokens.known('a', ''), null);
  await tokens.verify('a');
  assert.equal(state.seen, ['a', 'a']);
});

remembered('a key set that changes while a token is being verified leaves nothing behind', async () => {
  let keys = 0;
  const tokens = rememberTokens(
    async (token) => {
      keys++;
      return user(token);
    },
    () => keys,
    () => new Date(0),
  );
  await tokens.verify('a');
  assert.is(tokens.known('a', ''), null);
});

remembered('who asks is told apart by subject, organization and entitlements', () => {
  const callers = [
    user('ann'),
    user('ann', { organization: 'red' }),
    user('ann","red'),
    user('ann', { organization: 'red","occ' }),
    user('ann', { organization: 'red', entitlements: new Set(['occ']) }),
    user('ann', { organization: 'red', entitlements: new Set(['occ', 'regdoc']) }),
    user('ann', { entitlements: new Set(['regdoc']) }),
  ].map(viewerKey);
  callers.push(viewerKey({ kind: 'integration', id: 'ann', organization: 'red' }));
  assert.is(new Set(callers).size, callers.length);
  const both = [new Set(['occ', 'regdoc'] as const), new Set(['regdoc', 'occ'] as const)];
  assert.is(
    viewerKey(user('x', { entitlements: both[0]! })),
    viewerKey(user('x', { entitlements: both[1]! })),
  );
});

remembered.run();
