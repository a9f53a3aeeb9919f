import * as assert from 'uvu/assert';
import { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { createStigService } from '../../src/catalog/stigs/queries.ts';
import { planChecklists, type ZipOptions } from '../../src/checklists/host-zip.ts';
import { streamOfZip } from '../../src/checklists/list-api.ts';
import { nameKey } from '../../src/checklists/names.ts';
import { beginRecord } from '../../src/http/record.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { readCklFile } from '../support/ckl-reader.ts';
import { suite } from '../support/harness.ts';
import { readZip } from '../support/read-zip.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { assertError } from '../support/service.ts';
import { readCkl, readCklb } from '../support/stig-manager.ts';
import { told } from '../support/told.ts';

// Checklists for hosts (rule D28.2): one zip, each file as the one that a download gives.
const zips = suite('Checklists for hosts');

let t: TestApp;
let list: string;
let all: string[];
/** What the catalog says of each STIG. */
const records: { benchmarkId: string; groups: { ruleId: string }[] }[] = [];

zips.before(async () => {
  t = await testApp(benchmarkPaths);
  const { stigs } = (await t.get('/api/v1/stigs?limit=150')).json;
  all = stigs.map(({ slug }: { slug: string }) => slug).filter((_: string, index: number) => index % 3 === 0);
  list = (await t.send('POST', '/api/v1/lists', { name: 'Site' })).json.id;
  for (const slug of all) records.push((await t.get(`/api/v1/stigs/${slug}/download?format=json`)).json);
  // Not in the order in which they are to come.
  await t.send('POST', `/api/v1/lists/${list}/stigs`, { slugs: all.toReversed() });
});
zips.after(() => t.db.close());

const address = () => `/api/v1/lists/${list}/checklists`;
const bytesOf = async (body: ReadableStream<Uint8Array> | null) =>
  Buffer.from(await new Response(body).arrayBuffer());

async function post(body: object, app = t, path = address()): Promise<{ headers: Headers; bytes: Buffer }> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  const headers = { Authorization: `Bearer ${await app.token()}` };
  const answer = await app.app.request(path, { ...init, headers });
  const bytes = await bytesOf(answer.body);
  assert.is(answer.status, 200, bytes.toString().slice(0, 300));
  return { headers: answer.headers, bytes };
}

const web = {
  hostName: 'web01',
  ipAddress: '10.0.0.1',
  macAddress: '00:15:5D:0E:92:0C',
  fqdn: 'web01.x.test',
};
const hosts = [{ ...web, role: 'member server' }, { hostName: 'db-1' }];

for (const format of ['cklb', 'ckl'] as const) {
  zips(`${format}: every file of every STIG is the download of its host, byte for byte`, async () => {
    const { headers, bytes } = await post({ hosts, format });
    assert.is(headers.get('Content-Type'), 'application/zip');
    assert.match(headers.get('Content-Disposition')!, /filename="Site_checklists\.zip"/);
    assert.equal((await post({ hosts, format })).bytes, bytes, 'same request, same bytes');
    const files = await readZip(bytes);
    const wanted: string[] = [];
    for (const host of hosts)
      for (const slug of all) {
        const query = new URLSearchParams({ format, ...host }).toString();
        const single = await t.get(`/api/v1/stigs/${slug}/download?${query}`);
        const name = /filename="([^"]+)"/.exec(single.headers.get('Content-Disposition')!)![1]!;
        assert.match(name, new RegExp(`^${host.hostName}_${slug}_V\\d+R.*\\.${format}$`));
        wanted.push(name);
        assert.is(files.get(name)!.toString(), single.text, name);
      }
    // The order of hosts, and within one of STIGs by title, as `/stigs` has it.
    assert.equal([...files.keys()], wanted);
  });

  zips(`${format}: a file for each host has all STIGs by title, and opens in STIG Manager`, async () => {
    const files = await readZip((await post({ hosts, format, layout: 'HOST' })).bytes);
    assert.equal([...files.keys()], [`web01.${format}`, `db-1.${format}`]);
    const [one, other] = [...files.values()].map(String) as [string, string];
    const read = (format === 'ckl' ? readCkl : readCklb)(one);
    assert.is(read.target.name, 'web01');
    assert.equal(
      read.checklists.map(({ benchmarkId, reviews }) => [benchmarkId, reviews.map(({ ruleId }) => ruleId)]),
      records.map(({ benchmarkId, groups }) => [benchmarkId, groups.map(({ ruleId }) => ruleId)]),
      'STIGs by title, rules in document order',
    );
    // Readers that share nothing with the writers.
    if (format === 'ckl') {
      assert.is(readCklFile(other).stigs.length, all.length);
      assert.ok(other.includes('<HOST_NAME>db-1</HOST_NAME>'));
    } else assert.is(Cklb.parse(JSON.parse(other)).title, 'db-1');
  });
}

zips('ids are of the host: equal hosts have equal ones in every request, and no two in one', async () => {
  const four = [...'ab'].map((hostName) => ({ hostName }));
  four.push(Object.assign({ hostName: 'c' }, { fqdn: 'a.x.test' }), { hostName: 'a-' });
  for (const layout of ['stig', 'host']) {
    const files = await readZip((await post({ hosts: four, layout })).bytes);
    const ids = [...files.values()].map((bytes) => (JSON.parse(bytes.toString()) as Cklb).id);
    assert.is(new Set(ids).size, ids.length);
    assert.is(files.size, layout === 'host' ? 4 : 4 * all.length);
  }
});

zips('a host gets the STIGs that it names, in the files that all of them would have', async () => {
  const own = (slugs: string[] | undefined, number: number) => ({
    hostName: `h${number}`,
    ...(slugs && { stigs: slugs }),
  });
  const last = records.at(-1)!.benchmarkId;
  const some = [undefined, [all[0]!], all.slice(0, 2).toReversed(), [last]].map(own);
  const wanted = (slugs: string[] | undefined) =>
    slugs?.map((name) => (name === last ? all.at(-1)! : name)) ?? all;
  const whole = await readZip((await post({ hosts: some.map(({ hostName }) => ({ hostName })) })).bytes);
  const files = await readZip((await post({ hosts: some })).bytes);
  const namesOf = ({ hostName, stigs }: (typeof some)[number]) =>
    all.filter((slug) => wanted(stigs).includes(slug)).map((slug) => `${hostName}_${slug}_`);
  assert.equal(
    [...files.keys()].map((name) => name.replace(/V\d+R.*$/, '')),
    some.flatMap(namesOf),
  );
  for (const [name, bytes] of files) assert.equal(bytes, whole.get(name), name);
  const byHost = await readZip((await post({ hosts: some, layout: 'host' })).bytes);
  assert.equal(
    [...byHost.values()].map((bytes) => (JSON.parse(bytes.toString()) as Cklb).stigs.length),
    some.map(({ stigs }) => wanted(stigs).length),
  );
});

/** Names of hosts, a blank between two. Those with blanks and controls follow. */
const plainNames = `CON con nul.txt COM1 lpt9.x COM\u00b9 conin$ .. ../../etc/passwd ..\\..\\boot /etc C:\\x a/b a\\b
  a:b .hidden -rf =1+1 ~ @x a. a.. A a \u00e9 e\u0301 E\u0301 \u212b \u00c5 \ufb01 fi \u00df SS a\u0001b a\u202eb
  a\u200bb a\u034fb %PATH% $(id) \`id\` " ' <b> a|b a?b a*b ... web01-2 web01 web01 WEB01 ${'x'.repeat(255)}`;
const hostile = [
  ...plainNames.split(/[ \n]+/),
  ...['aux .x', 'prn ', 'a ', ' a', 'a . .', 'a\nb', 'a\r\nb', '\u{1f600}'.repeat(255), '\u3000'],
];

zips('hostile names give names that every system takes, no two the same', async () => {
  const bodies = hostile.map((hostName) => ({ hostName }));
  const stigs = createStigService(t.db);
  for (const layout of ['stig', 'host'] as const) {
    const options: ZipOptions = { hosts: bodies, format: 'cklb', layout };
    const zip = planChecklists(stigs, [{ slug: 'harbor_linux_3' }], options, null);
    const files = await readZip(await bytesOf(streamOfZip(zip)));
    const names = zip.files.map(({ name }) => name);
    assert.equal([...files.keys()], names);
    const read = [...files.values()].map((bytes) => (JSON.parse(bytes.toString()) as Cklb).target_data);
    assert.equal(told(read, 'host_name'), hostile, 'the checklist has the name as it was given');
    assertSafe(names);
  }
});

/** What Windows, macOS, Linux, shells and spreadsheets take for what it is. */
function assertSafe(names: string[]): void {
  for (const name of names) {
    assert.not.match(name, /[<>:"/\\|?*%\p{C}]|^[.\-=+@~ ]|[. ]$|\.\./u, JSON.stringify(name));
    assert.not.match(name, /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\.|$)/i);
    assert.ok(Buffer.byteLength(name) <= 230, name);
    assert.is(name, name.normalize('NFC'));
  }
  const keys = [(name: string) => name.toLowerCase(), (name: string) => name.toUpperCase(), nameKey];
  for (const key of keys)
    assert.is(new Set(names.map((name) => key(name.normalize('NFD')))).size, names.length);
}

const many = (length: number) => Array.from({ length }, (_, number) => ({ hostName: `h${number}` }));

zips('what is gone from the catalog is left out with a word, and a banner marks all', async () => {
  const own = await testApp(benchmarkPaths.slice(0, 1), { banner: 'SECRET//NOFORN' });
  const made = (await own.send('POST', '/api/v1/lists', { name: 'L' })).json.id;
  const path = `/api/v1/lists/${made}/checklists`;
  const empty = await own.send('POST', path, { hosts: many(1) });
  assertError(empty, 400, 'BAD_REQUEST', 'There is no STIG to make checklists of');
  const slugs = ['harbor_linux_3', 'lantern_web_server_2'];
  await own.send('POST', `/api/v1/lists/${made}/stigs`, { slugs });
  own.db.sqlite.exec("UPDATE list_stigs SET slug = 'gone_stig', benchmark_id = 'Gone' WHERE position = 1");
  const { headers, bytes } = await post({ hosts: many(1) }, own, path);
  assert.is(headers.get('X-Not-In-Catalog'), 'gone_stig');
  assert.is(headers.get('X-Classification'), 'SECRET//NOFORN');
  assert.match(headers.get('Content-Disposition')!, /filename="SECRET_NOFORN__L_checklists\.zip"/);
  const [file] = (await readZip(bytes)).values();
  assert.is((JSON.parse(file!.toString()) as Cklb).target_data.classification, 'SECRET//NOFORN');
  own.db.close();
});

zips('a worker that fails, or whose reader hangs up, ends the stream', async () => {
  const options: ZipOptions = { hosts: many(3), format: 'ckl', layout: 'stig' };
  const zip = planChecklists(createStigService(t.db), [{ slug: 'harbor_linux_3' }], options, null);
  const broken = bytesOf(streamOfZip({ ...zip, stigs: [Buffer.from('no gzip')] }));
  assert.match(await broken.then(() => 'whole', String), /incorrect header check/);
  const reader = streamOfZip(zip).getReader();
  assert.is((await reader.read()).done, false);
  await reader.cancel();
  assert.is((await reader.read()).done, true);
});

zips('who takes zips may read pages meanwhile, and waits with the next zip', async () => {
  const headers = { Authorization: `Bearer ${await t.token()}` };
  const ask = (path: string, body: object | null) => {
    const record = beginRecord({ method: body ? 'POST' : 'GET', remote: '', secure: false }, () => undefined);
    const init = body === null ? {} : { method: 'POST', body: JSON.stringify(body) };
    const request = new Request(`http://localhost${path}`, { ...init, headers });
    return { record, answer: Promise.resolve(t.app.fetch(request, { record })) };
  };
  const zip = () => ask(address(), { hosts: many(1) });
  const first = zip();
  assert.is((await first.answer).status, 200);
  assert.is((await zip().answer).status, 200);
  assert.is((await ask('/api/v1/stigs', null).answer).status, 200);
  const third = zip();
  let isAnswered = false;
  void third.answer.then(() => {
    isAnswered = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.not(isAnswered);
  first.record.onClose!();
  assert.is((await third.answer).status, 200);
});

zips('a worker that fails while nobody reads ends the stream, and nothing else', async () => {
  const options: ZipOptions = { hosts: many(2), format: 'ckl', layout: 'stig' };
  const zip = planChecklists(createStigService(t.db), [{ slug: 'harbor_linux_3' }], options, null);
  const [first, second] = zip.files;
  const files = [first!, { ...second!, stigs: [1] }];
  const stigs = [zip.stigs[0]!, Buffer.from('no gzip')];
  const error = await new Promise<Error>((failed) => {
    // It makes what follows the first chunk before that is read.
    void streamOfZip({ ...zip, stigs, files }, failed)
      .getReader()
      .read();
  });
  assert.match(error.message, /incorrect header check/);
});

zips.run();
