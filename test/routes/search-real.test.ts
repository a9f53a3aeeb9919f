import { spawnSync } from 'node:child_process';
import * as assert from 'uvu/assert';
import { compareCodePoints, fold, withoutDiacritics } from '../../src/base/text.ts';
import { createCciLookup } from '../../src/catalog/crosswalk/cci-lookup.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { createSearchService } from '../../src/catalog/search/queries.ts';
import { readSearchQuery } from '../../src/catalog/search/query.ts';
import { stopWords } from '../../src/catalog/search/stop-words.ts';
import { testApp } from '../support/app.ts';
import { stigsAndControls } from '../support/controls.ts';
import { suite, testIf } from '../support/harness.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { hasReferenceData, referenceData } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { joinTexts, type ReadRule, readBenchmark, versionString } from '../support/xccdf-reader.ts';

// Search over every real rule, compared with what grep finds in the same texts, read by a reader of our own.
const test = suite('search over the real rules');

/** The order of rule D3.4: case ignored, then by code point. */
const inTextOrder = (a: string, b: string) => compareCodePoints(fold(a), fold(b)) || compareCodePoints(a, b);
const t = await testApp(stigsAndControls);
const service = createSearchService(t.db, createCciLookup(t.db, createCrosswalkService(t.db)));

interface CurrentRule {
  slug: string;
  rule: ReadRule;
  text: string;
}

const current = new Map(
  (
    t.db.sqlite
      .prepare(
        `SELECT s.slug, r.benchmark_id || ' ' || r.version FROM stigs AS s
           JOIN stig_releases AS r ON r.id = s.current_release_id`,
      )
      .raw()
      .all() as [string, string][]
  ).map(([slug, name]) => [name, slug]),
);

const rules: CurrentRule[] = [];
const seen = new Set<string>();
for (const { text } of await benchmarkFiles()) {
  const benchmark = readBenchmark(text);
  const name = `${benchmark.id} ${versionString(benchmark)}`;
  const slug = current.get(name);
  if (slug === undefined || seen.has(name)) continue;
  seen.add(name);
  for (const rule of benchmark.rules) {
    const fields = [
      rule.title,
      rule.tags.VulnDiscussion,
      joinTexts(rule.checks.map((check) => check.content)),
      joinTexts(rule.fixTexts),
      [rule.groupId, rule.ruleId, rule.version, rule.groupTitle].join('\n'),
      [...rule.legacyIds, ...rule.ccis].join('\n'),
    ];
    rules.push({ slug, rule, text: fields.join('\n') });
  }
}

// One file for grep, and the rule that each of its lines is of.
const file = put(scratchFolder(), 'rules.txt', rules.map(({ text }) => `${text}\n`).join(''));
const ruleOfLine = rules.flatMap(({ text }, index) => text.split('\n').map(() => index));

/** The rules in whose texts `grep -iwF` finds a text, by their places in `rules`. */
function grep(text: string): number[] {
  const run = spawnSync('grep', ['-a', '-n', '-o', '-iwF', '-e', text, file], {
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  assert.ok(run.status === 0 || run.status === 1, run.stderr);
  const lines = run.stdout.split('\n').filter((line) => line !== '');
  return [...new Set(lines.map((line) => ruleOfLine[Number.parseInt(line, 10) - 1]!))];
}

const placeOf = new Map(rules.map(({ slug, rule }, index) => [`${slug} ${rule.ruleId}`, index]));

/** The rules that have all words, by their places in `rules`. */
async function find(q: string): Promise<number[]> {
  const { results, pagination, exact } = await service.search({ q, page: 1, limit: 100_000 });
  assert.is(results.length, pagination.total);
  return results
    .slice(0, exact)
    .map(({ slug, ruleId }) => placeOf.get(`${slug} ${ruleId}`)!)
    .sort((a, b) => a - b);
}

/** Numbers that are the same in every run. */
function numbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

test('every current rule is in the index, and nothing else', () => {
  assert.is(rules.length, t.db.sqlite.prepare('SELECT count(*) FROM rule_search_docsize').pluck().get());
  assert.is(placeOf.size, rules.length);
  if (hasReferenceData) assert.is(rules.length, 3618);
});

test('100 random words and the commonest ones find exactly what grep -iwF finds', async () => {
  const next = numbers(11);
  const all = [...new Set(rules.flatMap(({ text }) => text.match(/[\p{L}\p{Nd}_]+/gu) ?? []))];
  const words = new Set(['the', 'The', 'system', 'of', 'sshd_config', 'CCI', '1']);
  while (words.size < 107) words.add(all[next(all.length)]!);
  for (const word of words) assert.equal(await find(word), grep(word), word);
});

test('50 random phrases find all that grep -iwF finds, quoted exactly that where they hold punctuation', async () => {
  const next = numbers(23);
  let exact = 0;
  for (let count = 0; count < 50; ) {
    const lines = rules[next(rules.length)]!.text.split('\n').filter((line) => /\w \w/.test(line));
    const line = lines[next(lines.length)] ?? '';
    const pieces = line.split(' ').filter((piece) => piece !== '');
    const from = next(pieces.length);
    // As it stands in the line, so that grep finds it; a phrase with a quotation mark cannot be quoted.
    const phrase = pieces
      .slice(from, from + 2 + next(3))
      .join(' ')
      .trim();
    if (!line.includes(phrase) || /["“”]|\*$/.test(phrase) || !/\w/.test(phrase) || phrase.length > 190)
      continue;
    // These exclude (rule D35.1).
    if (/(?:^|\s)(?:-[^-]|NOT\s)/.test(phrase)) continue;
    count++;
    const expected = grep(phrase);
    const plain = new Set(await find(phrase));
    assert.equal(
      expected.filter((index) => !plain.has(index)),
      [],
      `${phrase}: plain`,
    );
    const quoted = await find(`"${phrase}"`);
    const found = new Set(quoted);
    assert.equal(
      expected.filter((index) => !found.has(index)),
      [],
      `${phrase}: quoted`,
    );
    // Beyond grep only what it cannot see: other blanks, or the end of a line, between the words.
    if (/[^\w\s]/.test(phrase)) {
      exact++;
      const loose = new RegExp(phrase.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/\s+/g, '\\s+'), 'i');
      for (const index of quoted) assert.match(rules[index]!.text, loose, phrase);
    }
  }
  assert.ok(exact > 10, `${exact} phrases with punctuation`);
});

test('ids of every kind find their rule first', async () => {
  const next = numbers(5);
  for (let count = 0; count < 100; count++) {
    const index = next(rules.length);
    const { rule } = rules[index]!;
    const ids = [rule.groupId, rule.ruleId, ...rule.legacyIds.slice(0, 1)];
    for (const id of ids) {
      const [first] = (await service.search({ q: id, page: 1, limit: 1 })).results;
      const of = rules[placeOf.get(`${first!.slug} ${first!.ruleId}`)!]!.rule;
      assert.ok([of.groupId, of.ruleId, ...of.legacyIds].includes(id), id);
    }
  }
});

test('an SV-id of a revision that is not in the catalog finds the rules of its number, and no more than grep', async () => {
  const next = numbers(31);
  const numbered = rules.flatMap(({ rule }) => /^SV-(\d+)r\d+_rule$/.exec(rule.ruleId)?.[1] ?? []);
  assert.ok(numbered.length > rules.length / 2, `${numbered.length} SV-ids`);
  const speaking = Map.groupBy(
    rules.flatMap(({ text }, index) => {
      const found = [...text.matchAll(/(?<!\w)SV-(\d+)(?:r\w*)?(?!\w)/gi)].map((match) => match[1]!);
      return [...new Set(found)].map((number) => ({ number, index }));
    }),
    ({ number }) => number,
  );
  for (let count = 0; count < 100; count++) {
    const number = numbered[next(numbered.length)]!;
    const ofNumber = rules.flatMap(({ rule: each }, index) =>
      each.ruleId.startsWith(`SV-${number}r`) || each.legacyIds.includes(`SV-${number}`) ? [index] : [],
    );
    const q = `SV-${number}r999999999_rule`;
    const { results } = await service.search({ q, page: 1, limit: ofNumber.length });
    const first = results.map(({ slug, ruleId }) => placeOf.get(`${slug} ${ruleId}`)!);
    assert.equal(
      first.sort((a, b) => a - b),
      ofNumber,
      q,
    );
    assert.equal(await find(q), speaking.get(number)?.map(({ index }) => index) ?? [], q);
  }
});

test('snippets are pieces of the rule, and marks hold the word', async () => {
  for (const q of ['sshd_config', 'audit*', 'password', '"login.defs"', 'CCI-000366']) {
    const { results, exact } = await service.search({ q, page: 1, limit: 100 });
    // The others, of the second reading, have other forms of the word.
    for (const { slug, ruleId, snippet } of results.slice(0, exact)) {
      const { text } = rules[placeOf.get(`${slug} ${ruleId}`)!]!;
      const piece = snippet.text.replace(/^…/, '').replace(/…$/, '');
      if (snippet.field !== 'ids') assert.ok(text.includes(piece), `${ruleId} ${snippet.field}`);
      assert.ok(snippet.marks.length > 0, ruleId);
      const wanted = q.replace(/["*]/g, '').toLowerCase();
      for (const [start, end] of snippet.marks)
        assert.ok(snippet.text.slice(start, end).toLowerCase().startsWith(wanted), ruleId);
    }
  }
});

/** Questions of one to four words that stand in the rules, some of them in none; the same in every run. */
function madeQuestions(count: number, seed: number): string[] {
  const next = numbers(seed);
  const nonsense = ['qzxv', 'vorpal', 'zzz', 'xyzzyx'];
  const pick = () => {
    const words = rules[next(rules.length)]!.text.match(/[\p{L}\p{Nd}_]+/gu)!;
    return words[next(words.length)]!;
  };
  const questions: string[] = [];
  while (questions.length < count) {
    const words = Array.from({ length: 1 + next(4) }, () => (next(6) === 0 ? nonsense[next(4)]! : pick()));
    const query = readSearchQuery(words.join(' '));
    // Ids are asked for elsewhere.
    if (!words.includes('NOT') && query.ids.length === 0 && !query.isOneId) questions.push(words.join(' '));
  }
  return questions;
}

test('what a question found before stands first, in the same order; at most 100 others follow', async () => {
  const before = t.db.sqlite
    .prepare<[string], [string, string]>(
      `SELECT s.slug, f.rule_id FROM rule_search JOIN findings AS f ON f.id = rule_search.rowid
         JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id
        WHERE rule_search MATCH ? ORDER BY bm25(rule_search, 10.0, 2.0, 1.0, 1.0, 4.0), s.slug, f.ordinal`,
    )
    .raw();
  const seen = { few: 0, many: 0, none: 0 };
  for (const q of madeQuestions(150, 41)) {
    const words = q.split(' ').map((word) => `"${word}"`);
    const expected = before.all(words.join(' AND ')).map(([slug, ruleId]) => `${slug} ${ruleId}`);
    const { results, exact, relaxed, pagination } = await service.search({ q, page: 1, limit: 400 });
    const found = results.map(({ slug, ruleId }) => `${slug} ${ruleId}`);
    assert.is(exact, expected.length, q);
    assert.equal(found.slice(0, exact), expected.slice(0, 400), q);
    const others = results.slice(exact);
    assert.ok(others.length <= (exact < 10 ? 100 : 0), q);
    assert.is(relaxed, others.length > 0, q);
    assert.is(pagination.total, exact + others.length, q);
    assert.is(new Set(found).size, found.length, `${q}: each once`);
    for (const { ruleId, snippet } of others) assert.ok(snippet.marks.length > 0, `${q}: ${ruleId}`);
    seen[exact === 0 ? 'none' : exact < 10 ? 'few' : 'many']++;
    const paged: string[] = [];
    for (let page = 1; page <= 3; page++)
      for (const { slug, ruleId } of (await service.search({ q, page, limit: 12 })).results)
        paged.push(`${slug} ${ruleId}`);
    assert.equal(paged, found.slice(0, 36), q);
  }
  assert.ok(Math.min(...Object.values(seen)) > 15, JSON.stringify(seen));
});

test('no answer is empty where any word of the question occurs', async () => {
  const occurring = new Set(
    rules.flatMap(({ text }) => withoutDiacritics(fold(text)).match(/[\p{L}\p{Nd}_]+/gu) ?? []),
  );
  const questions = madeQuestions(120, 43).flatMap((q) => [q, `zzz ${q}`, q.replaceAll(' ', '/')]);
  for (const q of [
    ...questions,
    'the zzz',
    'zzz must',
    'what is vorpal',
    'a zzz',
    '9 vorpal',
    'event 4624',
  ]) {
    // A piece of a path with fewer than three characters occurs everywhere.
    const words = withoutDiacritics(fold(q)).match(/[\p{L}\p{Nd}_]+/gu)!;
    const counting = q.includes('/')
      ? words.filter((word) => word.length > 2 && !stopWords.has(word))
      : words;
    const { total } = (await service.search({ q, page: 1, limit: 1 })).pagination;
    if (counting.some((word) => occurring.has(word))) assert.ok(total > 0, q);
  }
});

test('each group of a result keeps the asked order, and counts are those of all pages', async () => {
  const titles = new Map(
    t.db.sqlite.prepare('SELECT slug, title FROM stigs').raw().all() as [string, string][],
  );
  type Result = Awaited<ReturnType<typeof service.search>>['results'][number];
  const place = ({ slug, ruleId }: Result) => placeOf.get(`${slug} ${ruleId}`)!;
  const byStig = (a: Result, b: Result) =>
    inTextOrder(titles.get(a.slug)!, titles.get(b.slug)!) ||
    compareCodePoints(a.slug, b.slug) ||
    place(a) - place(b);
  const levels = ['high', 'medium', 'low'];
  const numberOf = ({ groupId }: Result) => Number.parseInt(groupId.slice(groupId.indexOf('-') + 1), 10) || 0;
  const orders = {
    stig: byStig,
    severity: (a: Result, b: Result) =>
      levels.indexOf(a.severity) - levels.indexOf(b.severity) || byStig(a, b),
    id: (a: Result, b: Result) =>
      numberOf(a) - numberOf(b) ||
      compareCodePoints(a.groupId, b.groupId) ||
      compareCodePoints(a.slug, b.slug) ||
      place(a) - place(b),
  };
  let both = 0;
  for (const q of [
    ...madeQuestions(40, 47),
    'ssh timeout rhel 9',
    'idle session closed',
    '"audit.log" wheel',
  ])
    for (const filter of [{}, { severity: new Set(['medium']) }]) {
      const best = await service.search({ q, ...filter, page: 1, limit: 600 });
      const { exact, counts, pagination } = best;
      if (pagination.total > 600) continue;
      if (exact > 0 && best.relaxed) both++;
      for (const [sort, order] of Object.entries(orders) as [keyof typeof orders, typeof byStig][]) {
        const sorted = await service.search({ q, ...filter, sort, page: 1, limit: 100_000 });
        assert.equal([sorted.exact, sorted.counts, sorted.relaxed], [exact, counts, best.relaxed], q);
        const ofGroups = [sorted.results.slice(0, exact), sorted.results.slice(exact)];
        const expected = ofGroups.flatMap((group) => group.toSorted(order)).map(place);
        assert.equal(sorted.results.map(place), expected, `${q} by ${sort}`);
        for (const [from, to] of [[0, exact], [exact]])
          assert.equal(
            sorted.results.slice(from, to).map(place).sort(),
            best.results.slice(from, to).map(place).sort(),
            `${q} by ${sort}`,
          );
      }
      const pages: Result[] = [];
      const limit = Math.max(9, Math.ceil(Math.min(pagination.total, 180) / 5));
      for (let page = 1; page <= Math.min(Math.ceil(pagination.total / limit), 5); page++) {
        const part = await service.search({ q, ...filter, sort: 'id', page, limit });
        assert.equal([part.pagination.total, part.exact, part.counts], [pagination.total, exact, counts], q);
        pages.push(...part.results);
      }
      const whole = (await service.search({ q, ...filter, sort: 'id', page: 1, limit: 100_000 })).results;
      assert.equal(pages, whole.slice(0, 180), q);
      for (const level of levels as ('high' | 'medium' | 'low')[])
        assert.is(counts.severity[level], whole.filter(({ severity }) => severity === level).length, q);
      assert.equal(
        counts.stigs.map(({ slug, rules: number }) => [slug, number]),
        [...Map.groupBy(whole.toSorted(byStig), ({ slug }) => slug)].map(([slug, { length }]) => [
          slug,
          length,
        ]),
        q,
      );
    }
  assert.ok(both > 5, String(both));
});

/** Registers a test that needs the publishers’ files. */
const onReal = testIf(referenceData, test);

onReal('the control filter takes the rules whose CCIs the lookup leads to the control', async () => {
  const ccis = [...new Set(rules.flatMap(({ rule }) => rule.ccis))];
  const controls = new Map<string, string[]>();
  for (let start = 0; start < ccis.length; start += 250) {
    const body = { ccis: ccis.slice(start, start + 250) };
    const answer = await t.send('POST', '/api/v1/crosswalk/resolve/batch', body);
    for (const [cci, list] of Object.entries<string[]>(answer.json)) controls.set(cci, list);
  }
  let withRules = 0;
  for (const control of ['AC-2', 'AC-2(1)', 'AC-2(4)', 'CM-6', 'AU-12', 'IA-5(1)', 'SC-8', 'PM-9']) {
    const expected = rules.flatMap(({ rule, text }, index) =>
      rule.ccis.some((cci) => controls.get(cci)!.includes(control)) && /\bthe\b/i.test(text) ? [index] : [],
    );
    if (expected.length > 0) withRules++;
    for (const spelling of [control, control.toLowerCase().replace('(', ' (')]) {
      const { results } = await service.search({ q: 'the', control: spelling, page: 1, limit: 100_000 });
      const found = results.map(({ slug, ruleId }) => placeOf.get(`${slug} ${ruleId}`)!);
      assert.equal(
        found.sort((a, b) => a - b),
        expected,
        spelling,
      );
    }
  }
  assert.ok(withRules >= 6, `${withRules} controls with rules`);
});

test.after(() => t.db.close());
test.run();
