import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { goodChain } from '../../src/auth/certificate-chain.ts';
import { type CertificateFacts, readCertificate } from '../../src/auth/certificate-facts.ts';
import { subjectOf } from '../../src/auth/certificate-name.ts';
import { loadCertificates } from '../../src/auth/certificates.ts';
import { isRevoked, type RevocationList, readRevocationLists } from '../../src/auth/revocation-list.ts';
import { createRevocations } from '../../src/auth/revocations.ts';
import { SignInRefused } from '../../src/auth/sign-in-refused.ts';
import type { Config } from '../../src/base/config.ts';
import { silentLog } from '../../src/base/log.ts';
import { readWorkerMessages } from '../../src/base/worker-messages.ts';
import { rejects, suite } from '../support/harness.ts';
import * as pki from '../support/pki.ts';
import { der, sequence } from '../support/pki.ts';
import { put, scratchFolder } from '../support/scratch.ts';

// Names in certificates, chains and revocation lists (rule D43.1), without a server.
const certificates = suite('Certificates');

const { alternativeNames, emailName, issue, nameOf, otherName } = pki;
const root = pki.authority('Root');

const subject = (extensionsOrName: Buffer[] | Buffer, kind: Config['certSubject']) => {
  const wish = Array.isArray(extensionsOrName)
    ? { extensions: extensionsOrName }
    : { name: extensionsOrName };
  try {
    return subjectOf(readCertificate(issue(root, wish).der), kind);
  } catch (error) {
    return (error as SignInRefused).reason;
  }
};
const none = 'CERTIFICATE_WITHOUT_NAME';

certificates('the subject is the one name of its kind, as written', () => {
  const upn = [alternativeNames(emailName('a@test.mil'), otherName('Ünïcode.1234567890@MIL'))];
  assert.is(subject(upn, 'upn'), 'Ünïcode.1234567890@MIL');
  assert.is(subject(upn, 'email'), 'a@test.mil');
  assert.is(subject([alternativeNames(otherName('x'.repeat(255)))], 'upn'), 'x'.repeat(255));
  // An other name of another type is none of ours.
  assert.is(subject([alternativeNames(otherName('x', '1.2.3'), otherName('y'))], 'upn'), 'y');
  assert.is(subject([alternativeNames(emailName('a@b.c'), emailName('d@e.f'))], 'email'), none);
  assert.is(subject(nameOf(['C', 'US'], ['CN', 'DOE.JOHN.1234567890']), 'cn'), 'DOE.JOHN.1234567890');
  assert.is(subject(nameOf(['CN', 'a'], ['CN', 'b']), 'cn'), none);
  const twice: Parameters<typeof nameOf>[0] = 'a b'.split(' ').map((each) => ['CN', each]);
  assert.is(subject(nameOf(twice), 'cn'), none);
  assert.is(subject(nameOf(['O', 'a']), 'cn'), none);
});

certificates('a distinguished name is that of RFC 4514', () => {
  const net: ['DC', string] = ['DC', 'net'];
  const sales: ['OU', string] = ['OU', 'Sales'];
  const cases: [Buffer, string][] = [
    // The examples of RFC 4514 section 4.
    [nameOf(['DC', 'net'], ['DC', 'example'], ['UID', 'jsmith']), 'UID=jsmith,DC=example,DC=net'],
    [nameOf(net, [sales, ['CN', 'J.  Smith']]), 'OU=Sales+CN=J.  Smith,DC=net'],
    [nameOf(net, ['CN', 'James "Jim" Smith, III']), 'CN=James \\"Jim\\" Smith\\, III,DC=net'],
    [nameOf(net, ['CN', 'Lučić']), 'CN=Lučić,DC=net'],
    [nameOf(['CN', ' #a ']), 'CN=\\ #a\\ '],
    [nameOf(['CN', '#a']), 'CN=\\#a'],
    [nameOf(['CN', 'a=b+c;<d>\\']), 'CN=a=b\\+c\\;\\<d\\>\\\\'],
    // A type without a name of its own is written by number, with its DER.
    [nameOf(['CN', 'a'], ['email', 'a@b']), '1.2.840.113549.1.9.1=#1603614062,CN=a'],
  ];
  for (const [name, text] of cases) assert.is(subject(name, 'dn'), text);
  assert.is(subject(nameOf(['CN', 'a\nb']), 'dn'), none);
  assert.is(subject(nameOf(['CN', 'x'.repeat(253)]), 'dn'), none);
  assert.is(subject(nameOf(), 'dn'), none);
});

const upn = 'ann@test.mil';
const day = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * day);

certificates('who lets nobody in, and why (test/auth/doors-attacks.test.ts tries the ways)', async () => {
  const { keyUsage, extendedKeyUsage, usages, person } = pki;
  const issuing = pki.authority('Issuing', root);
  const other = pki.authority('Issuing', pki.authority('Root'));
  const noSigner = pki.authority('No signer', root, {
    extensions: [pki.basicConstraints(true), keyUsage(6)],
  });
  const absent = pki.authority('Absent', root);
  const folder = scratchFolder();
  const ca = [root, issuing, noSigner].map(({ cert }) => cert).join('');
  const tlsClientCa = put(folder, 'ca.pem', ca);
  const settings = { tlsClientCa, tlsCrl: null, people: null, certSubject: 'upn' as const };
  const ways = await loadCertificates(settings, () => new Date(), silentLog);
  const identify = ({ der }: pki.Issued) => {
    try {
      return ways.identify(der).subject;
    } catch (error) {
      return (error as SignInRefused).reason.replace('CERTIFICATE_', '');
    }
  };
  const by = (...extensions: Buffer[]) => issue(issuing, { extensions });
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const small = generateKeyPairSync('ec', { namedCurve: 'secp224r1' }).privateKey;
  const named = (...names: Buffer[]) =>
    by(alternativeNames(...names), keyUsage(0), extendedKeyUsage(usages.client));
  const upnOf = alternativeNames(otherName(upn));
  const uri = `x, othername:UPN::${upn}, othername:${pki.upnType};UTF8:${upn}`;
  assert.is(identify(by(...person(upn))), upn);
  for (const [reason, bad] of Object.entries({
    EXPIRED: [issue(issuing, { from: ago(9), to: ago(1) })],
    NOT_YET_VALID: [issue(issuing, { from: ago(-1), to: ago(-9) })],
    NOT_TRUSTED: [
      issue(other),
      issue(null),
      issue(issuing, { signedBy: other.key }),
      issue(by(...person(upn))),
      issue(noSigner),
      issue(absent),
    ],
    NOT_FOR_CLIENTS: [
      issuing,
      by(upnOf, extendedKeyUsage(usages.server)),
      // Any purpose leaves out clients.
      by(upnOf, extendedKeyUsage(usages.any)),
      by(upnOf, keyUsage(2)),
    ],
    WEAK: [issue(issuing, { key: weak }), issue(issuing, { key: small }), issue(issuing, { hash: 'sha1' })],
    MALFORMED: [by(upnOf, ...person(upn))],
    UNSUPPORTED: [by(...person(upn), pki.extension('1.2.3.4', der(5), true))],
    WITHOUT_NAME: [
      by(keyUsage(0), extendedKeyUsage(usages.client)),
      named(emailName(upn)),
      named(otherName(upn), otherName('b@test.mil')),
      named(otherName(upn), otherName(upn)),
      named(pki.uriName(uri)),
      named(otherName(upn, '1.3.6.1.4.1.311.20.2.30')),
      named(otherName(der(0x0c, Buffer.from([0x61, 0xff, 0x62])))),
      named(otherName(der(0x16, Buffer.from(upn)))),
      ...['', 'x'.repeat(256), `${upn}\nroot`, `${upn}\0.evil`, `${upn}\u0085`].map((each) =>
        named(otherName(each)),
      ),
    ],
  }))
    assert.equal(
      bad.map(identify),
      bad.map(() => reason),
    );
});

/** The reason why a chain is refused, or its length. */
function judged(
  person: pki.Issued,
  authorities: pki.Issued[],
  revoked: Record<string, bigint[]> = {},
): string | number {
  const all = authorities.map((each) => readCertificate(each.der));
  const checkRevocation = ({ serial }: CertificateFacts, { x509 }: CertificateFacts) => {
    const cn = /CN=(.*)/.exec(x509.subject)![1]!;
    const hex = (each: bigint) => each.toString(16).padStart(4, '0');
    if (revoked[cn]?.map(hex).includes(serial)) throw new SignInRefused('CERTIFICATE_REVOKED');
  };
  try {
    const trust = { authorities: all, checkRevocation, now: Date.now() };
    return goodChain(readCertificate(person.der), trust).length;
  } catch (error) {
    return (error as SignInRefused).reason;
  }
}

certificates('chains end at a root or at what nobody in the file issued', () => {
  const [isCa, signs] = [pki.basicConstraints(true), pki.keyUsage(5, 6)];
  const issuing = pki.authority('Issuing', root);
  const below = pki.authority('Below', issuing);
  const person = issue(issuing);
  assert.is(judged(person, [root, issuing]), 3);
  assert.is(judged(person, [issuing]), 2, 'an operator may name the issuing authority alone');
  assert.is(judged(person, [root]), 'CERTIFICATE_NOT_TRUSTED');
  assert.is(judged(issue(below), [root, issuing, below]), 4);
  assert.is(judged(person, [root, issuing], { Root: [issuing.serial] }), 'CERTIFICATE_REVOKED');
  assert.is(judged(person, [root, issuing], { Issuing: [person.serial], Root: [] }), 'CERTIFICATE_REVOKED');

  const flat = pki.authority('Flat', root, { extensions: [pki.basicConstraints(true, 0), signs] });
  const under = pki.authority('Under', flat);
  assert.is(judged(issue(flat), [root, flat]), 3);
  assert.is(
    judged(issue(under), [root, flat, under]),
    'CERTIFICATE_NOT_TRUSTED',
    'no authority may stand below it',
  );
  const forServers = pki.authority('Servers', root, {
    extensions: [isCa, signs, pki.extendedKeyUsage(pki.usages.server)],
  });
  assert.is(judged(issue(forServers), [root, forServers]), 'CERTIFICATE_NOT_FOR_CLIENTS');
  const constrained = pki.authority('Constrained', root, {
    extensions: [isCa, signs, pki.extension('2.5.29.30', sequence(der(0xa0, sequence(emailName('mil')))))],
  });
  assert.is(judged(issue(constrained), [root, constrained]), 'CERTIFICATE_UNSUPPORTED', 'name constraints');
  const policies = pki.authority('Policies', root, {
    extensions: [isCa, signs, pki.extension('2.5.29.36', sequence(der(0x80, Buffer.from([0]))), true)],
  });
  assert.is(judged(issue(policies), [root, policies]), 3, 'as those of the Department of Defense');
  const over = pki.authority('Over', root, { from: new Date(0), to: new Date(Date.now() - 1000) });
  assert.is(judged(issue(over), [root, over]), 'CERTIFICATE_NOT_TRUSTED');
  const weak = pki.authority('Weak', root, { hash: 'sha1' });
  assert.is(judged(issue(weak), [root, weak]), 'CERTIFICATE_WEAK');

  // One name, two keys: the one that signed counts, whatever the order.
  const renewed = pki.authority('Issuing', root);
  for (const order of [
    [root, issuing, renewed],
    [renewed, issuing, root],
  ]) {
    assert.is(judged(person, order), 3);
    assert.is(judged(issue(renewed), order), 3);
  }
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const big = pki.authority('Big', root, { key: rsa });
  assert.is(judged(issue(big), [root, big]), 3);
  // Two that issued each other lead nowhere.
  const a = pki.authority('A', root);
  const b = pki.authority('B', a);
  const loop = pki.authority('A', b, { key: a.key });
  assert.is(judged(issue(b), [b, loop]), 'CERTIFICATE_NOT_TRUSTED');
});

const signerOf = ({ name, key }: pki.Issued) => ({ id: `${name.toString('base64')} x`, key });
const read = (bytes: string | Buffer, ...signers: pki.Issued[]) =>
  readRevocationLists(Buffer.from(bytes as string), signers.map(signerOf));
const holds = ([list]: RevocationList[], ...serials: string[]) =>
  serials.map((each) => isRevoked(list!, each));

certificates('lists in DER and PEM, of one and of several authorities', () => {
  const other = pki.authority('Other');
  const list = pki.revocationList(root, [1n, 0x80n, 0xffffffffffffffffffffn, 7n]);
  const inText = `Certificate Revocation List:\r\n${pki.listPem(list).replaceAll('\n', '\r\n')}`;
  for (const bytes of [list, pki.listPem(list), inText]) {
    const lists = read(bytes, root);
    assert.ok(holds(lists, '01', '80', 'ff'.repeat(10), '07').every(Boolean));
    assert.not.ok(holds(lists, '02', '00', '0180', 'ff'.repeat(9), 'ff'.repeat(11)).some(Boolean));
  }
  const both = pki.listPem(list) + pki.listPem(pki.revocationList(other, [9n]));
  const listed = read(both, other, root).map((each) => isRevoked(each, '09'));
  assert.equal(listed, [false, true]);
  assert.equal(holds(read(both, other), '09'), [true]);
  assert.equal(read(both), []);
  assert.equal(holds(read(pki.revocationList(root, []), root), '01'), [false]);
  const rsa = pki.authority('RSA', null, {
    key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  });
  assert.equal(holds(read(pki.revocationList(rsa, [5n]), rsa), '05'), [true]);
  // Thousands of different lengths, each with an extension.
  const many = Array.from({ length: 30_000 }, (_, index) => BigInt(index * 7919 + 1) ** 4n + 1n);
  const hex = (serial: bigint) => serial.toString(16).replace(/^(?=(?:..)*.$)/, '0');
  const reason = pki.extension('2.5.29.21', der(0x0a, Buffer.from([1])));
  const long = pki.revocationList(root, many, { entryExtensions: sequence(reason) });
  for (const bytes of [long, pki.listPem(long)]) {
    const found = read(bytes, root);
    assert.ok(many.every((serial) => holds(found, hex(serial))[0]));
    assert.not.ok(many.some((serial) => holds(found, hex(serial + 1n))[0]));
  }
});

certificates('a list that was changed anywhere, or cut, is refused', () => {
  const list = pki.revocationList(root, [1n, 2n, 3n]);
  for (let at = 0; at < list.length; at++) {
    const changed = Buffer.from(list);
    changed[at] = changed[at]! ^ 1;
    let found: RevocationList[] = [];
    try {
      found = read(changed, root);
    } catch {
      // Whose issuer was changed is a list of another authority; any other list is refused.
    }
    assert.equal(found, [], `byte ${at}`);
  }
  for (let at = 0; at < list.length; at += 5) assert.throws(() => read(list.subarray(0, at), root), /./);
  const critical = pki.extension('2.5.29.29', sequence(), true);
  assert.throws(
    () => read(pki.revocationList(root, [1n], { entryExtensions: sequence(critical) }), root),
    /of another authority/,
  );
  const partial = [pki.extension('2.5.29.28', sequence(der(0x81, Buffer.from([255]))), true)];
  const delta = [Buffer.from('300d0603551d1b0101ff0403020101', 'hex')];
  for (const extensions of [partial, delta])
    assert.throws(() => read(pki.revocationList(root, [1n], { extensions }), root), /not a whole list/);
  assert.throws(() => read(pki.revocationList(root, [1n], { to: null }), root), /./);
  assert.throws(() => read(Buffer.concat([list, Buffer.from([0])]), root), /something follows it/);
  assert.throws(() => read(sequence(Buffer.alloc(1000)), root), /too many parts/);
  for (const wrong of ['-----BEGIN X509 CRL-----\nAAAA', `${pki.listPem(list)}`.replace('M', '!')])
    assert.throws(() => read(wrong, root), /it has no line|not base64/);
});

/** Whether the list of an authority names a number; undefined without a list. */
function isListedBy(
  revocations: ReturnType<typeof createRevocations>,
  authority: CertificateFacts,
  serial: string,
): boolean | undefined {
  try {
    revocations.check({ ...authority, serial }, authority, false);
    return false;
  } catch (error) {
    return (error as SignInRefused).reason === 'CERTIFICATE_REVOKED' ? true : undefined;
  }
}

certificates('a worker reads lists; a bad file keeps its former ones, a removed one has none', async () => {
  const folder = scratchFolder();
  const facts = readCertificate(root.der);
  const revocations = createRevocations(folder, () => new Date(), silentLog);
  const reload = async () => [...(await revocations.reload([facts])).values()];
  const isListed = (serial: string) => isListedBy(revocations, facts, serial);
  const file = put(folder, 'root.crl', pki.revocationList(root, [7n]));
  const other = put(folder, 'empty.crl', '');
  assert.equal(await reload(), ['it is empty']);
  rmSync(other);
  assert.equal([isListed('07'), isListed('08')], [true, false]);
  writeFileSync(file, 'hello');
  for (let times = 0; times < 2; times++) assert.equal(await reload(), ['it holds no revocation list']);
  assert.is(isListed('07'), true);
  // Of other authorities, though of the same name, nothing that was read counts.
  await revocations.reload([readCertificate(pki.authority('Root').der)]);
  assert.is(isListed('07'), undefined);
  writeFileSync(file, pki.listPem(pki.revocationList(root, [8n])));
  assert.equal(await reload(), []);
  assert.is(isListed('08'), true);
  rmSync(file);
  assert.equal(await reload(), []);
  assert.is(isListed('08'), undefined);
  assert.is(revocations.nextUpdate(), 0);
});

certificates(
  'a worker that fails, or cannot be started, is told of, and the next reading has another',
  async () => {
    await rejects(
      readWorkerMessages('auth/none', null, () => undefined),
      /Cannot find module/,
    );
    const folder = scratchFolder();
    put(folder, 'root.crl', pki.revocationList(root, [7n]));
    const facts = readCertificate(root.der);
    const revocations = createRevocations(folder, () => new Date(), silentLog);
    const publicKey = { export: () => Buffer.from('no key of Node') };
    const wrong = { ...facts, x509: { subject: 'Wrong', publicKey } } as unknown as CertificateFacts;
    const failures = await revocations.reload([wrong]);
    assert.match([...failures.values()].join(), /could not be cloned/);
    assert.is((await revocations.reload([facts])).size, 0);
    assert.is(isListedBy(revocations, facts, '07'), true);
  },
);

certificates('a file that takes a minute is lost alone, and a stop ends the reading', async () => {
  const folder = scratchFolder();
  const slow = put(folder, 'a.crl', pki.revocationList(root, [7n]));
  put(folder, 'b.crl', pki.revocationList(root, [8n]));
  const facts = readCertificate(root.der);
  const revocations = createRevocations(folder, () => new Date(), silentLog);
  mock.timers.enable({ apis: ['setTimeout'] });
  const reading = revocations.reload([facts]);
  await setImmediate();
  mock.timers.tick(60_000);
  mock.timers.reset();
  assert.equal([...(await reading)], [[slow, 'it took longer than a minute']]);
  assert.is(isListedBy(revocations, facts, '08'), true);
  const stopping = new AbortController();
  const stopped = revocations.reload([facts], stopping.signal);
  stopping.abort();
  await rejects(stopped, /aborted/);
  assert.is(isListedBy(revocations, facts, '08'), true);
});

certificates('a removed authority counts no more while the lists are read', async () => {
  const other = pki.authority('Other');
  const file = put(scratchFolder(), 'ca.pem', root.cert + other.cert);
  const tlsCrl = scratchFolder();
  for (const each of [root, other]) put(tlsCrl, `${each === root}.crl`, pki.revocationList(each, []));
  const settings = { tlsClientCa: file, tlsCrl, certSubject: 'upn' as const, people: null };
  const ways = await loadCertificates(settings, () => new Date(), silentLog);
  const person = issue(other).der.toString('base64');
  assert.is(ways.standing(person), 'good');
  writeFileSync(file, root.cert);
  let isRead = false;
  const reloading = Promise.resolve(ways.followed(() => undefined)[0]!.reload()).then(() => {
    isRead = true;
  });
  while (!isRead && ways.standing(person) === 'good') await setImmediate();
  assert.equal([isRead, ways.standing(person)], [false, 'over']);
  await reloading;
});

certificates.run();
