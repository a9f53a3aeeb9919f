import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { suite, testIf } from '../support/harness.ts';
import { runRequests } from '../support/hostile/requests.ts';
import { runFiles } from '../support/hostile/run-files.ts';
import { seed } from '../support/hostile/seed.ts';
import { shipped } from '../support/reference.ts';
import { killAll, openRaw, until } from '../support/running.ts';
import { createClient } from './support/load.ts';
import { longRun, say, scaled } from './support/profile.ts';
import { serveOver, stopServed } from './support/served.ts';

// Ten thousand bodies, queries, tokens, zips and documents with --long: no 5xx, no crash, no growth
// (`test/malformed.test.ts` tries some of them), and broken requests. GAPSTONE_SEED repeats a run.
const malformed = suite('Malformed input in bulk');
malformed.after(killAll);

/** The heap may grow by so many megabytes over a run, what was rightly stored included. */
const maxGrowth = 100;

function counts(of: Record<string, number>): string {
  return Object.entries(of)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

const long = testIf(longRun, malformed);
const requests = 6500;
long(`${requests} requests: no 5xx, the heap grows by less than ${maxGrowth} MB`, async () => {
  const { statuses, growth } = await runRequests(requests);
  say(`seed ${seed}: ${counts(statuses)}; ${growth.toFixed(1)} MB more`);
  assert.ok(growth < maxGrowth, `${growth} MB`);
});

const files = 3000;
long(
  `${files} zips and documents: each has its line, the heap grows by less than ${maxGrowth} MB`,
  async () => {
    const { outcomes, growth } = await runFiles(files);
    say(`seed ${seed}: ${counts(outcomes)}; ${growth.toFixed(1)} MB more`);
    assert.ok(growth < maxGrowth, `${growth} MB`);
  },
);

const raw = scaled(500, 30);
malformed(
  `${raw} broken requests over raw connections: answered below 500 or cut, and the server goes on`,
  async () => {
    const served = await serveOver([shipped('stigs')]);
    const { running } = served;
    const { Authorization } = served.authorization;
    const valid = [
      `GET /api/v1/stigs?page=1&limit=5 HTTP/1.1\r\nHost: local\r\nAuthorization: ${Authorization}\r\nAccept: */*\r\n\r\n`,
      `POST /api/v1/stigs/batch HTTP/1.1\r\nHost: local\r\nAuthorization: ${Authorization}\r\nContent-Length: 28\r\n\r\n{"slugs":["harbor_linux_3"]}`,
      `POST /api/v1/crosswalk/resolve/batch HTTP/1.1\r\nHost: local\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n{"ccis":["CCI-0003\r\n5\r\n66"]}\r\n0\r\n\r\n`,
    ].map((text) => Buffer.from(text));
    const junk = [
      '\r\n',
      '\n',
      '\0',
      ' ',
      ':',
      'Host: b\r\n',
      'Content-Length: 5\r\n',
      'Transfer-Encoding: chunked\r\n',
      '%zz',
      '\t',
      'HTTP/1.1',
      '\u007f',
      '\u00ff',
      'X'.repeat(20_000),
    ];
    const broken = fc
      .tuple(
        fc.constantFrom(...valid),
        fc.array(
          fc.tuple(fc.constantFrom('flip', 'cut', 'insert', 'drop'), fc.nat(), fc.constantFrom(...junk)),
          { minLength: 1, maxLength: 3 },
        ),
      )
      .map(([text, edits]) => {
        let bytes = Buffer.from(text);
        for (const [how, position, extra] of edits) {
          const at = bytes.length === 0 ? 0 : position % bytes.length;
          const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
          if (how === 'flip' && bytes.length > 0) bytes[at] = bytes[at]! ^ (1 << (position % 8));
          if (how === 'cut') bytes = Buffer.from(head);
          if (how === 'insert') bytes = Buffer.concat([head, Buffer.from(extra, 'latin1'), tail]);
          if (how === 'drop') bytes = Buffer.concat([head, tail.subarray(1 + (position % 20))]);
        }
        return bytes;
      });
    const statuses: Record<string, number> = {};
    const property = fc.asyncProperty(broken, async (bytes) => {
      const connection = await openRaw(running.port, '');
      // The end of what is sent tells the server that nothing more will come.
      connection.socket.end(bytes);
      await until('the end of the connection', () => connection.closed());
      const answers = connection
        .received()
        .toString('latin1')
        .matchAll(/(?:^|\r\n|\})HTTP\/1\.1 (\d{3}) /g);
      const seen = [...answers].map((match) => match[1]!);
      for (const status of seen.length === 0 ? ['none'] : seen) {
        statuses[status] = (statuses[status] ?? 0) + 1;
        assert.ok(
          status < '500' || status === 'none',
          connection.received().toString('latin1').slice(0, 500),
        );
      }
    });
    await fc.assert(property, { numRuns: raw, seed, includeErrorInReport: true });
    const client = createClient(running.port);
    assert.is((await client.ask('GET', '/api/v1/stigs', served.authorization)).status, 200);
    client.close();
    for (const line of running.stdout().split('\n').filter(Boolean))
      assert.is.not(JSON.parse(line).level, 'error', line);
    assert.is(running.stderr(), '');
    await stopServed(served);
    say(`seed ${seed}: ${counts(statuses)}`);
  },
);

malformed.run();
