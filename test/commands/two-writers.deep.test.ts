import * as assert from 'uvu/assert';
import { serveOver, stopServed } from '../faults/support/served.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { killAll } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rule D36.4, over real HTTP: no write that was answered 200 is lost, whatever answer the tag came from.
const writers = suite('Two writers of one list with If-Match');
writers.after(killAll);

const rounds = 12;
const codings = ['identity', 'gzip', 'br'];

writers('in each round one writes and one gets 412, while imports change the catalog', async () => {
  const served = await serveOver([shipped('stigs')]);
  const { url } = served.running;
  const send = async (method: string, path: string, headers: Record<string, string> = {}, body?: object) => {
    const init = { method, headers: { ...served.authorization, ...headers } };
    const answer = await fetch(`${url}${path}`, { ...init, ...(body && { body: JSON.stringify(body) }) });
    return { answer, json: (await answer.json()) as { notes: string; stigs: { notes: string }[] } };
  };
  const made = await send('POST', '/api/v1/lists', {}, { name: 'L', description: 'd'.repeat(1500) });
  const home = made.answer.headers.get('Location')!;
  const entry = `${home}/stigs/harbor_linux_3`;
  await send('POST', `${home}/stigs`, {}, { slugs: ['harbor_linux_3', 'lantern_web_server_2'] });
  await send('PUT', entry, {}, { notes: '-'.repeat(1200) });
  const pages = ['', '/stigs', '/stigs?limit=1', '/stigs?limit=1&page=2', '/stigs?include=findings'];
  const seen = new Set<string>();
  let wins = 0;
  let importing: ReturnType<typeof gapstone> | null = null;
  for (let round = 0; round < rounds; round++) {
    if (round === 5) {
      const file = put(scratchFolder(), 'a.xml', writeXccdf({ version: String(round) }));
      importing = gapstone(['import', file, '--db', served.file]);
    }
    const read = async (offset: number) => {
      const page = pages[(round + offset) % pages.length]!;
      const coding = codings[(round + 2 * offset) % codings.length]!;
      const { answer } = await send('GET', home + page, { 'Accept-Encoding': coding });
      seen.add(`${page} ${answer.headers.get('Content-Encoding')}`);
      return answer.headers.get('ETag')!;
    };
    const notes = (await send('GET', `${home}/stigs`)).json.stigs[0]!.notes;
    const tags = [await read(0), await read(1)];
    const writes = tags.map((tag, writer) =>
      send('PUT', entry, { 'If-Match': tag }, { notes: `${notes}${round}.${writer} ` }),
    );
    const statuses = (await Promise.all(writes)).map(({ answer }) => answer.status);
    assert.equal(statuses.toSorted(), [200, 412], `round ${round}: ${tags}`);
    const now = (await send('GET', `${home}/stigs`)).json.stigs[0]!.notes;
    assert.is(now, `${notes}${round}.${statuses.indexOf(200)} `);
    wins++;
  }
  assert.is(wins, rounds);
  assert.ok(
    [...seen].some((each) => each.endsWith(' gzip')) && [...seen].some((each) => each.endsWith(' br')),
  );
  assert.is((await importing!).code, 0);
  await stopServed(served);
});

writers.run();
