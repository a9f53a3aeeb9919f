import { spawnSync } from 'node:child_process';
import * as assert from 'uvu/assert';
import { gapstone } from '../support/child.ts';
import { suite, testIf } from '../support/harness.ts';
import { killAll } from '../support/running.ts';
import { before, over } from './support/catalog.ts';
import { createClient } from './support/load.ts';
import { say } from './support/profile.ts';
import { serveOver, stopServed } from './support/served.ts';
import { type Trace, trace, tracing } from './support/strace.ts';

// Nothing is ever fetched: no outgoing connection and no name look-up. Where processes may not be traced,
// `test/auth/tokens.test.ts` (a patched resolver and patched sockets) is what is left of it.
const outgoing = suite('Outgoing connections');
const watching = testIf(tracing, outgoing);
outgoing.after(killAll);

/** Every call on sockets, and the reading of what a look-up reads; Node reads resolv.conf as soon as it can listen. */
const watched = ['-e', 'trace=%network,openat'];
const resolverFiles = /"\/etc\/(hosts|host\.conf|gai\.conf)"/;

/** The calls that reach out: a connection, a datagram, or a socket that could make one beside the listener's. */
function reachingOut(lines: string[]): string[] {
  return lines.filter(
    (line) =>
      /\b(connect|sendto|sendmsg|sendmmsg)\([^)]*(AF_INET|sin_addr)/.test(line) ||
      // Who runs a command is looked up there too, by number; where it does not run, hosts are read instead.
      /\bconnect\([^)]*(nscd|resolve)/.test(line) ||
      /\bsocket\((AF_INET6?), SOCK_DGRAM/.test(line) ||
      (/\bopenat\(/.test(line) && resolverFiles.test(line)),
  );
}

const listeners = (lines: string[]) => lines.filter((line) => /\bsocket\(AF_INET6?, SOCK_STREAM/.test(line));

watching('the tracer sees a connection and a look-up where there is one', () => {
  const watch = (code: string): Trace => {
    const { under, lines } = trace(...watched);
    const [command, ...rest] = under.filter((word) => word !== '-D');
    spawnSync(command!, [...rest, process.execPath, '-e', code]);
    return { under, lines };
  };
  const connected = watch("require('net').connect(9, '127.0.0.1').on('error', () => {})").lines();
  assert.is(reachingOut(connected).length, 1, connected.join('\n'));
  const looked = watch("require('dns').lookup('gapstone.invalid', () => {})").lines();
  assert.ok(reachingOut(looked).length > 0, 'a look-up is seen');
});

watching('an import makes no connection and looks no name up', async () => {
  const { under, lines } = trace(...watched);
  const served = await serveOver([...before]);
  const run = await gapstone(['import', ...over, '--db', served.file], { under });
  assert.is(run.code, 0, run.stderr.slice(-300));
  assert.ok(lines().length > 10, 'it was traced');
  assert.equal(reachingOut(lines()), []);
  assert.equal(listeners(lines()), []);
  await stopServed(served);
});

watching('a server listens on one socket and makes none, whatever is asked of it', async () => {
  const { under, lines } = trace(...watched);
  const served = await serveOver([...before, ...over], { under });
  const client = createClient(served.running.port);
  const { paths } = JSON.parse((await client.ask('GET', '/openapi.json')).body);
  let asked = 0;
  for (const [path, methods] of Object.entries<object>(paths)) {
    const url = path
      .replaceAll('{slug}', 'harbor_linux_3')
      .replaceAll('{framework}', 'nist-800-53')
      .replaceAll('{controlId}', 'AC-2')
      .replaceAll(/\{[^}]*\}/g, '00000000-0000-4000-8000-000000000001');
    for (const method of Object.keys(methods)) {
      // Tokens that name servers, bodies that name servers, and what is meant to be sent.
      const header = Buffer.from(
        JSON.stringify({ alg: 'RS256', jku: 'http://localhost:9/k', x5u: 'http://localhost:9' }),
      );
      for (const Authorization of [
        served.authorization.Authorization!,
        `Bearer ${header.toString('base64url')}.e30.AAAA`,
      ]) {
        const body =
          method === 'get' ? undefined : '{"name":"http://localhost:9/","slugs":["harbor_linux_3"]}';
        const answer = await client.ask(method.toUpperCase(), url, { Authorization }, body);
        assert.ok(answer.status < 500, `${method} ${path}: ${answer.body}`);
        asked++;
      }
    }
  }
  client.close();
  await stopServed(served);
  const traced = lines();
  assert.ok(
    traced.some((line) => / accept4?\(/.test(line)),
    'it was traced',
  );
  assert.equal(reachingOut(traced), []);
  assert.is(listeners(traced).length, 1, listeners(traced).join('\n'));
  assert.ok(
    traced.some((line) => / bind\(.*inet_addr\("127\.0\.0\.1"\)/.test(line)),
    'on loopback',
  );
  say(`${asked} requests of every route: one listening socket, no connection, no look-up`);
});

outgoing.run();
