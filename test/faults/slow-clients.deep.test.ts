import { connect, type Socket } from 'node:net';
import * as assert from 'uvu/assert';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { killAll, type Running, until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';
import { createClient, pause, percentile, type TimedAnswer } from './support/load.ts';
import { residentMegabytes } from './support/process.ts';
import { longRun, say, scaled } from './support/profile.ts';
import { type Served, serveOver, stopServed } from './support/served.ts';

// Threats H2, O1, M1: clients that are slow, idle, greedy or many do not keep the others from being served.
const slow = suite('Slow, idle and greedy clients');
slow.after(killAll);

/** A STIG whose checklist is larger than what sockets buffer, so that who does not read holds its download up. */
const long = put(
  scratchFolder(),
  'long.xml',
  writeXccdf({
    id: 'Long_STIG',
    title: 'Long STIG',
    rules: sampleRules(6, 'LONG').map((rule) => ({ ...rule, checks: ['slow '.repeat(200_000)] })),
  }),
);
const download = (slug: string) => `/api/v1/stigs/${slug}/download?format=cklb`;

/** A connection that does what its greedy client wants; its errors are none of ours. */
function greedy(running: Running, text: string, from = '127.0.0.2'): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port: running.port, host: '127.0.0.1', localAddress: from });
    socket.on('error', () => resolve(socket));
    socket.on('connect', () => {
      if (text !== '') socket.write(text);
      resolve(socket);
    });
  });
}

/** Asks again and again like a usual client, until told to stop; every answer must be a 200. */
function usualClient(served: Served, path: string) {
  const client = createClient(served.running.port);
  const answers: TimedAnswer[] = [];
  let running = true;
  const done = (async () => {
    while (running) {
      const answer = await client.ask('GET', path, served.authorization);
      assert.is(answer.status, 200, answer.body.slice(0, 200));
      answers.push(answer);
      await pause(250);
    }
    client.close();
  })();
  // A failure is reported by `stop`, not by an unhandled rejection.
  done.catch(() => undefined);
  return {
    async stop() {
      running = false;
      await done;
      return answers.map((answer) => answer.ms);
    },
  };
}

const each = scaled(280, 20);
slow(
  `${each} each of slow headers, slow bodies and idle connections, and some that never read: others are served`,
  async () => {
    const served = await serveOver([shipped('stigs'), long]);
    const { running, authorization } = served;
    const atRest = residentMegabytes(running.child.pid!);
    const head = `Host: x\r\nAuthorization: ${authorization.Authorization}\r\n`;
    const many = async (count: number, text: string) =>
      Promise.all(Array.from({ length: count }, () => greedy(running, text)));
    const headers = await many(each, 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const bodies = await many(
      each,
      `POST /api/v1/stigs/batch HTTP/1.1\r\n${head}Content-Length: 1000\r\n\r\n{`,
    );
    const idle = await many(each, '');
    const deaf = await many(10, `GET ${download('long')} HTTP/1.1\r\n${head}\r\n`);
    for (const socket of deaf) socket.pause();
    for (const socket of [...headers, ...bodies, ...idle]) socket.resume();
    const usual = usualClient(served, '/api/v1/stigs');
    const drip = setInterval(() => {
      for (const socket of [...headers, ...bodies]) if (socket.writable) socket.write(' ');
    }, 1000);
    const open = (sockets: Socket[]) => sockets.filter((socket) => !socket.closed).length;
    const cut = [...headers, ...idle, ...(longRun.here ? bodies : [])];
    await until('slow headers and idle connections are cut', () => open(cut) === 0);
    clearInterval(drip);
    const times = await usual.stop();
    const most = residentMegabytes(running.child.pid!);
    say(
      `${times.length} usual requests, p99 ${percentile(times, 0.99).toFixed(1)} ms; ` +
        `${atRest.toFixed(0)} MB before, ${most.toFixed(0)} MB with all of them`,
    );
    assert.ok(times.length > 10, 'the usual client was served all the time');
    // What the ten that never read hold is at most their ten answers, twice while they are made.
    assert.ok(most - atRest < 10 * 12 * 2 + 200, `${most - atRest} MB more`);
    for (const socket of [...headers, ...bodies, ...idle, ...deaf]) socket.destroy();
    await stopServed(served);
  },
);

slow.run();
