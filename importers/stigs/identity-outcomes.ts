import { count } from '../../src/base/text.ts';
import { excerpt } from '../read/source-text.ts';
import { fewShared } from './compare-printings.ts';
import type { Identity } from './identity.ts';
import { orderOf, type Printing, sizeOf } from './printings.ts';
import type { Stig } from './stig.ts';
import type { SlugChange } from './write.ts';

/** The slug of an imported release, whether it is served, and why. */
interface Decision {
  slug: string;
  reason: string;
  outcome: 'imported' | 'superseded';
  warnings: string[];
}

/** The ledger's words for a run: a decision for each new printing, by its source, and remarks on those imported before. */
export interface IdentityOutcomes {
  decisions: Map<number, Decision>;
  remarks: { slug: string | null; text: string }[];
}

/** Longer lists of rules show only their number. */
const maxNamed = 20;

/** Describes the decisions of a run; `printings` are the rows before it was written, `fresh` the sources of this run. */
export function describeIdentity(
  printings: Printing[],
  identity: Identity,
  { fresh, changes }: { fresh: Set<number>; changes: SlugChange[] },
): IdentityOutcomes {
  const stigOf = (printing: Printing) => identity.stigOf.get(printing)!;
  const stored = printings.filter(({ stigId }) => stigId !== null);
  const known = new Set(stored.map((printing) => `${printing.idKey} ${stigOf(printing).slug}`));
  const decisions = printings
    .filter(({ sourceId }) => fresh.has(sourceId))
    .map((printing): [number, Decision] => [printing.sourceId, decisionOf(printing, identity, known)]);
  return { decisions: new Map(decisions), remarks: remarksOf(printings, identity, { fresh, changes }) };
}

function decisionOf(printing: Printing, { stigOf, servedInstead }: Identity, known: Set<string>): Decision {
  const stig = stigOf.get(printing)!;
  const { slug, operatorSlug } = stig;
  const isKnown = operatorSlug === null && known.has(`${printing.idKey} ${slug}`);
  const reason = isKnown ? `known benchmark id of ${slug}` : stig.reasons.get(printing.idKey)!();
  const served = servedInstead.get(printing);
  if (served) {
    const more = served.idKey === printing.idKey ? '' : `; ${reason}`;
    return { slug, outcome: 'superseded', reason: `${whyNotServed(printing, served)}${more}`, warnings: [] };
  }
  const main = stig.splitFrom.get(printing);
  return {
    slug,
    outcome: 'imported',
    reason: main ? whySplitOff(printing, main, stigOf.get(main)!.slug) : reason,
    warnings: warningsOfFewShared(printing, stig),
  };
}

/** What to say of a release that shares less than a tenth of its rules with the others of its STIG (rule D24.4). */
function warningsOfFewShared(printing: Printing, { slug, printings }: Stig): string[] {
  const shared = fewShared(
    printing,
    printings.filter(({ version }) => version !== printing.version),
  );
  if (shared === null) return [];
  const all = count(sizeOf(printing), 'rule');
  return [`${shared} of its ${all} ${shared === 1 ? 'is' : 'are'} in another release of ${slug}`];
}

/** Why a printing is not served: how many of its rules the served one has. */
function whyNotServed(printing: Printing, served: Printing): string {
  const [mine, theirs] = [printing.rules().byNumber, served.rules().byNumber];
  const held = [...mine].filter(([number]) => theirs.has(number));
  const revised = held.filter(([number, id]) => theirs.get(number) !== id).map(([, id]) => id);
  const isTie = orderOf(printing) === orderOf(served) && mine.size === theirs.size;
  return (
    `another printing is kept, ${served.version} of ${excerpt(served.benchmarkId)} with ${count(theirs.size, 'rule')}: ` +
    `it has ${held.length} of the ${count(mine.size, 'rule')} of this one` +
    `${revised.length === 0 ? '' : `, ${revised.length} of them in another revision${named(revised)}`}` +
    (isTie ? '; no date states which is newer, so the greater hash decides' : '')
  );
}

/** Why a printing is a STIG of its own: the rules that the other of its version lacks. */
function whySplitOff(printing: Printing, main: Printing, slug: string): string {
  const [mine, theirs] = [printing.rules().byNumber, main.rules().byNumber];
  const own = [...mine].filter(([number]) => !theirs.has(number)).map(([, id]) => id);
  const lacking = [...theirs.keys()].filter((number) => !mine.has(number)).length;
  return (
    `set apart from ${slug}: ${own.length} of its ${count(mine.size, 'rule')} ${own.length === 1 ? 'is' : 'are'} not ` +
    `in the ${main.version} there${named(own)}; it lacks ${lacking} of that one`
  );
}

function named(ids: string[]): string {
  return ids.length > maxNamed ? '' : ` (${ids.map((id) => excerpt(id)).join(', ')})`;
}

/** What this run changed of what was imported before. */
function remarksOf(
  printings: Printing[],
  { stigOf, servedInstead }: Identity,
  { fresh, changes }: { fresh: Set<number>; changes: SlugChange[] },
): IdentityOutcomes['remarks'] {
  const remarks: IdentityOutcomes['remarks'] = changes.map((change) => ({
    slug: change.to,
    text: describeChange(change),
  }));
  const renamed = new Set(changes.map(({ from, to }) => `${from} ${to}`));
  const moved = new Map<string, { slug: string; releases: number }>();
  for (const printing of printings) {
    const { slug } = stigOf.get(printing)!;
    const { target, benchmarkId, version, supersededBy } = printing;
    if (fresh.has(printing.sourceId) || target === null) continue;
    const served = servedInstead.get(printing);
    if ((served === undefined) !== (supersededBy === null)) {
      const change = served ? `is no longer served: ${whyNotServed(printing, served)}` : 'is served again';
      remarks.push({ slug, text: `${version} of ${excerpt(benchmarkId)}, imported before, ${change}` });
    }
    if (target === slug || renamed.has(`${target} ${slug}`)) continue;
    const text = `of ${excerpt(benchmarkId)}, imported before, went from ${target} to ${slug}`;
    moved.set(text, { slug, releases: (moved.get(text)?.releases ?? 0) + 1 });
  }
  for (const [text, { slug, releases }] of moved)
    remarks.push({ slug, text: `${count(releases, 'release')} ${text}` });
  return remarks;
}

/** Describes where a former slug leads. */
export function describeChange({ from, to }: SlugChange): string {
  return `${from} ${to === null ? 'has no release any more' : `is ${to} now`}`;
}
