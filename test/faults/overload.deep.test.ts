import * as assert from 'uvu/assert';
import { suite } from '../support/harness.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';
import { killAll } from '../support/running.ts';
import { createClient } from './support/load.ts';
import { residentMegabytes } from './support/process.ts';
import { say, scaled } from './support/profile.ts';
import { serveOver, stopServed } from './support/served.ts';

// Threats M1, H2: more at once than can be done at once. It is worked off, or told when to come again.
const overload = suite('Overload');
overload.after(killAll);

const largest = hasReferenceData ? [reference('xccdf', 'U_RHEL_8_STIG_V1R12_Manual-xccdf.xml')] : [];
const largestSlug = hasReferenceData ? 'red_hat_enterprise_linux_8' : 'harbor_linux_3';
const download = (slug: string) => `/api/v1/stigs/${slug}/download?format=cklb`;

overload(
  'a burst of expensive requests: each is answered or told when to come again, and it passes by itself',
  async () => {
    const served = await serveOver([shipped('stigs'), shipped('controls'), shipped('mappings'), ...largest]);
    const { running, authorization } = served;
    const usual = createClient(running.port);
    const ccis = JSON.stringify({
      ccis: Array.from({ length: 250 }, (_, index) => `CCI-${String(index + 1).padStart(6, '0')}`),
      maxHops: 6,
    });
    const batch = JSON.stringify({ slugs: [largestSlug, 'harbor_linux_3'] });
    const statuses: Record<string, number> = {};
    const burst = Array.from({ length: scaled(400, 30) }, async (_, number) => {
      const client = createClient(running.port, '127.0.0.2');
      for (const [method, path, body] of [
        ['POST', '/api/v1/crosswalk/resolve/batch', ccis],
        ['GET', download(largestSlug)],
        ['POST', '/api/v1/stigs/batch', batch],
      ].slice(number % 3) as [string, string, string?][]) {
        const answer = await client.ask(method, path, authorization, body);
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        assert.ok([200, 429, 503].includes(answer.status), answer.body.slice(0, 200));
        if (answer.status !== 200) assert.ok(Number(answer.headers['retry-after']) > 0);
      }
      client.close();
    });
    const watching = (async () => {
      for (let number = 0; number < 10; number++)
        assert.is((await usual.ask('GET', '/healthz')).status, 200, 'in the burst');
    })();
    await Promise.all([...burst, watching]);
    say(JSON.stringify(statuses));
    assert.is((await usual.ask('GET', '/api/v1/stigs', authorization)).status, 200, 'after it');
    usual.close();
    await stopServed(served);
  },
);

const readers = scaled(200, 20);
overload(`${readers} downloads of the largest STIG at once: memory is bounded, and given back`, async () => {
  const served = await serveOver([shipped('stigs'), ...largest]);
  const { running, authorization } = served;
  const path = `/api/v1/stigs/${largestSlug}/download?format=xml`;
  const first = createClient(running.port);
  const one = await first.ask('GET', path, authorization);
  assert.is(one.status, 200);
  const before = residentMegabytes(running.child.pid!);
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentMegabytes(running.child.pid!));
  }, 100);
  await Promise.all(
    Array.from({ length: readers }, async (_, number) => {
      const client = createClient(running.port, `127.0.0.${2 + (number % 50)}`);
      const answer = await client.ask('GET', path, authorization);
      assert.ok(answer.status === 200 || answer.status === 503, String(answer.status));
      if (answer.status === 200) assert.is(answer.body.length, one.body.length);
      else assert.ok(Number(answer.headers['retry-after']) > 0);
      client.close();
    }),
  );
  clearInterval(watch);
  first.close();
  const megabytes = one.body.length / 1024 / 1024;
  say(
    `${readers} times ${megabytes.toFixed(1)} MB: ${before.toFixed(0)} MB resident before, ${most.toFixed(0)} MB at most`,
  );
  // Each answer is held once while its reader takes it, and a few more while they are made.
  assert.ok(most - before < readers * megabytes + 300, `${most - before} MB more`);
  await stopServed(served);
});

overload.run();
