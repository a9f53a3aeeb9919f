import * as assert from 'uvu/assert';
import {
  asHeader,
  beginSignIn,
  type Door,
  openDoor,
  postAnswer,
  type Site,
  sessionOf,
  site,
} from '../support/doors.ts';
import { suite } from '../support/harness.ts';
import { issue, person } from '../support/pki.ts';
import { killAll } from '../support/running.ts';

const doors = suite('Ways to come in');
let at: Site;
let tls: Door;
let proxy: Door;

doors.before(async () => {
  at = await site();
  [tls, proxy] = await Promise.all([openDoor(at, 'tls'), openDoor(at, 'proxy')]);
});
doors.after(killAll);

const byCertificate = { form: { with: 'certificate', next: '/controls' } };

doors('who has a certificate is in by one press, through TLS and through a proxy', async () => {
  const ann = issue(at.issuing, { extensions: person('ann@test.mil') });
  const replies = [
    await tls.ask('/signin', {
      ...byCertificate,
      from: '127.1.0.1',
      tls: { cert: ann.cert, key: ann.keyPem },
    }),
    await proxy.ask('/signin', {
      ...byCertificate,
      from: '10.1.0.1',
      headers: { 'X-Client-Cert': asHeader(ann.cert) },
    }),
  ];
  for (const [index, reply] of replies.entries()) {
    assert.is(reply.status, 303, reply.text);
    assert.is(reply.headers.location, '/controls?done=signed-in');
    assert.match(
      String(reply.headers['set-cookie']),
      /^gapstone_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const door = index === 0 ? tls : proxy;
    const page = await door.ask('/roles', { headers: { Cookie: sessionOf(reply)! } });
    assert.is(page.status, 200);
    assert.match(page.text, 'ann@test.mil');
    const [line] = door
      .audit(index === 0 ? '127.1.0.1' : '10.1.0.1')
      .filter(({ action }) => action === 'session.create');
    assert.equal(
      [line!.actor, line!.org, line!.outcome, line!.detail],
      ['ann@test.mil', 'red', 'success', { by: 'certificate' }],
    );
  }
});

doors('who comes from the provider is in, and lands where the page was', async () => {
  const begun = await beginSignIn(tls, '127.1.0.2', '/controls?x=1');
  assert.is(begun.query.get('response_type'), 'id_token');
  assert.is(begun.query.get('response_mode'), 'form_post');
  const reply = await postAnswer(tls, '127.1.0.2', begun.cookie, {
    state: begun.state,
    id_token: await at.idToken({ nonce: begun.nonce }),
  });
  assert.is(reply.status, 200, reply.text);
  assert.match(reply.text, '<meta http-equiv="refresh" content="0; url=/controls?x=1&amp;done=signed-in"/>');
  assert.ok(sessionOf(reply));
});

doors.run();
