import * as assert from 'uvu/assert';
import { trace, tracing } from '../faults/support/strace.ts';
import { asHeader, beginSignIn, openDoor, postAnswer, sessionOf, site } from '../support/doors.ts';
import { suiteIf } from '../support/harness.ts';
import { issue } from '../support/pki.ts';
import { killAll, until } from '../support/running.ts';

const outgoing = suiteIf(tracing, 'No connection goes out');
outgoing?.after(killAll);

outgoing?.('a server with every way in opens none, whoever comes (threat N8)', async () => {
  const at = await site();
  const { under, lines } = trace('-e', 'trace=connect,sendto,sendmsg,sendmmsg,socket');
  const door = await openDoor(at, 'tls', {}, under);
  const one = issue(at.issuing);
  const sent = { form: { with: 'certificate' }, tls: { cert: one.cert, key: one.keyPem } };
  const reply = await door.ask('/signin', sent);
  assert.is(reply.status, 303);
  const headers = { Cookie: sessionOf(reply)!, 'Sec-Fetch-Site': 'same-origin' };
  const made = await door.ask('/api/v1/session/tokens', { json: { name: 'n', ttl: '1h' }, headers });
  assert.is(made.status, 201);
  const begun = await beginSignIn(door, '127.3.0.1');
  const answer = { state: begun.state, id_token: await at.idToken({ nonce: begun.nonce }) };
  const statuses = [200, 401];
  for (const status of statuses)
    assert.is((await postAnswer(door, '127.3.0.1', begun.cookie, answer)).status, status);
  const header = { 'X-Client-Cert': asHeader(one.cert) };
  assert.is((await door.ask('/signin', { form: { with: 'certificate' }, headers: header })).status, 401);
  at.revoke(at.issuing, [one.serial]);
  await until('it is refused', async () => (await door.ask('/signin', sent)).status === 401);
  await door.stop();
  const calls = lines();
  assert.ok(
    calls.some((line) => /\bsocket\(AF_INET6?, SOCK_STREAM/.test(line)),
    'the listener is seen',
  );
  assert.equal(
    calls.filter((line) => /\b(connect|sendto|sendmsg|sendmmsg)\([^)]*(AF_INET|AF_UNIX|sin_addr)/.test(line)),
    [],
  );
});

outgoing?.run();
