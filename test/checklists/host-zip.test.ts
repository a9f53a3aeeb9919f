import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { deflatedPiece, joinedPieces, storedPiece } from '../../src/base/deflate.ts';
import { crcOf } from '../../src/base/zip.ts';
import { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { createStigService } from '../../src/catalog/stigs/queries.ts';
import { createNames, nameKey, safeName } from '../../src/checklists/file-names.ts';
import { createChecklistZips, type HostsOfZip } from '../../src/checklists/host-zip.ts';

import { type TestApp, testApp } from '../support/app.ts';
import { readCklFile } from '../support/ckl-reader.ts';
import { rejects, suite } from '../support/harness.ts';
import { readZip } from '../support/read-zip.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { assertError } from '../support/service.ts';
import { readCkl, readCklb } from '../support/stig-manager.ts';

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
  all = stigs.map(({ slug }: { slug: string }) => slug);
  list = (await t.send('POST', '/api/v1/lists', { name: 'Site' })).json.id;
  for (const slug of all) records.push((await t.get(`/api/v1/stigs/${slug}/download?format=json`)).json);
  // Not in the order in which they are to come.
  await t.send('POST', `/api/v1/lists/${list}/stigs`, { slugs: all.toReversed() });
});
zips.after(() => t.db.close());

const address = () => `/api/v1/lists/${list}/checklists`;
const make = () => createChecklistZips(createStigService(t.db), t.db.generation);
const bytesOf = async (body: ReadableStream<Uint8Array> | null) =>
  Buffer.from(await new Response(body).arrayBuffer());

async function post(body: object): Promise<{ headers: Headers; bytes: Buffer }> {
  const Authorization = `Bearer ${await t.token()}`;
  const answer = await t.app.request(address(), {
    method: 'POST',
    headers: { Authorization },
    body: JSON.stringify(body),
  });
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

zips('pieces one after the other are the deflate stream of their contents', async () => {
  const content = fc.string({ unit: 'binary', maxLength: 300 }).map((text) => text.toWellFormed());
  const long = fc.integer({ min: 60_000, max: 140_000 }).map((length) => 'a\u00e9 '.repeat(length / 3));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.tuple(content, fc.boolean()), fc.tuple(long, fc.constant(false))), {
        maxLength: 8,
      }),
      async (parts) => {
        const pieces = [
          ...(await Promise.all(
            parts.map(([part, isStored]) =>
              isStored
                ? storedPiece(Buffer.from(part))
                : deflatedPiece([part.slice(0, 70_000), part.slice(70_000)]),
            ),
          )),
          storedPiece(Buffer.from('end'), true),
        ];
        const whole = Buffer.from([...parts.map(([part]) => part), 'end'].join(''));
        const packed = Buffer.concat(pieces.map(({ bytes }) => bytes));
        assert.equal(inflateRawSync(packed), whole);
        const { bytes, unpacked, crc } = joinedPieces(pieces);
        assert.equal([bytes, unpacked, crc], [packed.length, whole.length, crcOf(whole)]);
      },
    ),
  );
});

for (const format of ['cklb', 'ckl'] as const) {
  zips(`${format}: every file of every STIG is the download of its host, byte for byte`, async () => {
    const { headers, bytes } = await post({ hosts, format });
    assert.is(headers.get('Content-Type'), 'application/zip');
    assert.is(Number(headers.get('Content-Length')), bytes.length);
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
  const some = [undefined, [all[0]!], all.slice(0, 2).toReversed(), [records[1]!.benchmarkId]].map(own);
  const wanted = (slugs: string[] | undefined) =>
    slugs?.map((name) => (name === records[1]!.benchmarkId ? all[1]! : name)) ?? all;
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
  const single = (await t.send('POST', '/api/v1/lists', { name: 'one' })).json.id;
  await t.send('POST', `/api/v1/lists/${single}/stigs`, { slugs: ['harbor_linux_3'] });
  for (const layout of ['stig', 'host'] as const) {
    const asked = { hosts: bodies, format: 'cklb', layout } as HostsOfZip;
    const zip = await make()(() => [{ slug: 'harbor_linux_3' }], asked, null);
    const files = await readZip(await bytesOf(zip.stream()));
    assert.equal([...files.keys()], zip.files);
    assert.is(files.size, hostile.length);
    [...files].forEach(([, bytes], index) => {
      const read = JSON.parse(bytes.toString()) as Cklb;
      assert.is(read.target_data.host_name, hostile[index], 'the checklist has the name as it was given');
    });
    assertSafe(zip.files);
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

zips('names of any texts are safe and distinct', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.constantFrom(...hostile),
    fc.stringMatching(/^[aA. _\-1-3]{0,6}$/),
  );
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 40 }), (texts) => {
      const names = createNames();
      assertSafe(texts.map((each) => names(safeName(each), '.cklb')));
    }),
  );
});

zips('a host and a STIG never run together into the name of another file', () => {
  const names = createNames();
  assert.equal(
    [names('a_b_c_V1R1', '.ckl'), names('a_b_c_V1R1', '.ckl'), names('A_b_c_V1R1', '.ckl')],
    ['a_b_c_V1R1.ckl', 'a_b_c_V1R1-2.ckl', 'A_b_c_V1R1-3.ckl'],
  );
});

const refs = (slugs: string[]) => () => slugs.map((slug) => ({ slug }));
const many = (length: number) => Array.from({ length }, (_, number) => ({ hostName: `h${number}` }));
const asked = (length: number, more: Partial<HostsOfZip> = {}): HostsOfZip => ({
  hosts: many(length),
  format: 'cklb',
  layout: 'stig',
  ...more,
});

zips('500 hosts cost each STIG once: read once, compressed once, sent from the same memory', async () => {
  const stigs = createStigService(t.db);
  let read = 0;
  const counting = {
    full: (slug: string) => {
      read++;
      return stigs.full(slug);
    },
  };
  const ten = all.slice(0, 10);
  const zip = await createChecklistZips(counting, t.db.generation)(refs(ten), asked(500), null);
  assert.is(read, ten.length);
  assert.is(zip.files.length, 500 * ten.length);
  const large = new Set<Uint8Array>();
  let bytes = 0;
  let sinceTurn = 0;
  let most = 0;
  const reader = zip.stream().getReader();
  for (;;) {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const { done, value } = await reader.read();
    if (done) break;
    if (turned) sinceTurn = 0;
    sinceTurn += value.length;
    most = Math.max(most, sinceTurn);
    bytes += value.length;
    if (value.length > 4096) large.add(value);
  }
  assert.is(bytes, zip.bytes, 'the size that is stated');
  // Each STIG, and the directory.
  assert.ok(large.size <= ten.length + 1, `${large.size} large chunks are different ones`);
  const longest = Math.max(...[...large].map(({ length }) => length));
  assert.ok(most < 128 * 1024 + 2 * longest, `${most} bytes without a turn for others`);
  assert.ok(zip.held < bytes / 10, `${zip.held} of ${bytes} bytes in memory`);
});

zips('all of it is of one catalog: another one lets it begin anew', async () => {
  const stigs = createStigService(t.db);
  let generation = 0;
  let read = 0;
  const full = (slug: string) => {
    read++;
    // Changes while the second is read, in the first attempt alone.
    if (read === 2) generation++;
    return stigs.full(slug);
  };
  const some = all.slice(0, 5);
  const zip = await createChecklistZips({ full }, () => generation)(refs(some), asked(1), null);
  assert.is(read, 2 + some.length);
  assert.is(zip.files.length, some.length);
  const restless = createChecklistZips({ full: stigs.full }, () => generation++);
  const said = /^The catalog is being changed\. Try again$/;
  await rejects(restless(refs(some), asked(1), null), said);
  // What is gone in the meantime is no error of the request.
  let gone = 0;
  const vanishing = {
    full: (slug: string) => {
      if (gone++ === 0) {
        generation++;
        throw new Error('gone');
      }
      return stigs.full(slug);
    },
  };
  const again = await createChecklistZips(vanishing, () => generation)(refs(some), asked(1), null);
  assert.is(again.files.length, some.length);
});

zips('who hangs up gets nothing more made', async () => {
  const stigs = createStigService(t.db);
  const caller = { closed: false };
  let read = 0;
  const full = (slug: string) => {
    read++;
    caller.closed = read === 2;
    return stigs.full(slug);
  };
  const making = createChecklistZips({ full }, t.db.generation);
  await rejects(making(refs(all), asked(1), null, caller), /closed the connection/);
  assert.is(read, 2);
  const zip = await make()(refs(all.slice(0, 2)), asked(500), null);
  const reader = zip.stream().getReader();
  await reader.read();
  await reader.cancel();
  assert.ok((await reader.read()).done);
});

zips('what is gone from the catalog is left out with a word', async () => {
  const own = await testApp(benchmarkPaths.slice(0, 1));
  const made = (await own.send('POST', '/api/v1/lists', { name: 'L' })).json.id;
  const path = `/api/v1/lists/${made}/checklists`;
  const empty = await own.send('POST', path, { hosts: many(1) });
  assertError(empty, 400, 'BAD_REQUEST', 'There is no STIG to make checklists of');
  const slugs = ['harbor_linux_3', 'lantern_web_server_2'];
  await own.send('POST', `/api/v1/lists/${made}/stigs`, { slugs });
  own.db.sqlite.exec("UPDATE list_stigs SET slug = 'gone_stig', benchmark_id = 'Gone' WHERE position = 1");
  const answer = await own.send('POST', path, { hosts: many(1) });
  assert.is(answer.status, 200, answer.text.slice(0, 200));
  assert.is(answer.headers.get('X-Not-In-Catalog'), 'gone_stig');
  own.db.close();
});

zips('a banner marks the zip and each checklist in it', async () => {
  const own = await testApp(benchmarkPaths.slice(0, 1), { banner: 'SECRET//NOFORN' });
  const made = (await own.send('POST', '/api/v1/lists', { name: 'L' })).json.id;
  await own.send('POST', `/api/v1/lists/${made}/stigs`, { slugs: ['harbor_linux_3'] });
  const answer = await own.app.request(`/api/v1/lists/${made}/checklists`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${await own.token()}` },
    body: JSON.stringify({ hosts: many(1) }),
  });
  assert.is(answer.headers.get('X-Classification'), 'SECRET//NOFORN');
  assert.match(answer.headers.get('Content-Disposition')!, /filename="SECRET_NOFORN__L_checklists\.zip"/);
  const [file] = (await readZip(await bytesOf(answer.body))).values();
  assert.is((JSON.parse(file!.toString()) as Cklb).target_data.classification, 'SECRET//NOFORN');
  own.db.close();
});

zips.run();
