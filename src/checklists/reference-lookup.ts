import { LRUCache } from 'lru-cache';
import { badRequest } from '../base/errors.ts';
import { plainRuleId, ruleNumber, withoutRuleEnding } from '../base/rule-ids.ts';
import { type FoundId, idsIn } from '../catalog/controls/id-grammar.ts';
import type { RuleHistoryService } from '../catalog/stigs/history.ts';
import { idsOf } from '../catalog/stigs/ids.ts';
import { markedClasses, type RuleMarks, readMarks } from '../catalog/stigs/marks.ts';
import type { Database } from '../db/database.ts';
import { perCatalogVersion } from '../db/per-catalog-version.ts';
import { decodeFile } from '../read/decode.ts';
import { ImportError } from '../read/import-error.ts';
import { type Reference, type ReferenceFact, type References, referenceStates } from './reference-schema.ts';

/** How ids of this catalog begin: what tells an invented id from another word. */
export interface Vocabulary {
  /** Of STIG ids, with the lengths of what follows. */
  beginnings: Map<string, { shortest: number; longest: number }>;
  /** Of controls. */
  letters: Set<string>;
}

/** A STIG id up to its last hyphen or blank, else up to its first digit; and the length of the rest. */
function beginningOf(id: string): { beginning: string; length: number } {
  const joint = Math.max(id.lastIndexOf('-'), id.lastIndexOf(' '));
  const end = joint >= 0 ? joint + 1 : Math.max(id.search(/\d/), 0);
  return { beginning: id.slice(0, end), length: id.length - end };
}

/** What an unknown control must share with known ones: of 800-53 the family, of 8500 the four letters. */
const lettersOf = ({ framework, id }: Pick<FoundId, 'framework' | 'id'>) =>
  `${framework} ${id.slice(0, id.lastIndexOf(framework === 'nist-800-171' ? '.' : '-'))}`;

/** Prepares the vocabulary of the catalog, once for each version. */
function createVocabulary(db: Database): () => Vocabulary {
  // V- and SV-numbers need no vocabulary, and are most of the ids.
  const ruleIds = db.sqlite
    .prepare<[], string>(
      `SELECT DISTINCT id FROM rule_ids WHERE id < 'SV-0' OR id > 'SV-:' AND id < 'V-0' OR id > 'V-:'`,
    )
    .pluck();
  const controls = db.sqlite.prepare<[], { framework: 'nist-800-53'; id: string }>(
    `SELECT framework, identifier AS id FROM control_keys
      WHERE framework IN ('nist-800-53', 'nist-800-171', 'dod-8500')`,
  );

  function read(): Vocabulary {
    const beginnings: Vocabulary['beginnings'] = new Map();
    for (const id of ruleIds.all()) {
      const { beginning, length } = beginningOf(id.split(' - ')[0]!);
      if (id.startsWith('SRG-') || !/[A-Z]/.test(beginning)) continue;
      const { shortest, longest } = beginnings.get(beginning) ?? { shortest: length, longest: length };
      beginnings.set(beginning, {
        shortest: Math.min(shortest, length),
        longest: Math.max(longest, length),
      });
    }
    return { beginnings, letters: new Set(controls.all().map(lettersOf)) };
  }

  return perCatalogVersion(db, read);
}

/** An id of a text with its place. */
interface ReferencePlace extends FoundId {
  line: number;
  column: number;
}

/** The most references of one text (rule D39.1). */
export const mostReferences = 50_000;
/** The largest text, in bytes of UTF-8. */
export const largestText = 8 * 1024 * 1024;

/** The text of a file in UTF-8, in UTF-16 with a byte order mark or in windows-1252; null for a binary file. */
export function fileText(bytes: Uint8Array): string | null {
  try {
    const { text } = decodeFile(bytes);
    return text.includes('\0') ? null : text;
  } catch (error) {
    if (error instanceof ImportError) return null;
    throw error;
  }
}

/** The ids of a text with their places, without STIG ids of no release. Throws a 400 for more than `most`. */
export function placesIn(text: string, vocabulary: Vocabulary, most = mostReferences): ReferencePlace[] {
  const places: ReferencePlace[] = [];
  let [line, start, end] = [1, 0, text.indexOf('\n')];
  for (const found of idsIn(text)) {
    if (found.kind === 'stigId' && !isOfRelease(found.id, vocabulary)) continue;
    if (places.length === most) throw badRequest(`The text has more than ${most} ids. Divide it`, '/text');
    for (; end >= 0 && end < found.index; end = text.indexOf('\n', start)) {
      line++;
      start = end + 1;
    }
    places.push({ ...found, line, column: found.index - start + 1 });
  }
  return places;
}

/** Whether the beginning of an id is that of a retained release's, and its end about as long. */
function isOfRelease(id: string, { beginnings }: Vocabulary): boolean {
  const { beginning, length } = beginningOf(id);
  const known = beginnings.get(beginning);
  if (known === undefined) return false;
  // Letters before a number are seldom a beginning by themselves: `NET35` is none of `NET0123`.
  const slack = beginning.endsWith('-') ? 1 : 0;
  return length >= known.shortest - slack && length <= known.longest + slack;
}

/** What to ask the catalog: each id once, in the order of their text. */
export const keyOf = ({ kind, framework, id }: FoundId) => `${kind} ${framework ?? ''} ${id}`;

/** The answer for a text. A control that is unknown counts only where its letters are those of a family. */
export function referencesOf(
  places: ReferencePlace[],
  facts: Map<string, ReferenceFact>,
  { letters }: Vocabulary,
): References {
  const references = places.flatMap((place) => {
    const fact = facts.get(keyOf(place))!;
    if (place.framework !== null && fact.state === 'unknown' && !letters.has(lettersOf(place))) return [];
    const { text, line, column } = place;
    return [{ text, ...fact, line, column }];
  });
  const counts = Object.fromEntries(referenceStates.map((state) => [state, 0])) as References['counts'];
  for (const { state } of references) counts[state]++;
  return { counts, references };
}

const nothing = { title: null, slug: null, version: null, advice: null };

/** Prepares the look-up of controls, CCIs and SRG ids. What is in no source is told first: the rest takes longer. */
function createControlFacts({ sqlite }: Database) {
  const isControl = sqlite
    .prepare<[string, string], number>('SELECT 1 FROM control_keys WHERE framework = ? AND identifier = ?')
    .pluck();
  const isNamed = sqlite
    .prepare<[string, string, string], number>(
      `SELECT EXISTS (SELECT 1 FROM findings WHERE group_title >= ? AND group_title < ? || '.')
           OR EXISTS (SELECT 1 FROM findings WHERE rule_version = ?)`,
    )
    .pluck();
  const control = sqlite.prepare<
    [string, string],
    { status: string; title: string; statement: string; into: string; version: string; isServed: number }
  >(
    `SELECT c.status, c.title, c.statement,
            c.withdrawn_into AS "into", c.version, v.is_default AS isServed
       FROM control_keys AS k JOIN controls AS c ON c.control_id = k.id AND c.framework = k.framework
       JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version
      WHERE k.framework = ? AND k.identifier = ?
      ORDER BY v.is_default DESC, v.is_newest DESC, v.version DESC LIMIT 1`,
  );
  // An id without its ending stands for several requirements, and then has no title.
  const named = (column: 'group_title' | 'rule_version', condition: string) =>
    `SELECT max(r.id = s.current_release_id) AS isCurrent,
            CASE WHEN count(DISTINCT CASE s.kind WHEN 'srg' THEN f.rule_version END) = 1
              THEN max(CASE s.kind WHEN 'srg' THEN f.rule_title END) END AS title
       FROM findings AS f JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id
      WHERE f.${column} ${condition}`;
  type SrgTitle = { isCurrent: number | null; title: string | null };
  const whole = [named('group_title', '= ?'), named('rule_version', '= ?')].map((text) =>
    sqlite.prepare<[string], SrgTitle>(text),
  );
  const begun = sqlite.prepare<[string, string], SrgTitle>(
    named('group_title', ">= ? || '-' AND f.group_title < ? || '.'"),
  );

  function srg(id: string): ReferenceFact {
    if (!isNamed.get(id, id, id)) return { ...nothing, kind: 'srg', state: 'unknown', id };
    const found = whole.map((each) => each.get(id)!);
    if (/^SRG-[A-Z]+-\d+$/.test(id)) found.push({ ...begun.get(id, id)!, title: null });
    const isCurrent = found.some((each) => each.isCurrent === 1);
    const isKnown = found.some((each) => each.isCurrent !== null);
    const title = found.find((each) => each.title !== null)?.title ?? null;
    const state = isCurrent ? 'current' : isKnown ? 'removed' : 'unknown';
    const advice = state === 'removed' ? 'Only rules of older releases name it' : null;
    return { ...nothing, kind: 'srg', state, id, title, advice };
  }

  return ({ kind, framework, id }: FoundId): ReferenceFact => {
    if (kind === 'srg') return srg(id);
    const ofKind = kind === 'cci' ? 'cci' : 'control';
    const isThere = isControl.get(framework ?? 'cci', id) !== undefined;
    const row = isThere ? control.get(framework ?? 'cci', id) : undefined;
    if (!row) return { ...nothing, kind: ofKind, state: 'unknown', id };
    const fact = { ...nothing, kind: ofKind, id, title: row.title || row.statement.slice(0, 200) } as const;
    if (ofKind === 'cci') return { ...fact, state: row.status === 'withdrawn' ? 'deprecated' : 'current' };
    const into = JSON.parse(row.into) as string[];
    if (row.status === 'withdrawn')
      return { ...fact, state: 'withdrawn', advice: into.length > 0 ? `Now in ${into.join(', ')}` : null };
    // The revisions of 800-171 name different controls.
    if (row.isServed || framework === 'nist-800-171') return { ...fact, state: 'current' };
    return { ...fact, state: 'withdrawn', advice: `Only in ${row.version}` };
  };
}

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
    const cached = known.get(key);
    if (cached) return cached;
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

const words = { check: 'check', fix: 'fix', severity: 'severity', mapping: 'CCIs', cosmetic: 'wording' };
const namesOf = ({ groupId, ruleVersion }: { groupId: string; ruleVersion: string }) =>
  ruleVersion === '' ? groupId : `${groupId} (${ruleVersion})`;
