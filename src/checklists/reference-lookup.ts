import { LRUCache } from 'lru-cache';
import { plainRuleId, ruleNumber, withoutRuleEnding } from '../base/rule-ids.ts';
import type { FoundId } from '../catalog/controls/id-grammar.ts';
import type { RuleHistoryService } from '../catalog/stigs/history.ts';
import { idsOf } from '../catalog/stigs/ids.ts';
import { markedClasses, type RuleMarks, readMarks } from '../catalog/stigs/marks.ts';
import type { Database } from '../db/database.ts';
import { perCatalogVersion } from '../db/per-catalog-version.ts';
import { createControlFacts } from './reference-controls.ts';
import { keyOf, placesIn, referencesOf } from './reference-scan.ts';
import type { Reference, ReferenceFact } from './reference-schema.ts';
import { createVocabulary } from './reference-vocabulary.ts';

interface ReleaseRow {
  release: number;
  slug: string;
  version: string;
  newest: string;
  isCurrent: number;
  /** In the order in which releases are looked through. */
  place: number;
}
type MarkedRule = { rule: RuleMarks; index: number };

/** Prepares the rules of a release by each of their ids, in the order in which an id names one. */
function createMarkedRules(db: Database) {
  const marksOf = db.sqlite
    .prepare<[number], string>('SELECT marks FROM rule_marks WHERE release_id = ?')
    .pluck();
  // Ids are looked up in order, and those of a release lie together.
  const known = new LRUCache<string, Map<string, MarkedRule>>({ max: 32 });

  return (release: number): Map<string, MarkedRule> => {
    const key = `${db.catalogVersion()} ${release}`;
    const kept = known.get(key);
    if (kept) return kept;
    const rules = readMarks(marksOf.get(release)!).map((rule, index) => ({ rule, index }));
    const byId = new Map<string, MarkedRule>();
    const add = (id: string, each: MarkedRule) => byId.has(id) || byId.set(id, each);
    for (const each of rules) add(plainRuleId(each.rule.ruleId), each);
    for (const each of rules) for (const id of idsOf({ ...each.rule, legacyIds: [] })) add(id, each);
    for (const each of rules) for (const id of idsOf(each.rule)) add(id, each);
    for (const each of rules) add(each.rule.ruleVersion.split(' - ')[0]!.trim().toUpperCase(), each);
    known.set(key, byId);
    return byId;
  };
}

export type ReferenceLookup = ReturnType<typeof createReferenceLookup>;

/** Looks up cited ids in the catalog (rule D39.1). */
export function createReferenceLookup(db: Database, history: Pick<RuleHistoryService, 'find'>) {
  const retained = db.sqlite.prepare<[], Omit<ReleaseRow, 'place'>>(
    `SELECT r.id AS release, s.slug, r.version, n.version AS newest, r.id = s.current_release_id AS isCurrent
       FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id
       JOIN stig_releases AS n ON n.id = s.current_release_id
      ORDER BY isCurrent DESC, r.release_order DESC, s.slug`,
  );
  // To join them for each id takes ten times as long.
  const releases = perCatalogVersion(
    db,
    () => new Map(retained.all().map((row, place) => [row.release, { ...row, place }])),
  );
  const printingsWith = db.sqlite
    .prepare<[string, string, string, string], number>(
      `SELECT release_id FROM rule_ids
        WHERE id >= ? AND id < ? || ' -!' AND (id = ? OR id >= ? || ' - ')`,
    )
    .pluck();
  const titleOf = db.sqlite
    .prepare<[number, number], string>('SELECT rule_title FROM findings WHERE release_id = ? AND ordinal = ?')
    .pluck();
  const others = createControlFacts(db);
  const vocabulary = createVocabulary(db);
  const rulesOf = createMarkedRules(db);

  /** The retained releases with an id, the newest of their STIGs first. */
  function releasesWith(id: string): ReleaseRow[] {
    const known = releases();
    const found = new Set(printingsWith.all(id, id, id, id));
    const rows = [...found].flatMap((printing) => known.get(printing) ?? []);
    return rows.sort((a, b) => a.place - b.place);
  }

  function ruleFact({ id }: FoundId): ReferenceFact {
    const number = id.startsWith('SV-') ? ruleNumber(id) : id;
    const rows = releasesWith(number);
    const currents = rows.filter(({ isCurrent }) => isCurrent);
    const row = currents.find(({ release }) => rulesOf(release).has(id)) ?? currents[0] ?? rows[0];
    const found = row && (rulesOf(row.release).get(id) ?? rulesOf(row.release).get(number));
    if (!row || !found) return { kind: 'rule', state: 'unknown', id, ...nothing };
    const { slug, version } = row;
    const title = titleOf.get(row.release, found.index + 1) ?? null;
    const fact = { kind: 'rule', id: found.rule.groupId, title, slug, version } as const;
    if (!row.isCurrent) return { ...fact, state: 'removed', advice: afterwards(id, row) };
    const own = idsOf({ ...found.rule, legacyIds: [] });
    const product = found.rule.ruleVersion.split(' - ')[0]!.trim().toUpperCase();
    if (!own.includes(number) && number !== product)
      return { ...fact, state: 'current', advice: `Its id is now ${namesOf(found.rule)}` };
    if (id === number || plainRuleId(found.rule.ruleId) === id)
      return { ...fact, state: 'current', advice: null };
    return { ...fact, state: 'changed', advice: whatChanged(id, found.rule, rows) };
  }

  function whatChanged(id: string, now: RuleMarks, rows: ReleaseRow[]): string {
    const newest = `The newest revision is ${withoutRuleEnding(now.ruleId)}`;
    for (const { release, version } of rows) {
      const old = rulesOf(release).get(id)?.rule;
      if (!old) continue;
      const classes = markedClasses(old, now).map((each) => words[each]);
      const what = classes.length === 0 ? 'nothing but the revision' : classes.join(', ');
      return `${newest}. Changed since ${version}: ${what}`;
    }
    return `${newest}. No retained release has the cited one`;
  }

  function afterwards(id: string, { slug, version, newest }: ReleaseRow): string {
    const later = history.find(id, slug).find(({ current }) => current);
    const end = later ? `${newest} has ${namesOf(later)} in its place` : `${newest} does not have it`;
    return `Last in ${version}; ${end}`;
  }

  const factOf = (id: FoundId) =>
    id.kind === 'group' || id.kind === 'rule' || id.kind === 'stigId' ? ruleFact(id) : others(id);

  /** In the order of the ids: those of a release lie together. */
  const facts = (ids: FoundId[]) =>
    db.read(() => {
      const sorted = ids.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      return new Map(sorted.map((id) => [keyOf(id), factOf(id)]));
    });

  return {
    vocabulary,
    /** The facts of ids, by `keyOf`. */
    facts,
    /** The ids of a short text with their places. */
    citedIn(text: string): Reference[] {
      const known = vocabulary();
      const places = placesIn(text, known);
      return referencesOf(places, facts(places), known).references;
    },
  };
}

const nothing = { title: null, slug: null, version: null, advice: null };
const words = { check: 'check', fix: 'fix', severity: 'severity', mapping: 'CCIs', cosmetic: 'wording' };
const namesOf = ({ groupId, ruleVersion }: { groupId: string; ruleVersion: string }) =>
  ruleVersion === '' ? groupId : `${groupId} (${ruleVersion})`;
