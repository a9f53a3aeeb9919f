import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { sha256 } from '../../src/base/ids.ts';
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
import { der } from '../support/pki.ts';
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
const upn = 'ann@test.mil';
const day = 86_400_000;
const past = (days: number) => new Date(Date.now() - days * day);
const shownTo = (door: Door, { cert, keyPem }: pki.Issued): Ask =>
  door === tls ? { tls: { cert, key: keyPem } } : { headers: { 'X-Client-Cert': asHeader(cert) } };

// One for each reason; test/auth/certificates.test.ts has what else is wrong with certificates.
attacks('certificates that are not good, through TLS and through a proxy', async () => {
  const { issuing } = at;
  const person = (...extensions: Buffer[]) => issue(issuing, { extensions });
  const upnOf = alternativeNames(otherName(upn));
  const revoked = person(...pki.person(upn));
  at.revoke(issuing, [1n, revoked.serial, 5n]);
  for (const [reason, bad] of Object.entries({
    EXPIRED: issue(issuing, { from: past(9), to: past(1) }),
    NOT_YET_VALID: issue(issuing, { from: past(-1), to: past(-9) }),
    NOT_TRUSTED: issue(null),
    NOT_FOR_CLIENTS: person(upnOf, extendedKeyUsage(usages.server)),
    UNSUPPORTED: person(...pki.person(upn), extension('1.2.3.4', der(5), true)),
    WITHOUT_NAME: person(...forClients),
    REVOKED: revoked,
  }))
    for (const door of [tls, proxy]) {
      const from = nextFrom(door);
      const ask = () => door.ask('/signin', { form, from, ...shownTo(door, bad) });
      let reply = await ask();
      if (bad === revoked)
        await until('the revocation counts', async () => {
          reply = await ask();
          return reply.status !== 303;
        });
      refused(reason, door, from, reply, 401, `CERTIFICATE_${reason}`);
      assert.match(reply.text, /class="problem"/);
    }
});

attacks('headers of a proxy, and of who is none', async () => {
  const ann = issue(at.issuing, { extensions: person(upn) });
  const good = asHeader(ann.cert);
  const longer = Buffer.concat([ann.der, Buffer.from([0])]).toString('base64');
  const armored = (base64: string) =>
    asHeader(`-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`);
  const [missing, malformed] = ['CERTIFICATE_MISSING', 'CERTIFICATE_MALFORMED'];
  const cases: [name: string, header: string | string[], reason: string][] = [
    ['two headers', [good, good], 'BAD_REQUEST'],
    ['two in one', `${good}, ${good}`, 'BAD_REQUEST'],
    ['two certificates', good + good, malformed],
    ['no certificate', '', missing],
    ['a text', upn, malformed],
    ['a key', asHeader(ann.keyPem), malformed],
    ['broken escapes', `${good}%zz`, malformed],
    ['no armor', ann.der.toString('base64'), malformed],
    ['a byte after it', armored(longer), malformed],
    ['half of it', asHeader(ann.cert.replace(/\n.{64}\n/, '\n')), malformed],
  ];
  const sent = async (name: string, headers: NonNullable<Ask['headers']>, status: number, reason: string) => {
    const from = nextFrom(proxy);
    refused(name, proxy, from, await proxy.ask('/signin', { form, from, headers }), status, reason);
  };
  for (const [name, header, reason] of cases)
    await sent(name, { 'X-Client-Cert': header }, reason === 'BAD_REQUEST' ? 400 : 401, reason);
  await sent('another name', { X_Client_Cert: good }, 401, missing);
  await sent('nothing', {}, 401, missing);
  await sent('another site', { 'X-Client-Cert': good, 'Sec-Fetch-Site': 'cross-site' }, 403, 'FORBIDDEN');
  const from = nextFrom(tls);
  const reply = await tls.ask('/signin', { form, from, headers: { 'X-Client-Cert': good } });
  refused('a header under TLS of our own', tls, from, reply, 401, missing);
  for (const claimed of ['127.0.0.1', '::1', '127.0.0.1, 127.0.0.1']) {
    const own = nextFrom(tls);
    const headers = { 'X-Client-Cert': good, 'X-Forwarded-For': claimed, 'X-Forwarded-Proto': 'https' };
    const asked = await proxy.ask('/signin', { form, from: own, direct: true, headers });
    refused(`who says to be ${claimed}`, proxy, own, asked, 401, missing);
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
    expired: (nonce) => at.idToken({ nonce, iat: now() - 900, exp: now() - 60 }),
    'of a stranger': (nonce) => at.idToken({ nonce }, { x: 'stranger' }),
    'for signing out': (nonce) => at.idToken({ nonce }, { typ: 'logout+jwt' }),
    unsigned: (nonce) => `${part({ alg: 'none' })}.${part({ ...base, nonce })}.`,
    'signed with the public key': hmac,
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
    const made = async (binding: string): Promise<[string, Answer]> => [
      `__Host-gapstone_signin=${binding}`,
      { state: stateOf(binding), id_token: await token(sha256(`nonce ${binding}`)) },
    ];
    type Begun = Awaited<ReturnType<typeof began>>;
    type Answer = Record<string, string>;
    const cases: Record<
      string,
      (begun: Begun, id_token: string) => [cookie: string, Answer] | Promise<[string, Answer]>
    > = {
      'no cookie': ({ state }, id_token) => ['', { state, id_token }],
      'the cookie of another browser': async ({ state }, id_token) => [
        (await began(nextFrom(tls))).cookie,
        { state, id_token },
      ],
      'no state': ({ cookie }, id_token) => [cookie, { id_token }],
      'a state that leads elsewhere': ({ cookie, state }, id_token) => [
        cookie,
        { state: `${state.split('.')[0]}.${Buffer.from('//evil.example').toString('base64url')}`, id_token },
      ],
      'more than ten minutes': () => made(old),
      'a time to come': () => made(young),
      'a cookie that is none': () => made('x'),
      'REFUSED: an error of the provider': ({ cookie, state }) => [
        cookie,
        { state, error: 'access_denied', error_description: '<script>' },
      ],
      'REFUSED: nothing of the provider': ({ cookie, state }) => [cookie, { state }],
    };
    for (const [name, make] of Object.entries(cases)) {
      const from = nextFrom(tls);
      const begun = await began(from);
      const [cookie, answer] = await make(begun, await token(begun.nonce));
      const reply = await postAnswer(tls, from, cookie, answer);
      refused(name, tls, from, reply, 401, name.startsWith('REFUSED') ? 'SIGN_IN_REFUSED' : 'SIGN_IN_STALE');
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

attacks.run();
