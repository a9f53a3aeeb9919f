import * as assert from 'uvu/assert';
import { isNetwork, networkMatcher } from '../src/addresses.ts';
import { suite } from './support/harness.ts';

const addresses = suite('Addresses');

addresses('an address or a network is known, anything else is not', () => {
  for (const good of ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '::/128'])
    assert.ok(isNetwork(good), good);
  for (const bad of [
    '',
    'host',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.1/',
    '10.0.0.1/8/8',
    '::1/129',
    '10.0.0.1/-1',
  ])
    assert.not.ok(isNetwork(bad), bad);
});

addresses(
  'an address is in its networks, also written as IPv6, and a text that is no address never is',
  () => {
    const matches = networkMatcher(['10.1.0.0/16', '192.0.2.7', 'fd00::/8']);
    for (const inside of ['10.1.255.255', '192.0.2.7', '::ffff:10.1.0.1', 'fdff::1'])
      assert.ok(matches(inside), inside);
    for (const outside of ['10.2.0.0', '192.0.2.8', 'fe00::1', '::1', '', 'unknown', '10.1.0.1, 10.1.0.2'])
      assert.not.ok(matches(outside), outside);
    assert.not.ok(networkMatcher([])('10.1.0.1'));
  },
);

addresses.run();
