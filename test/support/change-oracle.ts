import { createHash } from 'node:crypto';
import type { Database } from '../../src/db/database.ts';
import { type BenchmarkFile, benchmarkFiles } from './real-files.ts';
import { benchmarkDate, joinTexts, type ReadRule, readBenchmark } from './xccdf-reader.ts';

// What changed between releases and what became of each rule, from the publishers' files alone: no code of the service is
// used but the list of which file is which release, which other tests look at. Everything is compared with everything.

interface SourceRelease {
  version: string;
  releaseDate: string | null;
  rules: ReadRule[];
}

export interface SourceStig {
  slug: string;
  title: string;
  /** The oldest first. */
  releases: SourceRelease[];
}

/** The retained releases of every STIG of a catalog that was made of the real files, read from these files. */
export async function sourceStigs(db: Database): Promise<SourceStig[]> {
  const files = new Map<string, BenchmarkFile>();
  for (const file of await benchmarkFiles())
    files.set(createHash('sha256').update(file.bytes).digest('hex'), file);
  const rows = db.sqlite
    .prepare<[], { slug: string; version: string; sha256: string }>(
      `SELECT s.slug, r.version, src.sha256 FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id
         JOIN sources AS src ON src.id = r.source_id ORDER BY s.slug, r.release_order`,
    )
    .all();
  return [...Map.groupBy(rows, ({ slug }) => slug)].map(([slug, releases]) => {
    const read = releases.map(({ version, sha256 }) => {
      const { title, rules, releaseInfo, statusDate } = readBenchmark(files.get(sha256)!.text);
      return { title, release: { version, rules, releaseDate: benchmarkDate(releaseInfo) ?? statusDate } };
    });
    return { slug, title: read.at(-1)!.title, releases: read.map(({ release }) => release) };
  });
}

const upper = (text: string) => text.trim().toUpperCase();
/** `SV-257777` of `SV-257777r925318_rule`. */
export const numberOfRule = (id: string) => upper(id).replace(/(R\d+)?(_RULE)?$/, '');
const numbersOf = (rule: ReadRule) => [
  upper(rule.groupId),
  numberOfRule(rule.ruleId),
  ...rule.legacyIds.map(upper),
];

type Pair = [old: ReadRule, now: ReadRule];

/** The pairs of rules that are the same: the surest resemblance first, of several the first of the file. */
function pairsOf(olds: ReadRule[], news: ReadRule[]): Pair[] {
  const sameStigId = (a: ReadRule, b: ReadRule) =>
    upper(a.version) !== '' && upper(a.version) === upper(b.version);
  const sameGroup = (a: ReadRule, b: ReadRule) => upper(a.groupId) === upper(b.groupId);
  const sameNumber = (a: ReadRule, b: ReadRule) => numberOfRule(a.ruleId) === numberOfRule(b.ruleId);
  const resemblances: ((a: ReadRule, b: ReadRule) => boolean)[] = [
    (a, b) => sameStigId(a, b) && sameGroup(a, b) && sameNumber(a, b),
    (a, b) => sameStigId(a, b) && sameGroup(a, b),
    (a, b) => sameStigId(a, b) && sameNumber(a, b),
    sameStigId,
    (a, b) => sameGroup(a, b) && sameNumber(a, b),
    sameGroup,
    (a, b) => numbersOf(b).some((number) => numbersOf(a).includes(number)),
  ];
  const pairs: Pair[] = [];
  let [left, right] = [olds, news];
  for (const isAlike of resemblances) {
    for (const now of right) {
      const old = left.find((each) => isAlike(each, now));
      if (old === undefined) continue;
      pairs.push([old, now]);
      left = left.filter((each) => each !== old);
    }
    right = news.filter((now) => !pairs.some((pair) => pair[1] === now));
  }
  return pairs;
}

const checkOf = (rule: ReadRule) => joinTexts(rule.checks.map((check) => check.content));
const fixOf = (rule: ReadRule) => joinTexts(rule.fixTexts);
const inOneLine = (text: string) => text.split(/\s+/).filter(Boolean).join(' ');

/** In what two printings of a rule differ: check, fix, severity, mapping, cosmetic, in this order. */
function differencesOf(old: ReadRule, now: ReadRule): string[] {
  const found: string[] = [];
  const texts = { check: [checkOf(old), checkOf(now)], fix: [fixOf(old), fixOf(now)] } as const;
  let cosmetic = old.title !== now.title || old.tags.VulnDiscussion !== now.tags.VulnDiscussion;
  for (const [name, [before, after]] of Object.entries(texts)) {
    if (inOneLine(before) !== inOneLine(after)) found.push(name);
    else if (before !== after) cosmetic = true;
  }
  if (old.severity !== now.severity) found.push('severity');
  if ([...old.ccis].sort().join() !== [...now.ccis].sort().join()) found.push('mapping');
  return cosmetic ? [...found, 'cosmetic'] : found;
}

const isRenamed = (old: ReadRule, now: ReadRule) =>
  old.groupId !== now.groupId || old.ruleId !== now.ruleId || old.version !== now.version;

interface SourceStep {
  version: string;
  state: string;
  classes: string[];
  rule: ReadRule | null;
}

/** What became of each rule of a STIG, step by step from its first release on. */
export function storiesOf({ releases }: SourceStig): SourceStep[][] {
  const stories: SourceStep[][] = [];
  const lastRule = (story: SourceStep[]) => story.findLast(({ rule }) => rule !== null)!.rule!;
  let alive = new Map<ReadRule, SourceStep[]>();
  let dead: SourceStep[][] = [];
  for (const [index, { version, rules }] of releases.entries()) {
    const pairs = pairsOf([...alive.keys()], rules);
    const next = new Map<ReadRule, SourceStep[]>();
    const died: SourceStep[][] = [];
    for (const [rule, story] of alive) {
      const now = pairs.find(([old]) => old === rule)?.[1];
      if (now === undefined) {
        story.push({ version, state: 'removed', classes: [], rule: null });
        died.push(story);
        continue;
      }
      const classes = differencesOf(rule, now);
      const state = classes.length > 0 ? 'changed' : isRenamed(rule, now) ? 'renumbered' : 'same';
      story.push({ version, state, classes, rule: now });
      next.set(now, story);
    }
    const fresh = rules.filter((rule) => !next.has(rule));
    const returning = pairsOf(dead.map(lastRule), fresh);
    for (const rule of fresh) {
      const back = returning.find(([, now]) => now === rule)?.[0];
      const story = dead.find((each) => lastRule(each) === back) ?? [];
      if (story.length === 0) stories.push(story);
      story.push({ version, state: index === 0 ? 'first' : 'added', classes: [], rule });
      next.set(rule, story);
    }
    dead = [...died, ...dead.filter((story) => story.at(-1)!.rule === null)];
    alive = new Map(rules.map((rule) => [rule, next.get(rule)!]));
  }
  return stories;
}
