import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { message, messageHeaders } from '../support/programs-client.ts';
import { writeResults } from '../support/results-writer.ts';
import type { Running } from '../support/running.ts';

// The requests that once stopped the server, each as small as it could be and still do so.

const mebibyte = 1024 * 1024;
const longName = 'a'.repeat(16_000_000);
const slug = 'harbor_linux_3';
/** Long enough to stand in no file by chance. */
const boundary = 'boundary-of-the-parts-of-a-form';

/** A request, or several on one connection; the bytes are made when they are sent. */
export interface Asked {
  name: string;
  parts(): (string | Buffer)[];
}

/** So many texts or numbers, divided by commas. */
const many = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join();

/** The requests, for a server with a token of a user; makes the list that one of them adds to. */
export async function silenceRequests(server: Running, token: string): Promise<Asked[]> {
  const authorization = { Authorization: `Bearer ${token}` };
  const address = `${server.url}/api/v1`;
  const made = { method: 'POST', headers: authorization, body: '{"name":"Silence"}' };
  const list = (await (await fetch(`${address}/lists`, made)).json()) as { id: string };
  const file = await fetch(`${address}/stigs/${slug}/download`, { headers: authorization });
  const whole = (await file.json()) as Cklb;
  const [stig] = whole.stigs;
  const [rule] = stig!.rules;

  const post = (
    name: string,
    path: string,
    body: () => string,
    type = 'application/json',
    caller: object = authorization,
  ) => ({
    name,
    parts() {
      const bytes = Buffer.from(body());
      const headers = {
        Host: 'localhost',
        Connection: 'close',
        'Content-Type': type,
        ...caller,
        'Content-Length': bytes.length,
      };
      return [
        `POST ${path} HTTP/1.1\r\n${Object.entries(headers)
          .map((each) => `${each.join(': ')}\r\n`)
          .join('')}\r\n`,
        bytes,
      ];
    },
  });
  const fields = (size: number) => 'a&'.repeat(size / 2).slice(0, -1);
  const form = (name: string, path: string, body: () => string, caller: object) =>
    post(name, path, body, 'application/x-www-form-urlencoded', caller);
  const program = (name: string, tool: string, args: object) =>
    post(
      `POST /mcp, ${name}`,
      '/mcp',
      () => JSON.stringify(message('tools/call', { name: tool, arguments: args })),
      'application/json',
      { ...authorization, ...messageHeaders('tools/call', tool) },
    );
  const own = { 'Sec-Fetch-Site': 'same-origin' };
  const json = (name: string, path: string, body: () => string, caller?: object) =>
    post(name, `/api/v1${path}`, body, 'application/json', caller);
  const checklist = (...changed: [stig: object, rule: object]) => ({
    ...whole,
    stigs: [{ ...stig!, ...changed[0], rules: [{ ...rule!, ...changed[1] }] }],
  });
  const inspected = (value: object) => JSON.stringify({ checklist: value });
  const emass = () => {
    const ccis = Array.from({ length: 100_000 }, (_, index) => `CCI-${String(index).padStart(6, '0')}`);
    return JSON.stringify({ checklists: [checklist({}, { ccis })], sheet: 'test-results', format: 'json' });
  };
  const results = (count: number, benchmarkId: string) =>
    writeResults(
      Array.from({ length: count }, () => ({ id: rule!.rule_id_src, result: 'pass' })),
      { benchmarkId },
    );
  const upgraded = (value: string) => {
    const file = 'Content-Disposition: form-data; name="file"; filename="a.cklb"';
    return `--${boundary}\r\n${file}\r\n\r\n${value}\r\n--${boundary}--\r\n`;
  };
  const page = (name: string, body: () => string) =>
    post(name, '/checklists/upgrade', body, `multipart/form-data; boundary=${boundary}`, {
      ...authorization,
      ...own,
    });
  const resolve = `/api/v1/crosswalk/resolve?from=nist-800-171:3.6.1&to=cci&maxHops=1&explain=true`;
  const explained = (last: boolean) =>
    `GET ${resolve} HTTP/1.1\r\nHost: localhost\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;

  return [
    json('eMASS with 100,000 CCIs in a checklist', '/checklists/emass', emass),
    form('POST /theme, 1 MiB of a&a&a', '/theme', () => fields(mebibyte), {}),
    form('the same from one of our pages', '/theme', () => fields(mebibyte), own),
    form('POST /signin, 1 MiB of a&a&a', '/signin', () => fields(mebibyte), {}),
    form('the same from one of our pages', '/signin', () => fields(mebibyte), own),
    form('POST /lists without a token, 256 KiB of a&a&a', '/lists', () => fields(mebibyte / 4), own),
    {
      name: '100 pipelined resolve?explain=true',
      parts: () => [explained(false).repeat(99) + explained(true)],
    },
    json('inspect, stig_id of 16 million characters', '/checklists/inspect', () =>
      inspected(checklist({ stig_id: longName }, {})),
    ),
    json('inspect, stig_name of 16 million', '/checklists/inspect', () =>
      inspected(checklist({ stig_name: longName }, {})),
    ),
    json('inspect, results with a benchmark id of 16 million', '/checklists/inspect', () =>
      JSON.stringify({ results: results(1, longName) }),
    ),
    page('POST /checklists/upgrade, stig_id of 16 million', () =>
      upgraded(JSON.stringify(checklist({ stig_id: longName }, {}))),
    ),
    page('POST /checklists/upgrade, the STIGID of a ckl of 16 million', () =>
      upgraded(writeCkl(checklist({ stig_id: longName }, {}) as Cklb)),
    ),
    page('POST /checklists/upgrade, stig_name of 16 million', () =>
      upgraded(JSON.stringify(checklist({ stig_id: '', stig_name: longName }, {}))),
    ),
    form('POST /checklists/upgrade, 8 MB of a&a&a', '/checklists/upgrade', () => fields(8_000_000), {
      ...authorization,
      ...own,
    }),
    json('inspect, 20,000 results for one rule', '/checklists/inspect', () =>
      JSON.stringify({ results: results(20_000, 'Harbor_Linux_3_STIG') }),
    ),
    json('from-results, 20,000 results for one rule', '/checklists/from-results', () =>
      JSON.stringify({ slug, results: results(20_000, 'Harbor_Linux_3_STIG') }),
    ),
    json(
      '111,000 slugs to a list',
      `/lists/${list.id}/stigs`,
      () => `{"slugs":[${many(111_000, (index) => `"${index.toString(36)}"`)}]}`,
    ),
    json(
      '520,000 wrong slugs to a list',
      `/lists/${list.id}/stigs`,
      () => `{"slugs":[${many(520_000, () => '0')}]}`,
    ),
    json(
      '520,000 wrong slugs to the favorites',
      '/my-stigs',
      () => `{"slugs":[${many(520_000, () => '0')}]}`,
    ),
    json(
      '520,000 pairs without a token',
      '/crosswalk/resolve/batch',
      () => `{"to":["cci"],"from":[${many(520_000, () => '0')}]}`,
      {},
    ),
    json(
      '520,000 CCIs without a token',
      '/crosswalk/resolve/batch',
      () => `{"to":"nist-800-53","ccis":[${many(520_000, () => '0')}]}`,
      {},
    ),
    program('find with 250 words', 'find', { q: 'a '.repeat(250).trim() }),
    program('find with 500 signs', 'find', { q: '"-('.repeat(166), detail: 'full' }),
    program('coverage of a STIG', 'coverage', { stig: slug, show: 'all', detail: 'full' }),
    program('the rules of CM-6', 'rules_for_control', { control: 'CM-6', detail: 'full' }),
    program('60 KiB of arguments', 'get_rule', { id: 'V'.repeat(60_000) }),
  ];
}
