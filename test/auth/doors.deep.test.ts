import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import {
  asHeader,
  beginSignIn,
  type Door,
  logged,
  openDoor,
  postAnswer,
  type Reply,
  type Site,
  sessionOf,
  site,
} from '../support/doors.ts';
import { suite } from '../support/harness.ts';
import { authority, issue, person, revocationList, serverCertificate } from '../support/pki.ts';
import { killAll, until } from '../support/running.ts';

// What becomes of who came in (rule D43), on servers as they are run.
const doors = suite('Ways to come in');
let at: Site;
let tls: Door;
let proxy: Door;

doors.before(async () => {
  at = await site();
  [tls, proxy] = await Promise.all([openDoor(at, 'tls'), openDoor(at, 'proxy')]);
});
doors.after(killAll);

const form = { with: 'certificate', next: '/controls' };
const signIn = (door: Door, one: { cert: string; keyPem: string }, from?: string, more: object = {}) =>
  door.ask('/signin', {
    form,
    ...(from ? { from } : {}),
    ...(door === proxy
      ? { headers: { 'X-Client-Cert': asHeader(one.cert) } }
      : { tls: { cert: one.cert, key: one.keyPem, ...more } }),
  });
const withSession = (reply: Reply) => ({
  headers: { Cookie: sessionOf(reply)!, 'Sec-Fetch-Site': 'same-origin' },
});
const reasons = (door: Door, from: string) => door.audit(from).map(({ reason }) => reason);
const scrape = async (door: Door) => (await door.ask('/metrics')).text;
const nextUpdate = async (door: Door) =>
  Number(/^gapstone_crl_next_update_timestamp_seconds (\d+(?:\.\d+)?)$/m.exec(await scrape(door))![1]);

doors('who has a certificate is in by one press, through TLS and through a proxy', async () => {
  const ann = issue(at.issuing, { extensions: person('ann@test.mil') });
  for (const [door, from] of [
    [tls, '127.1.0.1'],
    [proxy, '10.1.0.1'],
  ] as const) {
    const reply = await signIn(door, ann, from);
    assert.equal([reply.status, reply.headers.location], [303, '/controls?done=signed-in'], reply.text);
    assert.match(
      String(reply.headers['set-cookie']),
      /^gapstone_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const page = await door.ask('/roles', withSession(reply));
    assert.is(page.status, 200);
    assert.match(page.text, 'ann@test.mil');
    const line = door.audit(from).find(({ action }) => action === 'session.create')!;
    assert.equal(
      [line.actor, line.org, line.outcome, line.detail],
      ['ann@test.mil', 'red', 'success', { by: 'certificate' }],
    );
  }
  // Without a certificate the pages are there, and the usual way stands first.
  const page = await tls.ask('/signin');
  assert.is(page.headers['strict-transport-security'], 'max-age=63072000');
  assert.ok(page.text.indexOf('with your certificate') < page.text.indexOf('with your organization'));
  assert.ok(page.text.indexOf('with your organization') < page.text.indexOf('with a user token'));
});

doors('who comes from the provider is in, and lands where the page was', async () => {
  const begun = await beginSignIn(tls, '127.1.0.2', '/controls?x=1');
  const { nonce: _, state: __, ...shown } = Object.fromEntries(begun.query);
  assert.equal(shown, {
    kc: '1',
    response_type: 'id_token',
    response_mode: 'form_post',
    scope: 'openid email',
    client_id: 'gapstone-pages',
    redirect_uri: 'https://gapstone.test.example/signin/oidc',
  });
  assert.match(
    String(begun.page.headers['set-cookie']),
    /^__Host-gapstone_signin=\d+\.[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=None$/,
  );
  // Another tab of this browser begins the same sign-in for another page.
  const tab = await beginSignIn(tls, '127.1.0.2', '/stigs', begun.cookie);
  assert.equal([tab.cookie, tab.nonce], [begun.cookie, begun.nonce]);
  assert.is.not(tab.state, begun.state);
  const id_token = await at.idToken({ nonce: begun.nonce, entitlements: ['occ'] });
  const reply = await postAnswer(tls, '127.1.0.2', begun.cookie, { state: begun.state, id_token });
  assert.is(reply.status, 200, reply.text);
  assert.match(reply.text, '<meta http-equiv="refresh" content="0; url=/controls?x=1&amp;done=signed-in"/>');
  assert.is((await tls.ask('/roles', withSession(reply))).status, 200);
  // Over plain HTTP there is no such way: the cookie could not be kept.
  assert.not.match((await proxy.ask('/signin')).text, 'login.test.example');
});

doors('a nonce that was used is used after a restart, too', async () => {
  const shared = { GAPSTONE_USERS_DB: join(at.folder, 'restart-users.db') };
  const first = await openDoor(at, 'tls', shared);
  const begun = await beginSignIn(first, '127.1.0.3');
  const answer = { state: begun.state, id_token: await at.idToken({ nonce: begun.nonce }) };
  assert.ok(sessionOf(await postAnswer(first, '127.1.0.3', begun.cookie, answer)));
  await first.stop();
  const second = await openDoor(at, 'tls', { ...shared, GAPSTONE_SELF_TOKENS: 'off' });
  const reply = await postAnswer(second, '127.1.0.3', begun.cookie, answer);
  assert.equal([reply.status, sessionOf(reply)], [401, undefined]);
  assert.match(reply.text, 'This sign-in was used before');
  // What is off is not there.
  for (const path of ['/api/v1/session/tokens', '/account'])
    assert.is((await second.ask(path, { headers: { Accept: '*/*' } })).status, 404);
  await second.stop();
});

/** Asks for `/roles` and signs in again on one connection that stays open. */
function keptConnection(door: Door, one: { cert: string; keyPem: string }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, cert: one.cert, key: one.keyPem });
  const sockets = new Set<unknown>();
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        'Content-Type': 'application/x-www-form-urlencoded',
        'Sec-Fetch-Site': 'same-origin',
      };
      const sent = request(
        {
          host: '127.0.0.1',
          port: door.running.port,
          path: '/signin',
          method: 'POST',
          headers,
          agent,
          rejectUnauthorized: false,
        },
        (response) => {
          response.resume().on('end', () => resolve(response.statusCode!));
        },
      );
      sent.on('socket', (socket) => sockets.add(socket)).on('error', reject);
      sent.end('with=certificate');
    });
  return { ask, sockets, close: () => agent.destroy() };
}

doors(
  'a list that names a certificate ends its sessions and tokens, and lets it in by no connection',
  async () => {
    const one = issue(at.issuing, { extensions: person('ann@test.mil') });
    const other = issue(at.issuing, { extensions: person('bob@test.mil') });
    const [byTls, byProxy, his] = [
      await signIn(tls, one),
      await signIn(proxy, one),
      await signIn(tls, other),
    ];
    const made = await tls.ask('/api/v1/session/tokens', {
      json: { name: 'n', ttl: '30d' },
      ...withSession(byTls),
    });
    assert.is(made.status, 201, made.text);
    const script = { headers: { Authorization: `Bearer ${JSON.parse(made.text).token}` } };
    assert.is((await tls.ask('/api/v1/roles', script)).status, 200, 'with the permissions of its maker');
    assert.is((await tls.ask('/api/v1/stigs', script)).status, 200);
    const sessions: Record<string, Buffer> = {};
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      await signIn(tls, one, undefined, {
        maxVersion: version,
        onSession: (session: Buffer) => {
          sessions[version] = session;
        },
      });
    const kept = keptConnection(tls, one);
    assert.is(await kept.ask(), 303);

    at.revoke(at.issuing, [one.serial]);
    const statuses = async () => [
      (await tls.ask('/systems', withSession(byTls))).status,
      (await proxy.ask('/systems', withSession(byProxy))).status,
      (await tls.ask('/api/v1/stigs', script)).status,
    ];
    await until('sessions and token are over', async () => (await statuses()).every((each) => each !== 200));
    assert.equal(await statuses(), [303, 303, 401]);
    assert.is((await tls.ask('/systems', withSession(his))).status, 200);
    const ends = tls.audit('service').filter(({ reason }) => reason === 'CERTIFICATE');
    assert.ok(ends.some(({ action, actor }) => action === 'session.end' && actor === 'ann@test.mil'));

    assert.is(await kept.ask(), 401);
    assert.is(kept.sockets.size, 1);
    kept.close();
    for (const [version, session] of Object.entries(sessions)) {
      const from = version === 'TLSv1.2' ? '127.1.0.10' : '127.1.0.11';
      assert.is((await signIn(tls, one, from, { maxVersion: version, session })).status, 401, version);
      assert.ok(reasons(tls, from).includes('CERTIFICATE_REVOKED'));
    }
    // A list of a clock that is ahead counts, too.
    at.revoke(at.issuing, [other.serial], { from: new Date(Date.now() + 60_000) });
    await until('it is over', async () => (await tls.ask('/systems', withSession(his))).status !== 200);
    at.revoke(at.issuing, []);
  },
);

doors(
  'a list in DER counts, one that is bad keeps the former, one that is missing or old lets nobody in',
  async () => {
    const one = issue(at.issuing);
    const bad = issue(at.issuing);
    const file = join(at.folder, 'crl', 'issuing.crl');
    at.revoke(at.issuing, [bad.serial], {}, true);
    await until('it is refused', async () => (await signIn(proxy, bad)).status === 401);
    assert.is((await signIn(proxy, one)).status, 303);
    const other = authority('Issuing');
    // test/auth/certificates.test.ts has what else makes a list a bad one.
    for (const bytes of [Buffer.from('hello'), revocationList(at.issuing, [], { signedBy: other.key })]) {
      const times = proxy.running.stdout().split('revocation list not read').length;
      writeFileSync(`${file}.new`, bytes);
      renameSync(`${file}.new`, file);
      await logged(proxy, 'revocation list not read', times);
      assert.is((await signIn(proxy, bad)).status, 401);
      assert.is((await signIn(proxy, one)).status, 303);
    }
    // Of another person: nobody has more than ten sessions.
    const session = await signIn(proxy, issue(at.issuing));
    const until401 = (from: string) =>
      until('nobody comes in', async () => (await signIn(proxy, one, from)).status === 401);
    const soon = Date.now() + 86_400_000;
    at.revoke(at.issuing, [], { to: new Date(soon) });
    await until('the metric follows', async () => (await nextUpdate(proxy)) === Math.floor(soon / 1000));
    // Out of date: nobody comes in, and who is in stays.
    at.revoke(at.issuing, [], { to: new Date(Date.now() - 1000) });
    await until401('10.1.0.20');
    assert.ok(reasons(proxy, '10.1.0.20').includes('REVOCATION_UNKNOWN'));
    assert.is((await proxy.ask('/systems', withSession(session))).status, 200);
    assert.ok((await nextUpdate(proxy)) < soon / 1000);
    at.revoke(at.issuing, []);
    await until('they come in again', async () => (await signIn(proxy, one)).status === 303);
    rmSync(file);
    await until401('10.1.0.21');
    assert.is(await nextUpdate(proxy), 0);
    assert.match(proxy.running.stdout(), 'authorities without a current revocation list');
    at.revoke(at.issuing, []);
    await until('they come in again', async () => (await signIn(proxy, one)).status === 303);
    assert.ok((await nextUpdate(proxy)) > soon / 1000);
    assert.is(
      (await proxy.ask('/systems', withSession(session))).status,
      200,
      'the session was only waiting',
    );
    // The list of the root names the authority itself.
    at.revoke(at.root, [at.issuing.serial]);
    await until401('10.1.0.22');
    assert.ok(reasons(proxy, '10.1.0.22').includes('CERTIFICATE_REVOKED'));
    at.revoke(at.root, []);
  },
);

doors('who may do what follows the table of people at each request', async () => {
  const [ann, guest] = ['ann@test.mil', 'guest@test.mil'].map((upn) =>
    issue(at.issuing, { extensions: person(upn) }),
  );
  await until('the lists are read', async () => (await signIn(proxy, ann!)).status === 303);
  const [hers, his] = [await signIn(proxy, ann!), await signIn(proxy, guest!)];
  const roles = async (reply: Reply) => (await proxy.ask('/roles', withSession(reply))).status;
  assert.equal([await roles(hers), await roles(his)], [200, 403]);
  const file = join(at.folder, 'people.csv');
  writeFileSync(file, '\uFEFFsubject,org,entitlements\r\n"ann@test.mil","red",""\r\n*,guests,occ\r\n');
  await until('the table counts', async () => (await roles(his)) === 200);
  assert.is(await roles(hers), 403);
  const before = proxy.running.stdout().split('people not reloaded').length;
  for (const [index, wrong] of [
    'subject,organization\n',
    'subject,org,entitlements\na,b\n',
    'subject,org,entitlements\na,b,root\n',
    'subject,org,entitlements\na,b,\na,c,\n',
    '',
  ].entries()) {
    writeFileSync(file, wrong);
    await logged(proxy, 'people not reloaded', before + index);
    assert.is(await roles(his), 200, wrong);
  }
  writeFileSync(file, 'subject,org,entitlements\n');
});

doors(
  'authorities and the certificate of the server are read again; a bad file keeps the last good one',
  async () => {
    const other = authority('Other');
    const stranger = issue(other);
    const file = join(at.folder, 'client-ca.pem');
    assert.is((await signIn(tls, stranger)).status, 401);
    writeFileSync(join(at.folder, 'crl', 'other.crl'), revocationList(other, []));
    writeFileSync(file, `comment\n${at.root.cert}${at.issuing.cert}${other.cert}`);
    await until('the new authority counts', async () => (await signIn(tls, stranger)).status === 303);
    const session = await signIn(tls, stranger);
    writeFileSync(file, 'nothing');
    await logged(tls, 'authorities of client certificates not reloaded');
    assert.is((await tls.ask('/systems', withSession(session))).status, 200);
    writeFileSync(file, at.root.cert + at.issuing.cert);
    await until(
      'it counts no more',
      async () => (await tls.ask('/systems', withSession(session))).status === 303,
    );

    const fresh = serverCertificate(at.root);
    writeFileSync(join(tls.folder, 'server.pem'), 'nothing');
    await logged(tls, 'certificate not reloaded');
    writeFileSync(join(tls.folder, 'server.key'), fresh.keyPem);
    writeFileSync(join(tls.folder, 'server.pem'), fresh.cert);
    await logged(tls, '"certificate reloaded"');
    // On SIGHUP all is read, too.
    const times = tls.running.stdout().split('authorities of client certificates reloaded').length;
    tls.running.child.kill('SIGHUP');
    await logged(tls, 'authorities of client certificates reloaded', times);
  },
);

doors.run();
