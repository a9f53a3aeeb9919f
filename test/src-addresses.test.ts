import * as assert from 'uvu/assert';
import { callerFinder, networkMatcher, plainAddress } from '../src/base/addresses.ts';
import { addressKey } from '../src/http/record.ts';
import { suite } from './support/harness.ts';

const addresses = suite('Addresses');

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

addresses('an address has one spelling', () => {
  const spellings = {
    '2001:db8::1': ['2001:DB8::1', '2001:0db8::0001', '2001:db8:0:0:0:0:0:1', '2001:db8:0:0::0:1'],
    '2001:db8:0:1:1:1:1:1': ['2001:db8::1:1:1:1:1', '2001:0DB8:0000:0001:0001:0001:0001:0001'],
    '::1': ['0:0:0:0:0:0:0:1', '::0001'],
    '192.0.2.1': ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1'],
    'fe80::1%eth0': ['fe80::1%eth0', 'FE80:0::1%eth0'],
    unknown: ['unknown'],
    '': [''],
    '::g': ['::g'],
  };
  for (const [plain, others] of Object.entries(spellings))
    for (const other of others) assert.is(plainAddress(other), plain, other);
});

addresses('a caller is the same however its proxy writes its address', () => {
  const find = callerFinder(networkMatcher(['127.0.0.1']));
  const keys = (...written: string[]) =>
    new Set(written.map((forwarded) => addressKey(find('127.0.0.1', forwarded)))).size;
  assert.is(
    keys('2001:db8:1:2::7', '2001:0DB8:0001:2::7', '[2001:db8:1:02:0::9]:4711', '2001:db8:1:2:3:4:5:6'),
    1,
  );
  assert.is(keys('2001:db8::7', '2001:db8:0:0::7', '2001:db8:0000::1:2:3:4'), 1);
  assert.is(keys('192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '192.0.2.1:4711'), 1);
  assert.is(keys('2001:db8:1:2::7', '2001:db8:1:3::7'), 2);
});

addresses.run();
