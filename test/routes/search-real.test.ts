import { spawnSync } from 'node:child_process';
import * as assert from 'uvu/assert';
import { fold, withoutDiacritics } from '../../src/base/text.ts';
import { readSearchQuery } from '../../src/catalog/search/query.ts';
import { stopWords } from '../../src/catalog/search/stop-words.ts';
import { createServices } from '../../src/services.ts';
import { testApp } from '../support/app.ts';
import { stigsAndControls } from '../support/controls.ts';
import { suite, testIf } from '../support/harness.ts';
import { numbers } from '../support/questions.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { hasReferenceData, referenceData } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { joinTexts, type ReadRule, readBenchmark, versionString } from '../support/xccdf-reader.ts';

// Search over every real rule, compared with what grep finds in the same texts, read by a reader of our own; and what
// the ids of a question name (rule D35.2): every id of every release is read from its XML.
const test = suite('search over the real rules');
const onReal = testIf(referenceData, test);

const t = await testApp(stigsAndControls);
const now = () => t.clock.now;
const { search: service, answers } = createServices({
  ...{ catalog: t.db, users: t.db, now, newId: () => '', banner: null },
});

interface Release {
  slug: string;
  version: string;
  order: number;
  isCurrent: 0 | 1;
}
const releases = new Map(
  t.db.sqlite
    .prepare<[], Release & { name: string }>(
      `SELECT r.benchmark_id || ' ' || r.version AS name, s.slug, r.version, r.release_order AS "order",
              r.id = s.current_release_id AS isCurrent
         FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id`,
    )
    .all()
    .map((row) => [row.name, row]),
);

/** The current rules with their texts, and every id of every release with the rules that bear it. */
const rules: { slug: string; rule: ReadRule; text: string }[] = [];
const known = new Map<string, (Release & { id: string; title: string })[]>();
const seen = new Set<string>();
for (const { text } of await benchmarkFiles()) {
  const benchmark = readBenchmark(text);
  const name = `${benchmark.id} ${versionString(benchmark)}`;
  const release = releases.get(name);
  if (release === undefined || seen.has(name)) continue;
  seen.add(name);
  for (const rule of benchmark.rules) {
    const fields = [
      ...[rule.title, rule.tags.VulnDiscussion, joinTexts(rule.checks.map((check) => check.content))],
      ...[joinTexts(rule.fixTexts), rule.groupId, rule.ruleId, rule.version, rule.groupTitle],
      ...[...rule.legacyIds, ...rule.ccis],
    ];
    if (release.isCurrent) rules.push({ slug: release.slug, rule, text: fields.join('\n') });
    const short = /^SV-\d+/.exec(rule.ruleId)?.[0];
    for (const id of new Set([
      rule.groupId,
      rule.ruleId,
      short,
      rule.version.split(' - ')[0],
      ...rule.legacyIds,
    ]))
      if (id) known.set(id, [...(known.get(id) ?? []), { ...release, id: rule.groupId, title: rule.title }]);
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

type Result = Awaited<ReturnType<typeof service.search>>['results'][number];
const placeOf = new Map(rules.map(({ slug, rule }, index) => [`${slug} ${rule.ruleId}`, index]));
const place = ({ slug, ruleId }: Result) => placeOf.get(`${slug} ${ruleId}`)!;

/** The rules that have all words, by their places in `rules`. */
async function find(q: string): Promise<number[]> {
  const { results, pagination, exact } = await service.search({ q, page: 1, limit: 100_000 });
  assert.is(results.length, pagination.total);
  const places = results.slice(0, exact).map(place);
  return places.sort((a, b) => a - b);
}

test('every current rule is in the index, and nothing else', () => {
  assert.is(rules.length, t.db.sqlite.prepare('SELECT count(*) FROM rule_search_docsize').pluck().get());
  assert.is(placeOf.size, rules.length);
  if (hasReferenceData) assert.is(rules.length, 3618);
});

test('random words and the commonest ones find exactly what grep -iwF finds', async () => {
  const next = numbers(11);
  const all = [...new Set(rules.flatMap(({ text }) => text.match(/[\p{L}\p{Nd}_]+/gu) ?? []))];
  const words = new Set(['the', 'The', 'of', 'sshd_config', 'CCI', '1']);
  while (words.size < 66) words.add(all[next(all.length)]!);
  for (const word of words) assert.equal(await find(word), grep(word), word);
});

test('random phrases find all that grep -iwF finds, quoted exactly that where they hold punctuation', async () => {
  const next = numbers(23);
  let exact = 0;
  for (let count = 0; count < 30; ) {
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
    const quoted = await find(`"${phrase}"`);
    for (const places of [new Set(await find(phrase)), new Set(quoted)])
      assert.equal(
        expected.filter((index) => !places.has(index)),
        [],
        phrase,
      );
    // Beyond grep only what it cannot see: other blanks, or the end of a line, between the words.
    if (!/[^\w\s]/.test(phrase)) continue;
    exact++;
    const loose = new RegExp(phrase.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/\s+/g, '\\s+'), 'i');
    for (const index of quoted) assert.match(rules[index]!.text, loose, phrase);
  }
  assert.ok(exact > 6, `${exact} phrases with punctuation`);
});

test('snippets are pieces of the rule, and marks hold the word', async () => {
  for (const q of ['sshd_config', 'audit*', '"login.defs"', 'CCI-000366']) {
    const { results, exact } = await service.search({ q, page: 1, limit: 100 });
    // The others, of the relaxed search, have other forms of the word.
    for (const result of results.slice(0, exact)) {
      const { ruleId, snippet } = result;
      const { text } = rules[place(result)]!;
      const piece = snippet.text.replace(/^…/, '').replace(/…$/, '');
      if (snippet.field !== 'ids') assert.ok(text.includes(piece), `${ruleId} ${snippet.field}`);
      assert.ok(snippet.marks.length > 0, ruleId);
      const wanted = q.replace(/["*]/g, '').toLowerCase();
      for (const [start, end] of snippet.marks)
        assert.ok(snippet.text.slice(start, end).toLowerCase().startsWith(wanted), ruleId);
    }
  }
});

/** Questions of one to four words that stand in the rules, some of them in none. */
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

test('what has all words stands first, by bm25; at most 100 others follow', async () => {
  const ranked = t.db.sqlite
    .prepare<[string], [string, string]>(
      `SELECT s.slug, f.rule_id FROM rule_search JOIN findings AS f ON f.id = rule_search.rowid
         JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id
        WHERE rule_search MATCH ? ORDER BY bm25(rule_search, 10.0, 2.0, 1.0, 1.0, 4.0), s.slug, f.ordinal`,
    )
    .raw();
  const counts = { few: 0, many: 0, none: 0 };
  for (const q of madeQuestions(80, 41)) {
    const words = q.split(' ').map((word) => `"${word}"`);
    const expected = ranked.all(words.join(' AND ')).map(([slug, ruleId]) => `${slug} ${ruleId}`);
    const { results, exact, relaxed, pagination } = await service.search({ q, page: 1, limit: 400 });
    const found = results.map(({ slug, ruleId }) => `${slug} ${ruleId}`);
    assert.is(exact, expected.length, q);
    assert.equal(found.slice(0, exact), expected.slice(0, 400), q);
    const others = results.slice(exact);
    assert.ok(others.length <= (exact < 10 ? 100 : 0), q);
    assert.equal([relaxed, pagination.total], [others.length > 0, exact + others.length], q);
    assert.is(new Set(found).size, found.length, `${q}: each once`);
    for (const { ruleId, snippet } of others) assert.ok(snippet.marks.length > 0, `${q}: ${ruleId}`);
    counts[exact === 0 ? 'none' : exact < 10 ? 'few' : 'many']++;
    const third = (await service.search({ q, page: 3, limit: 12 })).results;
    assert.equal(
      third.map(({ slug, ruleId }) => `${slug} ${ruleId}`),
      found.slice(24, 36),
      q,
    );
  }
  assert.ok(Math.min(...Object.values(counts)) > 8, JSON.stringify(counts));
});

test('no answer is empty where any word of the question occurs', async () => {
  const occurring = new Set(
    rules.flatMap(({ text }) => withoutDiacritics(fold(text)).match(/[\p{L}\p{Nd}_]+/gu) ?? []),
  );
  const questions = madeQuestions(40, 43).flatMap((q) => [`zzz ${q}`, q.replaceAll(' ', '/')]);
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
    const isPath = q.includes('/');
    const counting = words.filter((word) => !isPath || (word.length > 2 && !stopWords.has(word)));
    const { total } = (await service.search({ q, page: 1, limit: 1 })).pagination;
    if (counting.some((word) => occurring.has(word))) assert.ok(total > 0, q);
  }
});

/** What is wrong with what is answered for an id; null for nothing. */
function wrongWith(asked: string, answer: Record<string, unknown> | undefined): string | null {
  if (answer?.asked !== asked && answer?.asked !== asked.replace(/_rule$/, '')) return 'another id';
  // A rule that has another revision now is there.
  const all = [...known.get(asked)!, ...(known.get(/^SV-\d+(?=r)/.exec(asked)?.[0] ?? '') ?? [])];
  const current = all.filter(({ isCurrent }) => isCurrent);
  const state = current.length > 0 ? 'current' : 'removed';
  const { kind, slug, version, id, title, href } = answer!;
  if (answer!.state !== state) return `not ${state}`;
  // The rules of an SRG bear the ids of its requirements.
  if (asked.startsWith('SRG-')) return kind === 'srg' && href === `/search?q=${asked}` ? null : 'no SRG';
  if (kind !== 'rule') return 'no rule';
  const right = (current.length > 0 ? current : all).filter((each) => each.slug === slug && each.id === id);
  const own = right.filter((each) => each.version === version);
  if (own.length === 0) return 'another rule';
  if (right.some(({ order }) => order > own[0]!.order)) return 'not the last release';
  if (!own.some((each) => each.title === title)) return 'another title';
  const release = state === 'removed' ? `?version=${version}` : '';
  return href === `/stigs/${slug}/rules/${id}${release}` ? null : 'another address';
}

onReal('every id of every release answers: V-, SV-, STIG and legacy ids, removed ones too', async () => {
  assert.ok(known.size > 15_000, String(known.size));
  const wrong: string[] = [];
  const ids = [...known.keys()];
  for (let from = 0; from < ids.length; ) {
    let q = '';
    const part: string[] = [];
    while (from < ids.length && part.length < 50 && q.length + ids[from]!.length < 498) {
      part.push(ids[from]!);
      q += `${part.length === 1 ? '' : [' ', ', ', '; ', '\n'][from % 4]}${ids[from++]}`;
    }
    const found = (await answers(q)) as unknown as Record<string, unknown>[];
    assert.is(found.length, part.length, q);
    for (const [index, id] of part.entries()) {
      const what = wrongWith(id, found[index]);
      if (what !== null) wrong.push(`${id}: ${what}: ${JSON.stringify(found[index])}`);
    }
  }
  assert.equal(wrong.slice(0, 20), []);
  const removed = ids.filter((id) => !known.get(id)!.some(({ isCurrent }) => isCurrent));
  assert.ok(removed.length > 100, String(removed.length));
});

test.after(() => t.db.close());
test.run();
