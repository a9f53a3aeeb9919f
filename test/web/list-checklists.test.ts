import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { listOf, loadPage, textOf } from '../support/pages.ts';
import { readZip } from '../support/read-zip.ts';
import { shipped } from '../support/reference.ts';
import { noFormat } from '../support/words.ts';

const pages = suite('Checklists of a list, by a form');

const t = await testApp([shipped('stigs')]);
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
const slugs = ['lantern_web_server_2', 'harbor_linux_3'];
const home = (await loadPage(t, '/systems', ann, { name: 'Site', visibility: 'SHARED' })).location!;
await loadPage(t, `${home}/stigs`, ann, { slugs: slugs.join('\n') });
const here = `${home}/checklists`;
pages.after(() => t.db.close());

function formOf(fields: Record<string, string>, file?: string | Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (file !== undefined) form.set('file', new Blob([file]), 'hosts.csv');
  return form;
}

const send = (form: FormData) =>
  t.app.request(`http://here.example${here}`, { method: 'POST', body: form, headers: ann });

async function zipOf(form: FormData): Promise<Buffer> {
  const answer = await send(form);
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.is(answer.headers.get('Content-Type'), 'application/zip', textOf(bytes.toString()).slice(0, 300));
  return bytes;
}

pages('pasted, typed or as csv: the zip is that of the API', async () => {
  const hosts = [
    { hostName: 'web01', ipAddress: '10.0.0.11', fqdn: 'web01.x.test', role: 'Member Server' },
    { hostName: 'web02' },
  ];
  const Authorization = `Bearer ${await t.token({ sub: 'ann' })}`;
  for (const [format, layout] of [
    ['cklb', 'stig'],
    ['ckl', 'host'],
  ] as const) {
    const body = JSON.stringify({ hosts, format, layout });
    const api = await t.app.request(`/api/v1${listOf(here)}`, {
      method: 'POST',
      headers: { Authorization },
      body,
    });
    const wanted = Buffer.from(await api.arrayBuffer());
    assert.is((await readZip(wanted)).size, layout === 'host' ? 2 : 4);
    const pasted = 'web01\t10.0.0.11\tweb01.x.test\tmember server\r\nweb02\r\n';
    const csv = '\uFEFFName;Role;IP Address;FQDN\nweb01;Member Server;10.0.0.11;web01.x.test\n\nweb02;;;\n';
    const fields = { format, layout };
    assert.equal(await zipOf(formOf({ ...fields, hosts: pasted })), wanted);
    assert.equal(await zipOf(formOf({ ...fields, hosts: csv })), wanted);
    assert.equal(await zipOf(formOf({ ...fields, hosts: '' }, csv)), wanted);
  }
  const answer = await send(formOf({ hosts: 'web01' }));
  assert.match(answer.headers.get('Content-Disposition')!, /filename="Site_checklists\.zip"/);
  assert.is(answer.headers.get('Cache-Control'), 'private, no-store');
  await answer.body!.cancel();
});

pages('what is wrong is named by line, and the form keeps what was typed', async () => {
  const refused = async (form: FormData, ...words: string[]) => {
    const page = await loadPage(t, here, ann, form);
    assert.is(page.status, 400);
    for (const each of words) assert.ok(textOf(page.html).includes(each), `${each}: ${textOf(page.html)}`);
    return page.html;
  };
  const typed = 'web01,10.0.0.11\n,10.0.0.12\n<b>web03</b>,,,King\nweb04,1,2,None,5';
  const html = await refused(
    formOf({ hosts: typed, format: 'ckl', layout: 'host' }),
    'Line 2: hostName is required',
    'Line 3 (<b>web03</b>): role must be one of: None, Workstation, Member Server, Domain Controller',
    'Line 4: it has more than 4 columns',
  );
  assert.match(
    html,
    /<textarea[^>]*>\s*web01,10\.0\.0\.11\n,10\.0\.0\.12\n&lt;b&gt;web03&lt;\/b&gt;,,,King\n/,
  );
  assert.match(html, /<option value="ckl" selected/);
  assert.match(html, /<option value="host" selected/);
  const king = formOf({ hosts: '' }, 'hostName,role\nweb01,King\n');
  const again = await refused(king, 'Line 2 (web01): role must be one of');
  assert.match(again, /<textarea[^>]*>\s*hostName,role\nweb01,King\n/, 'the file stands in the form');
  await refused(formOf({ hosts: ' \n' }), 'There is no host');
  await refused(formOf({ hosts: 'a' }, 'b'), 'Paste the hosts or choose a file, not both');
  const bytes = new Uint8Array([0x6b, 0x81]);
  await refused(formOf({ hosts: '' }, bytes), 'The file cannot be read: not valid UTF-8');
  await refused(formOf({ hosts: 'a', format: 'pdf' }), noFormat('cklb', 'ckl'));
  await refused(formOf({ hosts: 'hostName,owner\na,b' }), 'there is no column "owner"');
});

pages('a file in windows-1252 is read with a warning, whether it makes a zip or is kept', async () => {
  const list = (await loadPage(t, '/systems', ann, { name: 'Old', visibility: 'SHARED' })).location!;
  await loadPage(t, `${list}/stigs`, ann, { slugs: slugs.join('\n') });
  const post = (fields: Record<string, string>) =>
    t.app.request(`http://here.example${list}/checklists`, {
      ...{ method: 'POST', headers: ann },
      body: formOf({ ...fields, hosts: '' }, Buffer.from('hostName\nw\u00e9b01\n', 'latin1')),
    });
  const zip = await post({ format: 'cklb', layout: 'stig' });
  assert.is(zip.status, 200);
  await zip.arrayBuffer();
  assert.match(decodeURIComponent(zip.headers.get('X-Warnings')!), /read as windows-1252/);
  const kept = await post({ keep: '1' });
  assert.is(kept.status, 303);
  const page = await loadPage(t, kept.headers.get('Location')!, ann);
  assert.match(textOf(page.html), /1 host is saved with the list. The file is not UTF-8/);
});

pages('hosts are kept with the list, ticked, and made to a zip at one press', async () => {
  const list = (await loadPage(t, '/systems', ann, { name: 'Kept', visibility: 'SHARED' })).location!;
  await loadPage(t, `${list}/stigs`, ann, { slugs: slugs.join('\n') });
  const at = `${list}/checklists`;
  const hostsOf = async () =>
    (await t.get(`/api/v1${listOf(list)}/hosts`, { token: null, headers: ann })).json.hosts as object[];
  const table =
    'name;stigs\nweb01;Lantern Web Server 2\nWIN_SRV01;harbor_linux_3\ndb;"harbor_linux_3;lantern_web_server_2"';
  const kept = await loadPage(t, at, ann, formOf({ hosts: table, keep: '1' }));
  assert.is(kept.location, at);
  assert.equal(await hostsOf(), [
    { hostName: 'web01', stigs: ['lantern_web_server_2'] },
    { hostName: 'WIN_SRV01', stigs: ['harbor_linux_3'] },
    { hostName: 'db', stigs: ['harbor_linux_3', 'lantern_web_server_2'] },
  ]);
  const { html } = await loadPage(t, at, ann);
  assert.match(textOf(html), 'WIN_SRV01 is not a host name by RFC 1123');
  assert.is(html.match(/name="tick"[^>]* checked/g)!.length, 4);
  const download = async (who = ann) => {
    const body = formOf({ kept: '1', format: 'ckl', layout: 'stig' });
    const answer = await t.app.request(`http://here.example${at}`, { method: 'POST', body, headers: who });
    return [...(await readZip(new Uint8Array(await answer.arrayBuffer()))).keys()];
  };
  const names = (await download()).map((name) => name.replace(/_V\d+R\d+\.ckl$/, ''));
  assert.equal(names, [
    'web01_lantern_web_server_2',
    'WIN_SRV01_harbor_linux_3',
    'db_harbor_linux_3',
    'db_lantern_web_server_2',
  ]);
  const bob = await sessionCaller(t, await userCaller(t, { sub: 'bob' }));
  assert.equal(await download(bob), await download());
  assert.not.match((await loadPage(t, at, bob)).html, /Save assignments|Remove</);

  const revision = /name="revision" value="(\d+)"/.exec(html)![1]!;
  const ticks = { revision, first: '0', count: '3' };
  const all = ['0 lantern_web_server_2', '0 harbor_linux_3', '1 harbor_linux_3'];
  const none = await loadPage(t, `${list}/hosts/ticks`, ann, { ...ticks, tick: all });
  assert.is(none.status, 400);
  assert.match(textOf(none.html), 'db has no STIG. Tick one, or remove the host');
  const whole = { ...ticks, tick: [...all, '2 harbor_linux_3'] };
  assert.is((await loadPage(t, `${list}/hosts/ticks`, ann, whole)).location, at);
  assert.equal(await hostsOf(), [
    { hostName: 'web01' },
    { hostName: 'WIN_SRV01', stigs: ['harbor_linux_3'] },
    { hostName: 'db', stigs: ['harbor_linux_3'] },
  ]);
  // Ticks of a table that was changed since are not taken.
  assert.is((await loadPage(t, `${list}/hosts/ticks`, ann, whole)).status, 412);
  assert.is((await loadPage(t, `${list}/hosts/ticks`, bob, { ...ticks, tick: all })).status, 403);
  await loadPage(t, `${list}/hosts/remove`, ann, { host: 'WIN_SRV01' });
  assert.equal((await hostsOf()).length, 2);
  const table2 = 'name,stigs\na,no_such\n,harbor_linux_3';
  const wrong = await loadPage(t, at, ann, formOf({ hosts: table2, keep: '1' }));
  assert.is(wrong.status, 400);
  const problems = /Line 2 \(a\): the list has no STIG no_such .*Line 3: hostName is required/;
  assert.match(textOf(wrong.html), problems);
  assert.equal((await hostsOf()).length, 2, 'nothing was changed');
});

pages(
  'a list without a STIG says so; one that is gone is named; who sees the list may make them',
  async () => {
    const empty = (await loadPage(t, '/systems', ann, { name: 'Empty', visibility: 'PRIVATE' })).location!;
    const { html } = await loadPage(t, `${empty}/checklists`, ann);
    assert.match(textOf(html), 'The list has no STIG to make checklists of.');
    assert.not.match(html, /<textarea/);
    const own = await testApp([shipped('stigs')]);
    const cid = await sessionCaller(own, await userCaller(own, { sub: 'cid' }));
    const list = (await loadPage(own, '/systems', cid, { name: 'L', visibility: 'PRIVATE' })).location!;
    await loadPage(own, `${list}/stigs`, cid, { slugs: slugs.join('\n') });
    own.db.sqlite.exec("UPDATE list_stigs SET slug = 'gone_stig', benchmark_id = 'Gone' WHERE position = 1");
    const page = textOf((await loadPage(own, `${list}/checklists`, cid)).html);
    assert.match(page, '1 STIG for each host, as one zip.');
    const gone = "SELECT title FROM list_stigs WHERE slug = 'gone_stig'";
    assert.match(page, `so left out: ${own.db.sqlite.prepare(gone).pluck().get()}`);
    own.db.close();
    const bob = await sessionCaller(t, await userCaller(t, { sub: 'bob' }));
    assert.is((await loadPage(t, here, bob)).status, 200);
  },
);

pages.run();
