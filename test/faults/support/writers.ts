import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { verifyAuditFile } from '../../../src/audit/verify.ts';
import { auditLines } from '../../support/audit.ts';
import { createClient, pause, type TimedAnswer } from './load.ts';
import { type Served, stopServed } from './served.ts';

const readPaths = [
  '/healthz',
  '/readyz',
  '/api/v1/stigs',
  '/api/v1/lists',
  '/api/v1/stigs/harbor_linux_3/download?format=json',
  '/api/v1/stigs/harbor_linux_3',
  '/stigs',
];

/** Fewer lists in all than one user may have. */
const mostLists = 190;

/** Five clients of a user who make one list after the other, and one who reads, until `stop`: what they were answered. */
export function loadWithWriters(served: Served) {
  let going = true;
  const written: TimedAnswer[] = [];
  const readTimes: number[] = [];
  const clients = Array.from({ length: 6 }, () => createClient(served.running.port));
  const writers = clients.slice(1).map(async (client, user) => {
    for (let number = 0; going && number < mostLists; number++) {
      const body = JSON.stringify({ name: `${user}-${number}` });
      written.push(await client.ask('POST', '/api/v1/lists', served.authorization, body));
      await pause(60);
    }
  });
  const reader = async () => {
    for (let turn = 0; going; turn++) {
      const path = readPaths[turn % readPaths.length]!;
      const { status, ms } = await clients[0]!.ask('GET', path, served.authorization);
      assert.ok(status < 400, `${path} ${status}`);
      readTimes.push(ms);
      await pause(25);
    }
  };
  const all = Promise.all([...writers, reader()]);
  return {
    written,
    readTimes,
    async stop(): Promise<void> {
      going = false;
      await all;
      for (const client of clients) client.close();
    },
  };
}

/** Asserts that each write that was acknowledged was done once, no other was, each with one event; and that the chain holds. */
export async function verifyWrites(served: Served, written: TimedAnswer[]): Promise<void> {
  const made = written.filter(({ status }) => status === 201).map(({ body }) => JSON.parse(body));
  const client = createClient(served.running.port);
  const { body } = await client.ask('GET', '/api/v1/lists', served.authorization);
  client.close();
  const sorted = (all: { id: string; name: string }[]) => all.map(({ id, name }) => `${name} ${id}`).sort();
  assert.equal(sorted(JSON.parse(body).lists), sorted(made));
  await stopServed(served);
  const stream = join(served.folder, 'gapstone-audit.jsonl');
  assert.is(verifyAuditFile(stream).problem, null);
  const told = auditLines(stream).filter(
    (line) => line.action === 'list.create' && line.outcome === 'success',
  );
  assert.equal(told.map((line) => line.objectId).sort(), made.map(({ id }) => id).sort());
}
