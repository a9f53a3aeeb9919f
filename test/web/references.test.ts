import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, formOnPage, loadPage, textOf } from '../support/pages.ts';
import { readCsv } from '../support/read-exports.ts';
import { shipped } from '../support/reference.ts';
import { told } from '../support/told.ts';

// Rule D39.2: a page takes pasted text or files.
const pages = suite('The page of the ids in a text');

let t: TestApp;
let ann: Caller;

pages.before(async () => {
  t = await testApp([shipped('stigs'), shipped('controls')]);
  ann = await sessionCaller(t, await userCaller(t));
});
pages.after(() => t.db.close());

function formOf(
  text: string,
  files: [name: string, content: string | Uint8Array<ArrayBuffer>][] = [],
): FormData {
  const form = new FormData();
  form.append('text', text);
  for (const [name, content] of files) form.append('file', new File([content], name));
  return form;
}

const find = (form: FormData) => loadPage(t, '/references', ann, form);

pages('each id has its place, its state and a link to what it names', async () => {
  const [rule] = (await t.get('/api/v1/stigs/harbor_linux_3')).json.findings;
  const pasted = `first ${rule.groupId}\nthen AC-2(1), AC-99 and CCI-000015, V-999999999`;
  const { status, html } = await find(formOf(pasted, [['tasks.yml', `- name: ${rule.groupId}`]]));
  assert.is(status, 200);
  const text = textOf(html);
  assert.match(text, '6 ids found');
  for (const place of ['1:7', '2:6', '2:15', '2:25', '2:37', 'tasks.yml: 1:9'])
    assert.match(text.replaceAll(' ', ''), place.replaceAll(' ', ''), place);
  const named = [`/stigs/harbor_linux_3/rules/${rule.groupId}`, '/ccis/CCI-000015', '/search?q=AC-2%281%29'];
  for (const href of named) assert.ok(attributesOf(html, 'href').includes(href), href);
  // What needs work comes first, and what is current is folded.
  assert.match(html, /<details class="more" id="unknown" open/);
  assert.match(html, /<details class="more" id="current">/);
  assert.ok(html.indexOf('id="unknown"') < html.indexOf('id="current"'));
  const init = { method: 'POST', body: formOnPage(html), headers: ann };
  const action = attributesOf(html, 'action').find((each) => each.startsWith('/references?upload='))!;
  const answer = await t.app.request(`http://here.example${action}`, init);
  assert.match(answer.headers.get('Content-Disposition')!, 'filename="references.csv"');
  const [head, ...lines] = readCsv(await answer.text());
  assert.equal(head!.slice(0, 4), ['file', 'line', 'column', 'text']);
  const found = [rule.groupId, 'AC-2(1)', 'AC-99', 'CCI-000015', 'V-999999999', rule.groupId];
  assert.equal(told(lines, 3), found);
});

pages('files in UTF-16 and windows-1252 are read, others are skipped by name', async () => {
  const wide = (mark: number[], text: string, swap: boolean) => {
    const bytes = Buffer.from(text, 'utf16le');
    return Uint8Array.from([...mark, ...(swap ? bytes.swap16() : bytes)]);
  };
  const { html } = await find(
    formOf('', [
      ['little.txt', wide([0xff, 0xfe], 'see AC-3', false)],
      ['big.txt', wide([0xfe, 0xff], 'see AC-4', true)],
      ['<b>.bin', Uint8Array.from([65, 67, 45, 51, 0])],
      ['latin.txt', Uint8Array.from(Buffer.from('für AC-5 und \x93AC-6\x94', 'latin1'))],
      ['x.gz', Uint8Array.from([0x1f, 0x8b, 8, 0, 0xff])],
    ]),
  );
  const text = textOf(html);
  assert.match(text, '4 ids found');
  assert.match(text, 'Skipped, because not text: <b>.bin, x.gz.');
  assert.not.match(html, '<b>.bin');
});

pages('what cannot be checked is said above the form, which keeps the text', async () => {
  const empty = await find(formOf('  '));
  assert.is(empty.status, 400);
  assert.match(textOf(empty.html), 'Paste a text, or choose files');
  const many = await find(formOf('AC-2 '.repeat(50_001)));
  assert.is(many.status, 400);
  assert.match(textOf(many.html), 'The text has more than 50000 ids. Divide it');
  assert.match(many.html, 'AC-2 AC-2 AC-2');
  const files = Array.from({ length: 101 }, (_, at): [string, string] => [`${at}.txt`, 'AC-2']);
  assert.match(textOf((await find(formOf('', files))).html), 'Choose at most 100 files at once');
  assert.match(textOf((await find(formOf('nothing here'))).html), 'No id of a rule, control, CCI');
  assert.is((await find(formOf('x'.repeat(8 * 1024 * 1024 + 1)))).status, 413);
});

pages.run();
