import * as assert from 'uvu/assert';
import { createMarker, Field } from '../../src/pages/parts/diff-text.tsx';
import { testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { rowsOf } from '../support/tables.ts';
import { sampleRules } from '../support/xccdf-writer.ts';

const pages = suite('Pages of changes');

const t = await testApp([shipped('stigs')]);
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
pages.after(() => t.db.close());

const diff = '/stigs/harbor_linux_3/diff';
const both = 'from=V1R1&to=V1R2';
const changesIn = (html: string) =>
  [...html.matchAll(/<article class="change" id="([^"]*)"/g)].map(([, id]) => id!);

interface Changed {
  new: { groupId: string };
  classes: string[];
  severity?: string;
  fields: { old: string | string[]; new: string | string[] }[];
}
const { changed } = (await t.get(`/api/v1${diff}?${both}`)).json as { changed: Changed[] };

/** The sides of the fields in a part of a page, before and after in turns. */
const sidesIn = (html: string) => [...html.matchAll(/<p class="text">(.*?)<\/p>/gs)].map(([, side]) => side!);

pages('the comparison marks what went and what came, and adds nothing', async () => {
  const severities: Record<string, string> = { '▲ CAT I': 'high', '◆ CAT II': 'medium', '● CAT III': 'low' };
  const plain = (side: string) =>
    side.startsWith('<span class="severity')
      ? severities[textOf(side)]!
      : ` ${side} `
          .replace(/<\/?(?:ins|del)>/g, '')
          .replace(/&(lt|gt|quot|#39|amp);/g, (each) => textOf(each))
          .slice(1, -1);
  const textsOf = ({ fields }: Changed) =>
    fields.flatMap((field) => [[field.old].flat().join('\n'), [field.new].flat().join('\n')]);
  const page = sidesIn((await loadPage(t, `${diff}?${both}`, ann)).html);
  for (const [index, side] of page.entries()) assert.not.match(side, index % 2 === 0 ? '<ins>' : '<del>');
  assert.match(page.join(), /<del>.*<ins>/s);
  // What is left out is named, and what is shown is there in this order.
  const whole = changed.flatMap(textsOf);
  assert.is(page.length, whole.length);
  assert.ok(page.some((side) => side.includes('[…]')));
  for (const [index, side] of page.map(plain).entries()) {
    const parts = side.split(' […] ').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    assert.match(whole[index]!, new RegExp(`^${parts.join('[^]*')}$`));
  }
  for (const rule of changed) {
    const id = rule.new.groupId;
    const { html } = await loadPage(t, `${diff}?${both}&rule=${id}`, ann);
    const article = html.split('<article class="change"').find((each) => each.startsWith(` id="${id}"`))!;
    assert.equal(sidesIn(article).map(plain), textsOf(rule));
  }
});

pages('a page marks words in 600,000 characters at most, and shows the rest as it is', async () => {
  const marker = createMarker(new Map(), Number.POSITIVE_INFINITY);
  for (const word of ['one', 'two', 'six']) {
    const [before, after] = [`old ${word}s `.repeat(11_111), `new ${word}s `.repeat(11_111)];
    const segments = marker(before, after)!;
    const without = (kind: string) =>
      segments.flatMap((segment) => (segment.kind === kind ? [] : segment.text)).join('');
    assert.equal([without('added'), without('removed')], [before, after]);
    assert.is(marker(before, after), segments, 'what is marked is not compared again');
  }
  assert.is(marker('one more', 'one more time'), null);
  const field = { field: 'check', old: 'a < b', new: 'a > b' } as const;
  assert.equal(sidesIn(String(Field({ field, from: 'V1R1', to: 'V1R2', marker }))), ['a &lt; b', 'a &gt; b']);
});

pages('a wrong day, release, rule or filter is refused or ignored, as the API does', async () => {
  for (const [path, status] of rowsOf(`
    /changes?since=x | 400
    ${diff}?kind=all | 400
    ${diff}?rule=${'x'.repeat(201)} | 400
    /changes?since=9999-12-31 | 200
    ${diff}?${both}&rule=%3Cb%3E | 200
  `)) {
    const answer = await loadPage(t, path!, ann);
    assert.is(answer.status, Number(status), path);
    assert.not.match(answer.html, '<b>"');
    if (path!.includes('9999')) assert.match(answer.html, 'No STIG has a release');
  }
});

pages('every change is on one page of a comparison, and found by its id', async () => {
  const many = sampleRules(120);
  const of = (release: number, check: string) => ({
    ...{ id: 'Many', title: 'Many', release, date: `0${release} Feb 2026` },
    rules: many.map((rule) => ({ ...rule, checks: [`${check} ${'and look again '.repeat(200)}`] })),
  });
  const own = await testApp([writeBenchmarks([of(1, 'Look'), of(2, 'See')])]);
  const sam = await sessionCaller(own, await userCaller(own));
  const load = async (query: string) => (await loadPage(own, `/stigs/many/diff?${query}`, sam)).html;
  const all = many.map(({ groupId }) => groupId!);
  const found: string[] = [];
  for (let page = 1; page <= 10 && found.length < all.length; page++) {
    const html = await load(`page=${page}`);
    assert.ok(html.length < 300_000, `${html.length}`);
    found.push(...changesIn(html));
  }
  assert.equal(found, all);
  assert.match(await load(`rule=${all.at(-1)}`), `<article class="change" id="${all.at(-1)}">`);
  own.db.close();
});

pages.run();
