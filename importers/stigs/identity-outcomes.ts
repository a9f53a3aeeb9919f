import { ruleName } from '../../src/base/rule-ids.ts';
import { count } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import { excerpt } from '../read/source-text.ts';
import { fewShared } from './benchmark-products.ts';
import type { Named } from './give-slugs.ts';
import type { Identity } from './identity.ts';
import { dated } from './printings.ts';
import type { StoredPrinting } from './store.ts';
import type { SlugChange } from './write.ts';

/** The slug of an imported release, whether it is served, and why. */
export interface Decision {
  slug: string;
  reason: string;
  outcome: 'imported' | 'superseded';
  warnings: string[];
}

/** The ledger's words for a run: a decision for each new printing, by its row, and remarks on those imported before. */
export interface IdentityOutcomes {
  decisions: Map<number, Decision>;
  remarks: { slug: string | null; text: string }[];
}

/** Longer lists of rules show only their number. */
const maxNamed = 20;

/** Describes the decisions of a run; `printings` are the rows before it was written, `fresh` those of this run. */
export function describeIdentity(
  db: Database,
  printings: StoredPrinting[],
  { fates }: Identity,
  { fresh, changes }: { fresh: Set<number>; changes: SlugChange[] },
): IdentityOutcomes {
  const { keptInstead, decisionOf } = createReasons(db, printings, fates);
  const remarks: IdentityOutcomes['remarks'] = changes.map((change) => ({
    slug: change.to,
    text: describeChange(change),
  }));
  const renamed = new Set(changes.map(({ from, to }) => `${from} ${to}`));
  const moved = new Map<string, { slug: string; text: string; releases: number }>();
  for (const printing of printings) {
    const { stig, keptBy } = fates.get(printing.sha256)!;
    const { target, benchmarkId, version, supersededBy } = printing;
    if (fresh.has(printing.id) || target === null) continue;
    const isServed = keptBy === null;
    if (isServed !== (supersededBy === null)) {
      const told = isServed ? 'is served again' : `is no longer served: ${keptInstead(printing)}`;
      const text = `${version} of ${excerpt(benchmarkId)}, imported before, ${told}`;
      remarks.push({ slug: stig.slug, text });
    }
    if (target === stig.slug || renamed.has(`${target} ${stig.slug}`)) continue;
    const text = `of ${excerpt(benchmarkId)}, imported before, went from ${target} to ${stig.slug}`;
    moved.set(text, { slug: stig.slug, text, releases: (moved.get(text)?.releases ?? 0) + 1 });
  }
  for (const { slug, text, releases } of moved.values())
    remarks.push({ slug, text: `${count(releases, 'release')} ${text}` });
  const ofRun = printings.filter(({ id }) => fresh.has(id));
  return { decisions: new Map(ofRun.map((printing) => [printing.id, decisionOf(printing)])), remarks };
}

/** Makes the functions that give the reason for the fate of a printing. */
function createReasons(db: Database, printings: StoredPrinting[], fates: Identity['fates']) {
  const stored = new Map(printings.map((printing) => [printing.sha256, printing]));
  const known = printings.filter(({ stigId }) => stigId !== null);
  const knownKeys = new Set(known.map(({ idKey, sha256 }) => `${idKey} ${fates.get(sha256)!.stig.slug}`));
  const rulesOf = createRulesOf(db);

  function decisionOf(printing: StoredPrinting): Decision {
    const { stig, keptBy } = fates.get(printing.sha256)!;
    const { slug, given, apartFrom, why } = stig;
    const isKnown = given === null && knownKeys.has(`${printing.idKey} ${slug}`);
    const reason = isKnown ? `known benchmark id of ${slug}` : why.get(printing.idKey)!();
    if (keptBy !== null) {
      const more = keptBy.idKey === printing.idKey ? '' : `; ${reason}`;
      return { slug, outcome: 'superseded', reason: `${keptInstead(printing)}${more}`, warnings: [] };
    }
    const main = apartFrom.get(printing);
    const told = main ? setApart(printing, main.sha256) : reason;
    return { slug, outcome: 'imported', reason: told, warnings: strangers(printing, stig) };
  }

  /** What to say of a release that shares less than a tenth of its rules with the others of its STIG (rule D24.4). */
  function strangers(printing: StoredPrinting, { slug, printings }: Named): string[] {
    const others = printings.filter(({ version }) => version !== printing.version);
    const shared = others.length === 0 ? null : fewShared(printing, others);
    if (shared === null) return [];
    const all = count(printing.evidence().rules.length, 'rule');
    return [`${shared} of its ${all} ${shared === 1 ? 'is' : 'are'} in another release of ${slug}`];
  }

  /** Why a printing is not served: how many of its rules the served one has. */
  function keptInstead(printing: StoredPrinting): string {
    const { keptBy } = fates.get(printing.sha256)!;
    const kept = stored.get(keptBy!.sha256)!;
    const [mine, theirs] = [rulesOf(printing.id), rulesOf(kept.id)];
    const names = [...mine.keys()];
    const held = names.filter((name) => theirs.has(name));
    const revised = held.filter((name) => mine.get(name) !== theirs.get(name)).map((name) => mine.get(name)!);
    const which = `${kept.version} of ${excerpt(kept.benchmarkId)} with ${count(theirs.size, 'rule')}`;
    const isTie = dated(printing) === dated(kept) && mine.size === theirs.size;
    return (
      `another printing is kept, ${which}: it has ${held.length} of the ${count(mine.size, 'rule')} of this one` +
      `${revised.length === 0 ? '' : `, ${revised.length} of them in another revision${named(revised)}`}` +
      (isTie ? '; no date states which is newer, so the greater hash decides' : '')
    );
  }

  /** Why a printing is a STIG of its own: the rules that the other of its version lacks. */
  function setApart(printing: StoredPrinting, other: string): string {
    const main = stored.get(other)!;
    const [mine, theirs] = [rulesOf(printing.id), rulesOf(main.id)];
    const own = [...mine].filter(([name]) => !theirs.has(name)).map(([, id]) => id);
    const lacking = [...theirs.keys()].filter((name) => !mine.has(name)).length;
    const { slug } = fates.get(other)!.stig;
    return (
      `set apart from ${slug}: ${own.length} of its ${count(mine.size, 'rule')} ${own.length === 1 ? 'is' : 'are'} not ` +
      `in the ${main.version} there${named(own)}; it lacks ${lacking} of that one`
    );
  }

  return { keptInstead, decisionOf };
}

function named(ids: string[]): string {
  return ids.length > maxNamed ? '' : ` (${ids.map((id) => excerpt(id)).join(', ')})`;
}

/** Describes where a former slug leads. */
export function describeChange({ from, to }: SlugChange): string {
  return `${from} ${to === null ? 'has no release any more' : `is ${to} now`}`;
}

function createRulesOf({ sqlite }: Database): (release: number) => Map<string, string> {
  const select = sqlite
    .prepare<[number], string>('SELECT rule_id FROM findings WHERE release_id = ? ORDER BY ordinal')
    .pluck();
  return (release) => new Map(select.all(release).map((id) => [ruleName(id), id]));
}
