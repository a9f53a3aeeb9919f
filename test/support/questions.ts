import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import type { SearchService } from '../../src/catalog/search/queries.ts';
import type { Database } from '../../src/db/database.ts';

/** A question to one STIG, and the V-ids of the rules that answer it. */
export interface AskedQuestion {
  q: string;
  slug: string;
  right: Set<string>;
}

/** Our own questions: test/search/questions.tsv. */
export function ownQuestions(): (AskedQuestion & { version: string })[] {
  const [, ...lines] = readFileSync(join(packageRoot, 'test', 'search', 'questions.tsv'), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => {
    const [q, slug, version, ids] = line.split('\t') as [string, string, string, string];
    return { q, slug, version, right: new Set(ids.split(',')) };
  });
}

const beginning = /^The operating system must\s+/;

/**
 * The titles of an SRG's requirements as questions to a STIG: right are the rules of its current release with the id of
 * the requirement. Without the catch-all SRG-OS-000480. `isCut`: without the words that all titles begin with.
 */
export function srgQuestions({ sqlite }: Database, slug: string, isCut: boolean): AskedQuestion[] {
  const rulesOf = sqlite.prepare<[string], { id: string; title: string; requirement: string; name: string }>(
    `SELECT f.group_id AS id, f.rule_title AS title, trim(f.group_title) AS requirement, f.rule_version AS name
       FROM stigs AS s JOIN findings AS f ON f.release_id = s.current_release_id WHERE s.slug = ? ORDER BY f.ordinal`,
  );
  const byRequirement = Map.groupBy(rulesOf.all(slug), ({ requirement }) => requirement);
  return rulesOf.all('general_purpose_operating_system').flatMap(({ title, name }) => {
    const right = byRequirement.get(/SRG-OS-\d+-GPOS-\d+/.exec(name)?.[0] ?? '');
    if (right === undefined || name.startsWith('SRG-OS-000480')) return [];
    const q = (isCut ? title.replace(beginning, '') : title).slice(0, 500);
    return [{ q, slug, right: new Set(right.map(({ id }) => id)) }];
  });
}

/** The share of questions with a right rule among the first ten, and of those with no rule at all. */
export async function successOf(
  service: SearchService,
  questions: AskedQuestion[],
): Promise<{ success: number; empty: number }> {
  const found: { isRight: boolean; isEmpty: boolean }[] = [];
  for (const { q, slug, right } of questions) {
    const { results } = await service.search({ q, stig: [slug], page: 1, limit: 10 });
    found.push({ isRight: results.some(({ groupId }) => right.has(groupId)), isEmpty: results.length === 0 });
  }
  const share = (is: (each: (typeof found)[number]) => boolean) => found.filter(is).length / found.length;
  return { success: share(({ isRight }) => isRight), empty: share(({ isEmpty }) => isEmpty) };
}

/** Numbers below a limit, the same in every run. */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}
