import { createHmac, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { sha256 } from '../../src/base/ids.ts';
import { der, sequence } from '../support/certificate.ts';
import {
  type Ask,
  asHeader,
  beginSignIn,
  type Door,
  openDoor,
  postAnswer,
  type Reply,
  type Site,
  sessionOf,
  site,
} from '../support/doors.ts';
import { suite } from '../support/harness.ts';
import * as pki from '../support/pki.ts';
import { killAll, until } from '../support/running.ts';

// Attacks on the ways to come in (rule D43). Each comes from an address of its own, is refused without a session, and
// leaves a line of the audit stream with the reason.
const attacks = suite('Attacks on the ways to come in');

let at: Site;
let tls: Door;
let proxy: Door;
let counted = 0;

attacks.before(async () => {
  at = await site();
  [tls, proxy] = await Promise.all([openDoor(at, 'tls'), openDoor(at, 'proxy')]);
});
attacks.after(() => {
  process.stdout.write(`${counted} attacks\n`);
  killAll();
});

/** Asserts that an attack from an address was refused, and what the audit stream says of it. */
function refused(name: string, door: Door, from: string, reply: Reply, status: number, reason: string): void {
  counted++;
  assert.is(reply.status, status, `${name}: ${reply.text.slice(0, 500)}`);
  assert.is(sessionOf(reply), undefined, name);
  const reasons = door
    .audit(from)
    .filter(({ outcome }) => outcome !== 'success')
    .map((line) => line.reason);
  assert.ok(reasons.includes(reason), `${name}: ${reason} is not among ${reasons.join()}`);
}

let hosts = 0;
const nextFrom = (door: Door) =>
  `${door === tls ? '127.2' : '10.2'}.${Math.floor(++hosts / 200)}.${(hosts % 200) + 1}`;

const { issue, person, otherName, alternativeNames, keyUsage, extendedKeyUsage, usages, extension } = pki;
const form = { with: 'certificate', next: '/' };
const forClients = [keyUsage(0), extendedKeyUsage(usages.client)];
const named = (...names: Buffer[]) => ({ extensions: [alternativeNames(...names), ...forClients] });
const upn = 'ann@test.mil';
const day = 86_400_000;
const past = (days: number) => new Date(Date.now() - days * day);

/** Certificates that let nobody in, by what is wrong, with the reason. */
function badCertificates(): Record<string, [certificate: pki.Issued, reason: string]> {
  const { root, issuing } = at;
  const other = pki.authority('Issuing', pki.authority('Root'));
  const noSigner = pki.authority('No signer', root, {
    extensions: [pki.basicConstraints(true), keyUsage(6)],
  });
  const plain = issue(issuing, { extensions: person(upn) });
  const constrained = pki.authority('Constrained', root, {
    extensions: [
      ...[pki.basicConstraints(true), keyUsage(5, 6)],
      extension('2.5.29.30', sequence(der(0xa0, sequence(pki.emailName('test.mil'))))),
    ],
  });
  return {
    'it has expired': [issue(issuing, { from: past(9), to: past(1) }), 'CERTIFICATE_EXPIRED'],
    'it is not valid yet': [issue(issuing, { from: past(-1), to: past(-9) }), 'CERTIFICATE_NOT_YET_VALID'],
    'an authority of the same name issued it': [issue(other), 'CERTIFICATE_NOT_TRUSTED'],
    'it is its own issuer': [issue(null), 'CERTIFICATE_NOT_TRUSTED'],
    'its signature is forged': [issue(issuing, { signedBy: other.key }), 'CERTIFICATE_NOT_TRUSTED'],
    'a person issued it': [issue(plain), 'CERTIFICATE_NOT_TRUSTED'],
    'its issuer may not sign certificates': [issue(noSigner), 'CERTIFICATE_NOT_TRUSTED'],
    'its issuer is not in the file': [issue(constrained), 'CERTIFICATE_NOT_TRUSTED'],
    'it is that of an authority': [issuing, 'CERTIFICATE_NOT_FOR_CLIENTS'],
    'it is for servers': [
      issue(issuing, { extensions: [alternativeNames(otherName(upn)), extendedKeyUsage(usages.server)] }),
      'CERTIFICATE_NOT_FOR_CLIENTS',
    ],
    'it is for any purpose, which leaves out clients': [
      issue(issuing, { extensions: [alternativeNames(otherName(upn)), extendedKeyUsage(usages.any)] }),
      'CERTIFICATE_NOT_FOR_CLIENTS',
    ],
    'its key is for encryption': [
      issue(issuing, { extensions: [alternativeNames(otherName(upn)), keyUsage(2)] }),
      'CERTIFICATE_NOT_FOR_CLIENTS',
    ],
    'a critical extension is unknown': [
      issue(issuing, { extensions: [...person(upn), extension('1.2.3.4', der(5), true)] }),
      'CERTIFICATE_UNSUPPORTED',
    ],
    'it has no name': [issue(issuing, { extensions: forClients }), 'CERTIFICATE_WITHOUT_NAME'],
    'it has an e-mail address alone': [issue(issuing, named(pki.emailName(upn))), 'CERTIFICATE_WITHOUT_NAME'],
    'it has two UPNs': [
      issue(issuing, named(otherName(upn), otherName('b@test.mil'))),
      'CERTIFICATE_WITHOUT_NAME',
    ],
    'it has one UPN twice': [
      issue(issuing, named(otherName(upn), otherName(upn))),
      'CERTIFICATE_WITHOUT_NAME',
    ],
    'a URI looks like a UPN': [
      issue(issuing, named(pki.uriName(`x, othername:UPN::${upn}, othername:${pki.upnType};UTF8:${upn}`))),
      'CERTIFICATE_WITHOUT_NAME',
    ],
    'another other name holds it': [
      issue(issuing, named(otherName(upn, '1.3.6.1.4.1.311.20.2.30'))),
      'CERTIFICATE_WITHOUT_NAME',
    ],
    'its UPN is empty': [issue(issuing, named(otherName(''))), 'CERTIFICATE_WITHOUT_NAME'],
    'its UPN has 256 characters': [
      issue(issuing, named(otherName('x'.repeat(256)))),
      'CERTIFICATE_WITHOUT_NAME',
    ],
    'its UPN has a line end': [issue(issuing, named(otherName(`${upn}\nroot`))), 'CERTIFICATE_WITHOUT_NAME'],
    'its UPN has a NUL': [issue(issuing, named(otherName(`${upn}\0.evil`))), 'CERTIFICATE_WITHOUT_NAME'],
    'its UPN has a C1 control': [
      issue(issuing, named(otherName(`${upn}\u0085`))),
      'CERTIFICATE_WITHOUT_NAME',
    ],
    'its UPN is not UTF-8': [
      issue(issuing, named(otherName(der(0x0c, Buffer.from([0x61, 0xff, 0x62]))))),
      'CERTIFICATE_WITHOUT_NAME',
    ],
    'its UPN is another kind of text': [
      issue(issuing, named(otherName(der(0x16, Buffer.from(upn))))),
      'CERTIFICATE_WITHOUT_NAME',
    ],
  };
}

attacks('certificates that are not good, through TLS and through a proxy', async () => {
  const all = badCertificates();
  const [revoked, reason] = [issue(at.issuing, { extensions: person(upn) }), 'CERTIFICATE_REVOKED'];
  at.revoke(at.issuing, [1n, revoked.serial, 5n]);
  all['it was revoked'] = [revoked, reason];
  for (const [name, [bad, why]] of Object.entries(all)) {
    for (const door of [tls, proxy]) {
      const from = nextFrom(door);
      const shown: Ask =
        door === tls
          ? { tls: { cert: bad.cert, key: bad.keyPem } }
          : { headers: { 'X-Client-Cert': asHeader(bad.cert) } };
      const ask = () => door.ask('/signin', { form, from, ...shown });
      let reply = await ask();
      if (why === reason)
        await until('the revocation counts', async () => {
          reply = await ask();
          return reply.status !== 303;
        });
      refused(name, door, from, reply, 401, why);
      assert.match(reply.text, /class="problem"/);
    }
  }
});

attacks('certificates that TLS itself refuses', async () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const small = generateKeyPairSync('ec', { namedCurve: 'secp224r1' }).privateKey;
  const { issuing } = at;
  const twice = alternativeNames(otherName(upn));
  const bad: Record<string, [pki.Issued, string]> = {
    'its key has 1024 bits': [issue(issuing, { key: weak }), 'CERTIFICATE_WEAK'],
    'its key is on a small curve': [issue(issuing, { key: small }), 'CERTIFICATE_WEAK'],
    'it is signed with SHA-1': [issue(issuing, { hash: 'sha1' }), 'CERTIFICATE_WEAK'],
    'it has an extension twice': [
      issue(issuing, { extensions: [twice, twice, ...forClients] }),
      'CERTIFICATE_MALFORMED',
    ],
  };
  for (const [name, [each, reason]] of Object.entries(bad)) {
    const from = nextFrom(proxy);
    const reply = await proxy.ask('/signin', {
      form,
      from,
      headers: { 'X-Client-Cert': asHeader(each.cert) },
    });
    refused(name, proxy, from, reply, 401, reason);
  }
});

attacks('headers of a proxy, and of who is none', async () => {
  const ann = issue(at.issuing, { extensions: person(upn) });
  const good = asHeader(ann.cert);
  const longer = Buffer.concat([ann.der, Buffer.from([0])]).toString('base64');
  const cases: [name: string, headers: Record<string, string | string[]>, status: number, reason: string][] =
    [
      ['two headers', { 'X-Client-Cert': [good, good] }, 400, 'BAD_REQUEST'],
      ['two in one', { 'X-Client-Cert': `${good}, ${good}` }, 400, 'BAD_REQUEST'],
      ['two certificates', { 'X-Client-Cert': good + good }, 401, 'CERTIFICATE_MALFORMED'],
      ['no certificate', { 'X-Client-Cert': '' }, 401, 'CERTIFICATE_MISSING'],
      ['another name', { X_Client_Cert: good }, 401, 'CERTIFICATE_MISSING'],
      ['nothing', {}, 401, 'CERTIFICATE_MISSING'],
      ['a text', { 'X-Client-Cert': upn }, 401, 'CERTIFICATE_MALFORMED'],
      ['a key', { 'X-Client-Cert': asHeader(ann.keyPem) }, 401, 'CERTIFICATE_MALFORMED'],
      ['broken escapes', { 'X-Client-Cert': `${good}%zz` }, 401, 'CERTIFICATE_MALFORMED'],
      ['no armor', { 'X-Client-Cert': ann.der.toString('base64') }, 401, 'CERTIFICATE_MALFORMED'],
      [
        'a byte after it',
        { 'X-Client-Cert': asHeader(`-----BEGIN CERTIFICATE-----\n${longer}\n-----END CERTIFICATE-----\n`) },
        401,
        'CERTIFICATE_MALFORMED',
      ],
      [
        'half of it',
        { 'X-Client-Cert': asHeader(ann.cert.replace(/\n.{64}\n/, '\n')) },
        401,
        'CERTIFICATE_MALFORMED',
      ],
      ['another site', { 'X-Client-Cert': good, 'Sec-Fetch-Site': 'cross-site' }, 403, 'FORBIDDEN'],
    ];
  for (const [name, headers, status, reason] of cases) {
    const from = nextFrom(proxy);
    refused(name, proxy, from, await proxy.ask('/signin', { form, from, headers }), status, reason);
  }
  const from = nextFrom(tls);
  const reply = await tls.ask('/signin', { form, from, headers: { 'X-Client-Cert': good } });
  refused('a header under TLS of our own', tls, from, reply, 401, 'CERTIFICATE_MISSING');
  for (const claimed of ['127.0.0.1', '::1', '127.0.0.1, 127.0.0.1']) {
    const own = nextFrom(tls);
    const headers = { 'X-Client-Cert': good, 'X-Forwarded-For': claimed, 'X-Forwarded-Proto': 'https' };
    const sent = await proxy.ask('/signin', { form, from: own, direct: true, headers });
    refused(`who says to be ${claimed}`, proxy, own, sent, 401, 'CERTIFICATE_MISSING');
  }
});

const now = () => Math.floor(Date.now() / 1000);
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

attacks('tokens of the provider that are not ours, old, or for somebody else', async () => {
  const publicKey = readFileSync(join(at.folder, 'jwks.json'), 'utf8');
  const base = {
    iss: at.env.GAPSTONE_ISSUER,
    aud: 'gapstone-pages',
    sub: 'olga',
    iat: now(),
    exp: now() + 900,
  };
  const hmac = (nonce: string) => {
    const text = `${part({ alg: 'HS256', kid: 'p' })}.${part({ ...base, nonce })}`;
    return `${text}.${createHmac('sha256', publicKey).update(text).digest('base64url')}`;
  };
  const tokens: Record<string, (nonce: string) => string | Promise<string>> = {
    'the nonce of another': () => at.idToken({ nonce: 'x' }),
    'no nonce': () => at.idToken({}),
    'for another client': (nonce) => at.idToken({ nonce, aud: 'other' }),
    'for the API': (nonce) => at.idToken({ nonce, aud: 'gapstone-api' }),
    'for two, without saying who asked': (nonce) =>
      at.idToken({ nonce, aud: ['gapstone-pages', 'gapstone-api'] }),
    'asked for by another': (nonce) => at.idToken({ nonce, azp: 'other' }),
    'of another issuer': (nonce) => at.idToken({ nonce, iss: 'https://evil.example' }),
    'no issuer': (nonce) => at.idToken({ nonce, iss: undefined }),
    expired: (nonce) => at.idToken({ nonce, iat: now() - 900, exp: now() - 60 }),
    'from the future': (nonce) => at.idToken({ nonce, iat: now() + 60 }),
    'for ever': (nonce) => at.idToken({ nonce, exp: now() + 91 * 86_400 }),
    'without an end': (nonce) => at.idToken({ nonce, exp: undefined }),
    'of a stranger': (nonce) => at.idToken({ nonce }, { x: 'stranger' }),
    'with another key name': (nonce) => at.idToken({ nonce }, { kid: 'q' }),
    'for signing out': (nonce) => at.idToken({ nonce }, { typ: 'logout+jwt' }),
    'without a subject': (nonce) => at.idToken({ nonce, sub: undefined }),
    'with a control character': (nonce) => at.idToken({ nonce, sub: 'ann\n' }),
    'of 9 KB': (nonce) => at.idToken({ nonce, more: 'x'.repeat(9000) }),
    unsigned: (nonce) => `${part({ alg: 'none' })}.${part({ ...base, nonce })}.`,
    'signed with the public key': hmac,
    'no token': () => 'no.such.token',
  };
  for (const [name, make] of Object.entries(tokens)) {
    const from = nextFrom(tls);
    const begun = await beginSignIn(tls, from);
    const answer = { state: begun.state, id_token: await make(begun.nonce) };
    refused(name, tls, from, await postAnswer(tls, from, begun.cookie, answer), 401, 'TOKEN_INVALID');
  }
});

attacks(
  'sign-ins at the provider that another browser or site began, that are old, or that come twice',
  async () => {
    const began = (from: string) => beginSignIn(tls, from);
    const token = (nonce: string) => at.idToken({ nonce });
    const old = `${now() - 601}.${'x'.repeat(43)}`;
    const young = `${now() + 60}.${'x'.repeat(43)}`;
    const stateOf = (binding: string) =>
      `${sha256(`state ${binding} /`)}.${Buffer.from('/').toString('base64url')}`;
    const made = (binding: string) => async () => ({
      cookie: `__Host-gapstone_signin=${binding}`,
      answer: { state: stateOf(binding), id_token: await token(sha256(`nonce ${binding}`)) },
    });
    const cases: Record<
      string,
      [(from: string) => Promise<{ cookie: string; answer: Record<string, string> }>, string]
    > = {
      'no cookie': [
        async (from) => {
          const { state, nonce } = await began(from);
          return { cookie: '', answer: { state, id_token: await token(nonce) } };
        },
        'SIGN_IN_STALE',
      ],
      'the cookie of another browser': [
        async (from) => {
          const [mine, { cookie }] = [await began(from), await began(from)];
          return { cookie, answer: { state: mine.state, id_token: await token(mine.nonce) } };
        },
        'SIGN_IN_STALE',
      ],
      'no state': [
        async (from) => {
          const { cookie, nonce } = await began(from);
          return { cookie, answer: { id_token: await token(nonce) } };
        },
        'SIGN_IN_STALE',
      ],
      'a state that leads elsewhere': [
        async (from) => {
          const { cookie, nonce, state } = await began(from);
          const led = `${state.split('.')[0]}.${Buffer.from('//evil.example').toString('base64url')}`;
          return { cookie, answer: { state: led, id_token: await token(nonce) } };
        },
        'SIGN_IN_STALE',
      ],
      'more than ten minutes': [made(old), 'SIGN_IN_STALE'],
      'a time to come': [made(young), 'SIGN_IN_STALE'],
      'a cookie that is none': [made('x'), 'SIGN_IN_STALE'],
      'an error of the provider': [
        async (from) => {
          const { cookie, state } = await began(from);
          return { cookie, answer: { state, error: 'access_denied', error_description: '<script>' } };
        },
        'SIGN_IN_REFUSED',
      ],
      'nothing of the provider': [
        async (from) => {
          const { cookie, state } = await began(from);
          return { cookie, answer: { state } };
        },
        'SIGN_IN_REFUSED',
      ],
    };
    for (const [name, [make, reason]] of Object.entries(cases)) {
      const from = nextFrom(tls);
      const { cookie, answer } = await make(from);
      const reply = await postAnswer(tls, from, cookie, answer);
      refused(name, tls, from, reply, 401, reason);
      assert.not.match(reply.text, 'error_description');
    }

    const from = nextFrom(tls);
    const begun = await began(from);
    const answer = { state: begun.state, id_token: await token(begun.nonce) };
    const atOnce = await Promise.all([1, 2, 3, 4].map(() => postAnswer(tls, from, begun.cookie, answer)));
    assert.is(atOnce.filter(sessionOf).length, 1, 'of several at once one comes in');
    refused(
      'a replay',
      tls,
      from,
      await postAnswer(tls, from, begun.cookie, answer),
      401,
      'SIGN_IN_REPLAYED',
    );

    const bare = nextFrom(proxy);
    const plain = { 'X-Forwarded-For': bare, 'X-Forwarded-Proto': 'http', 'Sec-Fetch-Site': 'cross-site' };
    const unprotected = await proxy.ask('/signin/oidc', { form: answer, from: bare, headers: plain });
    refused('without TLS', proxy, bare, unprotected, 401, 'SIGN_IN_UNPROTECTED');

    const asUser = nextFrom(tls);
    const headers = { Authorization: `Bearer ${answer.id_token}` };
    const api = await tls.ask('/api/v1/stigs', { from: asUser, headers });
    refused('an ID token at the API', tls, asUser, api, 401, 'INVALID_CREDENTIALS');
  },
);

attacks('tokens of one’s own that want more than they may', async () => {
  const session = async (sub: string) => {
    const from = nextFrom(tls);
    const begun = await beginSignIn(tls, from);
    const id_token = await at.idToken({ nonce: begun.nonce, sub });
    return sessionOf(await postAnswer(tls, from, begun.cookie, { state: begun.state, id_token }))!;
  };
  const [olga, bob] = [await session('olga'), await session('bob')];
  const path = '/api/v1/session/tokens';
  const own = { 'Sec-Fetch-Site': 'same-origin' };
  const make = async (cookie: string) => {
    const reply = await tls.ask(path, {
      json: { name: 'n', ttl: '1h' },
      headers: { Cookie: cookie, ...own },
    });
    assert.is(reply.status, 201, reply.text);
    return JSON.parse(reply.text) as { id: string; token: string };
  };
  const [mine, revoked, his] = [await make(olga), await make(olga), await make(bob)];
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const gone = await tls.ask(`${path}/${revoked.id}`, {
    method: 'DELETE',
    headers: { Cookie: olga, ...own },
  });
  assert.is(gone.status, 204);

  const write = (json: object, cookie = olga): Ask => ({ json, headers: { Cookie: cookie, ...own } });
  const cases: [name: string, path: string, ask: Ask, status: number, reason: string][] = [
    ['makes a session', '/api/v1/session', { json: {}, headers: bearer(mine.token) }, 403, 'FORBIDDEN'],
    ['is pasted', '/signin', { form: { token: mine.token } }, 403, 'FORBIDDEN'],
    [
      'makes a token',
      path,
      { json: { name: 'n', ttl: '1h' }, headers: bearer(mine.token) },
      401,
      'INVALID_CREDENTIALS',
    ],
    ['lists tokens', path, { headers: bearer(mine.token) }, 401, 'INVALID_CREDENTIALS'],
    [
      'revokes',
      `${path}/${mine.id}`,
      { method: 'DELETE', headers: bearer(mine.token) },
      401,
      'INVALID_CREDENTIALS',
    ],
    ['was revoked', '/api/v1/stigs', { headers: bearer(revoked.token) }, 401, 'INVALID_CREDENTIALS'],
    ['is guessed', '/api/v1/stigs', { headers: bearer(`gsu_${'x'.repeat(43)}`) }, 401, 'INVALID_CREDENTIALS'],
    [
      'is a cookie',
      '/api/v1/stigs',
      { headers: { Cookie: `gapstone_session=${mine.token}` } },
      401,
      'INVALID_CREDENTIALS',
    ],
    ['revokes another’s', `${path}/${his.id}`, { ...write({}), method: 'DELETE' }, 404, 'NOT_FOUND'],
    ['lives too long', path, write({ name: 'n', ttl: '31d' }), 400, 'BAD_REQUEST'],
    ['lives for ever', path, write({ name: 'n' }), 400, 'BAD_REQUEST'],
    ['has two lines', path, write({ name: 'a\nb', ttl: '1h' }), 400, 'BAD_REQUEST'],
    [
      'another site makes one',
      path,
      { json: { name: 'n', ttl: '1h' }, headers: { Cookie: olga, 'Sec-Fetch-Site': 'cross-site' } },
      403,
      'FORBIDDEN',
    ],
  ];
  for (const [name, to, ask, status, reason] of cases) {
    const from = nextFrom(tls);
    refused(`a token of one’s own ${name}`, tls, from, await tls.ask(to, { ...ask, from }), status, reason);
  }
  for (let count = 1; count < 50; count++) await make(olga);
  const from = nextFrom(tls);
  const reply = await tls.ask(path, { ...write({ name: 'n', ttl: '1h' }), from });
  refused('the 51st token of one’s own', tls, from, reply, 400, 'BAD_REQUEST');
  assert.is((await tls.ask('/api/v1/stigs', { headers: bearer(mine.token) })).status, 200);
});

attacks.run();
