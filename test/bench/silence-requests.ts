import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { boundary } from '../support/hostile/shapes.ts';
import { message, messageHeaders } from '../support/programs-client.ts';
import { writeResults } from '../support/results-writer.ts';
import type { Running } from '../support/running.ts';

// The requests that once stopped the server, each as small as it could be and still do so.

const mebibyte = 1024 * 1024;
const longName = 'a'.repeat(16_000_000);
const slug = 'harbor_linux_3';

/** A request, or several on one connection; the text is made when it is sent. */
type Asked = [name: string, request: () => string];

/** So many texts or numbers, divided by commas. */
const many = (count: number, make: (index: number) => string = () => '0') =>
  Array.from({ length: count }, (_, index) => make(index)).join();
const none = {};
const fields = (bytes: number) => 'a&'.repeat(bytes / 2);

/** The requests, for a server with a token of a user; makes the list that one of them adds to. */
export async function silenceRequests(server: Running, token: string): Promise<Asked[]> {
  const user = { Authorization: `Bearer ${token}` };
  const page = { ...user, 'Sec-Fetch-Site': 'same-origin' };
  const own = { 'Sec-Fetch-Site': 'same-origin' };
  const address = `${server.url}/api/v1`;
  const init = { method: 'POST', headers: user, body: '{"name":"Silence"}' };
  const list = (await (await fetch(`${address}/lists`, init)).json()) as { id: string };
  const file = await fetch(`${address}/stigs/${slug}/download`, { headers: user });
  const whole = (await file.json()) as Cklb;
  const [stig] = whole.stigs;
  const [rule] = stig!.rules;

  const post = (path: string, type: string, caller: object, body: string) => {
    const head = { Host: 'localhost', Connection: 'close', 'Content-Type': type, ...caller };
    const lines = Object.entries({ ...head, 'Content-Length': Buffer.byteLength(body) });
    return `POST ${path} HTTP/1.1\r\n${lines.map((each) => `${each.join(': ')}\r\n`).join('')}\r\n${body}`;
  };
  const form = (path: string, bytes: number, caller: object = none): Asked => [
    `${path}, ${bytes} bytes of a&a&a${caller === none ? '' : ', from a page of ours'}`,
    () => post(path, 'application/x-www-form-urlencoded', caller, fields(bytes)),
  ];
  const json = (name: string, path: string, body: () => string, caller: object = user): Asked => [
    name,
    () => post(`/api/v1${path}`, 'application/json', caller, body()),
  ];
  const checklist = (ofStig: object, ofRule = {}) =>
    ({ ...whole, stigs: [{ ...stig!, ...ofStig, rules: [{ ...rule!, ...ofRule }] }] }) as Cklb;
  const inspect = (name: string, value: () => object) =>
    json(`inspect, ${name}`, '/checklists/inspect', () => JSON.stringify(value()));
  const results = (count: number, benchmarkId = 'Harbor_Linux_3_STIG') =>
    writeResults(
      Array.from({ length: count }, () => ({ id: rule!.rule_id_src, result: 'pass' })),
      { benchmarkId },
    );
  const upgrade = (name: string, text: () => string): Asked => [
    `POST /checklists/upgrade, ${name}`,
    () => {
      const part = 'Content-Disposition: form-data; name="file"; filename="a.cklb"';
      const body = `--${boundary}\r\n${part}\r\n\r\n${text()}\r\n--${boundary}--\r\n`;
      return post('/checklists/upgrade', `multipart/form-data; boundary=${boundary}`, page, body);
    },
  ];
  const program = (name: string, tool: string, args: object): Asked => [
    `${tool}, ${name}`,
    () => {
      const body = JSON.stringify(message('tools/call', { name: tool, arguments: args }));
      return post('/mcp', 'application/json', { ...user, ...messageHeaders('tools/call', tool) }, body);
    },
  ];
  const resolve = `GET /api/v1/crosswalk/resolve?from=nist-800-171:3.6.1&to=cci&maxHops=1&explain=true`;
  const explain = (more = '') => `${resolve} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
  const ccis = () => many(100_000, (index) => `CCI-${String(index).padStart(6, '0')}`).split(',');
  const emass = { sheet: 'test-results', format: 'json' };
  const slugs = `/lists/${list.id}/stigs`;

  return [
    json('eMASS with 100,000 CCIs in a checklist', '/checklists/emass', () =>
      JSON.stringify({ checklists: [checklist({}, { ccis: ccis() })], ...emass }),
    ),
    form('/signin', mebibyte),
    form('/signin', mebibyte, own),
    form('/lists', mebibyte / 4, own),
    form('/checklists/upgrade', 8_000_000, page),
    ['100 pipelined resolve?explain=true', () => explain().repeat(99) + explain('Connection: close\r\n')],
    inspect('stig_id of 16 million characters', () => ({ checklist: checklist({ stig_id: longName }) })),
    inspect('stig_name of 16 million', () => ({ checklist: checklist({ stig_name: longName }) })),
    inspect('results with a benchmark id of 16 million', () => ({ results: results(1, longName) })),
    inspect('20,000 results for one rule', () => ({ results: results(20_000) })),
    json('from-results, 20,000 results for one rule', '/checklists/from-results', () =>
      JSON.stringify({ slug, results: results(20_000) }),
    ),
    upgrade('stig_id of 16 million', () => JSON.stringify(checklist({ stig_id: longName }))),
    upgrade('the STIGID of a ckl of 16 million', () => writeCkl(checklist({ stig_id: longName }))),
    json(
      '111,000 slugs to a list',
      slugs,
      () => `{"slugs":[${many(111_000, (at) => `"${at.toString(36)}"`)}]}`,
    ),
    json('520,000 wrong slugs to a list', slugs, () => `{"slugs":[${many(520_000)}]}`),
    json(
      '520,000 pairs without a token',
      '/crosswalk/resolve/batch',
      () => `{"to":["cci"],"from":[${many(520_000)}]}`,
      {},
    ),
    program('250 words', 'find', { q: 'a '.repeat(250).trim() }),
    program('500 signs', 'find', { q: '"-('.repeat(166), detail: 'full' }),
    program('a STIG', 'coverage', { stig: slug, show: 'all', detail: 'full' }),
    program('60 KiB of arguments', 'get_rule', { id: 'V'.repeat(60_000) }),
  ];
}
