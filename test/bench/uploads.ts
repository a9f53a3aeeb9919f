import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { gapstone } from '../support/child.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { shipped } from '../support/reference.ts';
import { startServer } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';
import { resident, send, sleep, type Waits, watched } from './waits.ts';

// How long others wait while somebody uploads a checklist of 32 MiB that wants to cost much: the longest answer to
// `/healthz`, asked for every 5 ms on a connection of its own, from the first byte of the upload to the last of its answer.
// `own` is the most processor time that the main thread took during one of those waits, which no busy machine makes longer.

const mebibyte = 1024 * 1024;
/** Less than the limit by what goes around the checklist in a request. */
const room = 32 * mebibyte - 4096;
const aim = 50;
const pause = 5;
const api = '/api/v1/checklists/upgrade';
const slug = 'harbor_linux_3';

type Rule = Cklb['stigs'][number]['rules'][number];
interface Upload {
  name: string;
  path: string;
  type: string;
  body: Buffer;
}

/** Runs the benchmark of uploads, and prints its table. */
export async function benchUploads(): Promise<void> {
  const cwd = scratchFolder();
  const imported = await gapstone(['import', shipped()], { cwd });
  if (imported.code !== 0) throw new Error(imported.stderr);
  const token = (await gapstone(['token', 'issue', '--subject', 'bench'], { cwd })).stdout.trim();
  const server = await startServer(cwd, ['serve', '--port', '0']);
  const old = await fetch(`${server.url}/api/v1/stigs/${slug}/download?version=V1R1`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const uploads = makeUploads((await old.json()) as Cklb);

  const row = (cells: (string | number)[]) =>
    console.log(
      cells.map((cell, at) => (at === 0 ? String(cell).padEnd(44) : String(cell).padStart(9))).join(''),
    );
  console.log(`uploads: the longest wait of others in milliseconds (aim ${aim})`);
  row(['', 'MiB', 'status', 'took', 'longest', 'own', 'p99', 'MB']);
  row([
    'nobody uploads',
    '',
    '',
    ...figures(await watched(server, pause, () => sleep(2000))),
    resident(server),
  ]);
  for (const { name, path, type, body } of uploads) {
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${server.port}`,
      `Authorization: Bearer ${token}`,
      `Content-Type: ${type}`,
      `Content-Length: ${body.length}`,
      'Connection: close',
    ];
    let status = '';
    const waits = await watched(server, pause, async () => {
      [status = ''] = await send(server.port, `${head.join('\r\n')}\r\n\r\n`, body);
    });
    row([name, (body.length / mebibyte).toFixed(0), status, ...figures(waits), resident(server)]);
  }
  server.child.kill('SIGTERM');
  await server.ended;
}

function figures({ took, longest, own, p99 }: Waits): string[] {
  return [took.toFixed(0), longest.toFixed(0), own.toFixed(0), p99.toFixed(1)];
}

function makeUploads(old: Cklb): Upload[] {
  const whole = (rules: Rule[]): Cklb => ({ ...old, stigs: [{ ...old.stigs[0]!, rules }] });
  const [first, ...rest] = old.stigs[0]!.rules;
  const short = {
    discussion: 'd',
    check_content: 'c',
    fix_text: 'f',
    legacy_ids: [],
    ccis: [],
    group_tree: [],
  };
  const plain: Rule = { ...first!, ...short };
  const numbered = (count: number, comments: string): Rule[] =>
    Array.from({ length: count }, (_, index) => ({
      ...plain,
      group_id: `V-${index}`,
      rule_id: `SV-${index}r1`,
      rule_id_src: `SV-${index}r1_rule`,
      rule_version: `HARB-${index}`,
      comments,
    }));
  const text = (length: number) =>
    'Seen "today"; was <off>.\n'.repeat(Math.ceil(length / 25)).slice(0, length);
  const plainCklb = (checklist: Cklb) => Buffer.from(JSON.stringify(checklist));
  const ownObject = (checklist: Cklb) =>
    Buffer.from(`{"slug":"${slug}","checklist":${JSON.stringify(checklist)}}`);
  const asText = (checklist: string) => Buffer.from(JSON.stringify({ slug, checklist }));
  const asCklb = (checklist: Cklb) => asText(JSON.stringify(checklist));
  const asCkl = (checklist: Cklb) => asText(writeCkl(checklist));
  type Write = (checklist: Cklb) => Buffer;
  /** So many rules with a text each, or the rules there are and one with a text, until the body has its size. */
  const filled = (write: Write, make: (text: string) => Rule[], texts: number) => {
    const size = (length: number) => write(whole(make(text(length)))).length;
    const least = size(0);
    const each = (size(1000) - least) / 1000 / texts;
    return write(whole(make(text(Math.floor((room - least) / each / texts)))));
  };
  const many = (write: Write, count: number) => filled(write, (comments) => numbered(count, comments), count);
  const huge = (write: Write) => filled(write, (comments) => [{ ...first!, comments }, ...rest], 1);
  const fields = Object.fromEntries(
    Array.from({ length: 99_000 }, (_, index) => [`field_${index}`, 'x'.repeat(300)]),
  );
  const unknown = { ...old, ...fields } as Cklb;
  const file = (write: Write) => (checklist: Cklb) => form({ file: String(write(checklist)), slug });
  const form = (parts: Record<string, string>) => {
    const boundary = 'bench-boundary';
    const fieldsOf = Object.entries(parts).map(([name, value]) => {
      const file = name === 'file' ? '; filename="old.cklb"' : '';
      return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
    });
    return Buffer.from(`${fieldsOf.join('')}--${boundary}--\r\n`);
  };
  const json = { path: api, type: 'application/json' };
  const page = { path: '/checklists/upgrade', type: 'multipart/form-data; boundary=bench-boundary' };
  return [
    { name: 'cklb, 16,000 rules', ...json, body: many(ownObject, 16_000) },
    { name: 'cklb, one long text', ...json, body: huge(ownObject) },
    { name: 'the same, as a file', ...json, path: `${api}?download=true`, body: huge(ownObject) },
    { name: 'cklb, 99,000 unknown fields', ...json, body: ownObject(unknown) },
    {
      name: 'cklb, a million values',
      ...json,
      body: Buffer.from(`{"slug":"${slug}","checklist":{"stigs":[${'{},'.repeat(499_000)}{}]}}`),
    },
    { name: 'cklb as a text, 12,000 rules', ...json, body: many(asCklb, 12_000) },
    { name: 'ckl, 5,000 rules', ...json, body: many(asCkl, 5_000) },
    { name: 'ckl, one long text', ...json, body: huge(asCkl) },
    {
      name: 'ckl, two million elements',
      ...json,
      body: asText(`<CHECKLIST><ASSET>${'<a/>'.repeat(2_000_001)}`),
    },
    { name: 'brackets', ...json, body: asText(`{"a":[${'[],'.repeat(10 * mebibyte)}`) },
    { name: 'blanks', ...json, body: Buffer.alloc(room, ' ') },
    { name: 'form, 16,000 rules', ...page, body: many(file(plainCklb), 16_000) },
    { name: 'form, one long text', ...page, body: huge(file(plainCklb)) },
    { name: 'form, 99,000 unknown fields', ...page, body: file(plainCklb)(unknown) },
    {
      name: 'form, 16,000 rules, as a file',
      ...page,
      body: many((each) => form({ file: JSON.stringify(each), slug, as: 'file' }), 16_000),
    },
    {
      name: 'form, brought back by the page',
      ...page,
      body: form({ slug, as: 'file', checklist: many(plainCklb, 16_000).toString('base64') }),
    },
  ];
}
