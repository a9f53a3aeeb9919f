// For .ci/clients: the same questions with each generated client. It compares two releases, named in either case, and
// saves the comparison as xlsx.
import { writeFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import { getStigDiff } from './hey';
import { client } from './hey/client.gen';
import * as oazapfts from './oazapfts';
import type { paths } from './schema';

const baseUrl = process.env.GAPSTONE_URL!;
const token = process.env.GAPSTONE_TOKEN!;
const headers = { Authorization: `Bearer ${token}` };
const slug = 'harbor_linux_3';

function same(client: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${client} got ${actual} in place of ${expected}`);
}

/** oazapfts reads every answer as JSON or text; a fetch of the caller keeps the bytes. */
async function withOazapfts(): Promise<void> {
  for (const from of ['V1R1', 'v1r1']) {
    const answer = await oazapfts.getStigDiff(slug, { $from: from }, { baseUrl, headers });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer));
    same('oazapfts', answer.data.from.version, 'V1R1');
  }
  let bytes = new Uint8Array();
  const keep: typeof fetch = async (...asked) => {
    const answer = await fetch(...asked);
    bytes = new Uint8Array(await answer.clone().arrayBuffer());
    return answer;
  };
  await oazapfts.getStigDiff(slug, { $from: 'V1R1', format: 'xlsx' }, { baseUrl, headers, fetch: keep });
  await writeFile('oazapfts.xlsx', bytes);
}

async function withHey(): Promise<void> {
  client.setConfig({ baseUrl, auth: () => token });
  for (const from of ['V1R1', 'v1r1']) {
    const { data } = await getStigDiff({ path: { slug }, query: { from }, throwOnError: true });
    same('openapi-ts', data.from.version, 'V1R1');
  }
  const query = { from: 'V1R1', format: 'xlsx' } as const;
  const { data } = await getStigDiff({ path: { slug }, query, parseAs: 'blob', throwOnError: true });
  // Its type is that of the JSON, which it takes for the only one of an operation.
  await writeFile('openapi-ts.xlsx', new Uint8Array(await (data as unknown as Blob).arrayBuffer()));
}

async function withOpenapiFetch(): Promise<void> {
  const { GET } = createClient<paths>({ baseUrl, headers });
  const path = { slug };
  for (const from of ['V1R1', 'v1r1']) {
    const { data } = await GET('/api/v1/stigs/{slug}/diff', { params: { path, query: { from } } });
    // A text is the type of the other formats.
    same('openapi-fetch', typeof data === 'object' && data.from.version, 'V1R1');
  }
  const params = { path, query: { from: 'V1R1', format: 'xlsx' } } as const;
  const { data } = await GET('/api/v1/stigs/{slug}/diff', { params, parseAs: 'arrayBuffer' });
  await writeFile('openapi-fetch.xlsx', new Uint8Array(data!));
}

await withOazapfts();
await withHey();
await withOpenapiFetch();
