import type { Database } from '../db/database.ts';
import type { Kind } from '../db/schema.ts';
import { damageOf } from '../db/schema-check.ts';
import { outcomes } from './ledger.ts';

/** One thing that `gapstone check` looks at. `run` gives a line for each problem, and changes nothing. */
export interface Check {
  name: string;
  run(db: Database): Iterable<string>;
}

function query(name: string, ...questions: string[]): Check {
  return {
    name,
    *run({ sqlite }) {
      for (const question of questions) yield* sqlite.prepare<[], string>(question).pluck().iterate();
    },
  };
}

const fileNames: Record<Kind, string> = { catalog: 'the catalog', users: "users' data" };

/** The name of what is looked at in a file: which one decides what to restore (rule D23.4). */
export const inFile = (what: string, kind: Kind): string => `${what} of ${fileNames[kind]}`;

const integrity = (kind: Kind): Check => ({
  name: inFile('integrity', kind),
  run: ({ sqlite, names }) => damageOf(sqlite, 'full', names[kind]),
});

const foreignKeys = (kind: Kind): Check => ({
  name: inFile('foreign keys', kind),
  *run({ sqlite, names }) {
    type Loose = { table: string; rowid: number | null; parent: string };
    const loose = sqlite.pragma(`${names[kind]}.foreign_key_check`) as Loose[];
    for (const { table, rowid, parent } of loose)
      yield `${table}${rowid === null ? '' : ` row ${rowid}`} refers to a row of ${parent} that does not exist`;
  },
});

/** Each run's summary against its lines; each stored source against the line that says it was imported. */
const ledger = query(
  'ledger',
  ...outcomes.map(
    (outcome) =>
      `SELECT 'run ' || r.id || ' says ' || (r.summary ->> '${outcome}') || ' ${outcome}, its lines say ' || count(l.ordinal)
         FROM import_runs AS r LEFT JOIN import_ledger AS l ON l.run_id = r.id AND l.outcome = '${outcome}'
        GROUP BY r.id HAVING count(l.ordinal) <> r.summary ->> '${outcome}'`,
  ),
  `SELECT 'run ' || r.id || ' says ' || (r.summary ->> 'sources') || ' sources, it has ' || count(l.ordinal) || ' lines'
     FROM import_runs AS r LEFT JOIN import_ledger AS l ON l.run_id = r.id
    GROUP BY r.id HAVING count(l.ordinal) <> r.summary ->> 'sources' OR coalesce(max(l.ordinal), 0) <> count(l.ordinal)`,
  `SELECT 'run ' || r.id || ' says ' || (r.summary ->> 'warnings') || ' warnings, its lines have ' ||
          coalesce(sum(json_array_length(l.warnings)), 0)
     FROM import_runs AS r LEFT JOIN import_ledger AS l ON l.run_id = r.id
    GROUP BY r.id HAVING coalesce(sum(json_array_length(l.warnings)), 0) <> r.summary ->> 'warnings'`,
  `SELECT 'the catalog is of generation ' || c.generation || ', run ' || r.id || ' left ' || r.generation
     FROM catalog AS c JOIN import_runs AS r ON r.generation > c.generation`,
  `SELECT 'the stored source ' || s.sha256 || ' (' || s.kind || ') has no line that says it was imported'
     FROM sources AS s
    WHERE NOT EXISTS (SELECT 1 FROM import_ledger AS l
                       WHERE l.sha256 = s.sha256 AND l.kind = s.kind AND l.outcome IN ('imported', 'superseded'))`,
);

/** Every source states facts of its own kind. */
const sources = query(
  'sources',
  `SELECT 'the source ' || s.sha256 || ' (' || s.kind || ') states nothing'
     FROM sources AS s
    WHERE ${[
      'stig_printings',
      'control_facts',
      'baseline_facts',
      'profile_facts',
      'mapping_facts',
      'role_releases',
      'curated_mapping_facts',
      'document_facts',
      'synonym_groups',
      'scap_facts',
    ]
      .map((table) => `NOT EXISTS (SELECT 1 FROM ${table} AS t WHERE t.source_id = s.id)`)
      .join(' AND ')}`,
);

const releases = query(
  'releases',
  `SELECT s.slug || ' serves ' || coalesce(c.version, 'nothing') || ', its newest release is ' || coalesce(n.version, 'none')
     FROM stigs AS s LEFT JOIN stig_releases AS c ON c.id = s.current_release_id
     LEFT JOIN stig_releases AS n ON n.id = (SELECT id FROM stig_releases WHERE stig_id = s.id ORDER BY release_order DESC LIMIT 1)
    WHERE c.id IS NOT n.id OR c.stig_id <> s.id`,
  `SELECT s.slug || ' has another title than its newest release'
     FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id WHERE r.title <> s.title`,
  `SELECT s.slug || ' ' || r.version || ' says ' || r.finding_count || ' findings (' || r.high || ', ' || r.medium || ', ' ||
          r.low || '), it has ' || count(f.id)
     FROM stig_printings AS r JOIN stigs AS s ON s.id = r.stig_id LEFT JOIN findings AS f ON f.release_id = r.id
    GROUP BY r.id
   HAVING count(f.id) <> r.finding_count OR coalesce(sum(f.severity = 'high'), 0) <> r.high
       OR coalesce(sum(f.severity = 'medium'), 0) <> r.medium OR coalesce(sum(f.severity = 'low'), 0) <> r.low
       OR coalesce(max(f.ordinal), 0) <> count(f.id)`,
  `SELECT s.slug || ' ' || p.version || ' gives way to a release that is not served in its place'
     FROM stig_printings AS p JOIN stigs AS s ON s.id = p.stig_id LEFT JOIN stig_releases AS r ON r.id = p.superseded_by
    WHERE p.superseded_by IS NOT NULL AND (r.stig_id IS NOT p.stig_id OR r.version IS NOT p.version)`,
  `SELECT 'the printing ' || s.sha256 || ' belongs to no STIG, or what it is compared by is not there'
     FROM stig_printings AS p JOIN sources AS s ON s.id = p.source_id LEFT JOIN stig_evidence AS e ON e.release_id = p.id
     LEFT JOIN rule_marks AS m ON m.release_id = p.id
    WHERE p.stig_id IS NULL OR e.release_id IS NULL OR coalesce(json_array_length(m.marks), -1) <> p.finding_count`,
  `SELECT s.slug || ' ' || r.version || ' says ' || r.profile_count || ' profiles, it has ' || count(p.ordinal)
     FROM stig_printings AS r JOIN stigs AS s ON s.id = r.stig_id LEFT JOIN stig_profiles AS p ON p.release_id = r.id
    GROUP BY r.id HAVING count(p.ordinal) <> r.profile_count`,
  `SELECT 'the alias ' || a.alias || ' is the slug of a STIG'
     FROM stig_aliases AS a JOIN stigs AS s ON s.slug = a.alias`,
  `SELECT s.slug || ' ' || p.version || ' has a benchmark id that leads nowhere: ' || p.benchmark_id
     FROM stig_printings AS p JOIN stigs AS s ON s.id = p.stig_id
    WHERE lower(p.benchmark_id) NOT IN (SELECT alias FROM stig_aliases UNION ALL SELECT slug FROM stigs
                                         UNION ALL VALUES ('batch'), ('changelog'), ('changes'), ('stats'))
      AND p.benchmark_id NOT GLOB '*[^ -~]*'`,
);

const controls = query(
  'controls',
  `SELECT framework || ' has ' || sum(is_default) || ' default and ' || sum(is_newest) || ' newest versions'
     FROM framework_versions GROUP BY framework HAVING sum(is_default) <> 1 OR sum(is_newest) <> 1`,
  `SELECT v.framework || ' ' || v.version || ' has ' || count(c.ordinal) || ' controls, numbered to ' || coalesce(max(c.ordinal), 0)
     FROM framework_versions AS v LEFT JOIN controls AS c ON c.framework = v.framework AND c.version = v.version
    GROUP BY v.framework, v.version HAVING count(c.ordinal) = 0 OR count(c.ordinal) <> max(c.ordinal)`,
  `SELECT DISTINCT c.framework || ' ' || c.version || ' is no version of a framework'
     FROM controls AS c
    WHERE NOT EXISTS (SELECT 1 FROM framework_versions AS v WHERE v.framework = c.framework AND v.version = c.version)`,
  `SELECT c.framework || ':' || c.identifier || ' has the key of ' || k.framework || ':' || k.identifier
     FROM controls AS c JOIN control_keys AS k ON k.id = c.control_id
    WHERE k.framework <> c.framework OR k.identifier <> c.identifier`,
  `SELECT DISTINCT 'no source states ' || c.framework || ':' || c.identifier || ' of ' || c.version
     FROM controls AS c
    WHERE NOT EXISTS (SELECT 1 FROM control_facts AS f
                       WHERE f.source_id IN (SELECT id FROM sources) AND f.framework = c.framework
                         AND f.version = c.version AND f.identifier = c.identifier)`,
);

const crosswalk = query(
  'crosswalk',
  `SELECT 'the nodes are numbered to ' || max(id) || ', there are ' || count(*)
     FROM crosswalk_nodes HAVING count(*) > 0 AND (min(id) <> 0 OR max(id) <> count(*) - 1)`,
  `SELECT 'no source states ' || a.framework || ':' || a.identifier || ' - ' || b.framework || ':' || b.identifier
     FROM crosswalk_edges AS e JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b
    WHERE NOT EXISTS (SELECT 1 FROM crosswalk_evidence AS v WHERE v.a = e.a AND v.b = e.b)`,
  `SELECT 'the evidence of edge ' || v.a || ' - ' || v.b || ' is of no ' || CASE WHEN f.ordinal IS NULL THEN 'source' ELSE 'edge' END
     FROM crosswalk_evidence AS v
     LEFT JOIN mapping_facts AS f ON f.source_id = v.source_id AND f.ordinal = v.ordinal
     LEFT JOIN crosswalk_edges AS e ON e.a = v.a AND e.b = v.b
    WHERE f.ordinal IS NULL OR e.a IS NULL`,
);

const roles = query(
  'roles and documents',
  `SELECT s.slug || ' has ' || count(*) || ' roles, ranked to ' || max(m.relevance_rank)
     FROM role_mappings AS m JOIN stigs AS s ON s.id = m.stig_id
    GROUP BY s.id HAVING count(*) <> max(m.relevance_rank)`,
  `SELECT 'the occupation ' || occupation_code || ' is stated and not served'
     FROM (SELECT occupation_code FROM occupation_facts EXCEPT SELECT occupation_code FROM occupations)`,
  `SELECT 'the occupation ' || occupation_code || ' is served and not stated'
     FROM (SELECT occupation_code FROM occupations EXCEPT SELECT occupation_code FROM occupation_facts)`,
  `SELECT 'the document ' || document_id || ' is stated and not served'
     FROM (SELECT document_id FROM document_facts EXCEPT SELECT document_id FROM documents)`,
  `SELECT 'the document ' || document_id || ' is served and not stated'
     FROM documents AS d WHERE document_id NOT IN (SELECT document_id FROM document_facts) AND NOT EXISTS (
            SELECT 1 FROM document_facts AS f JOIN sources AS s ON s.id = f.source_id
             WHERE s.sha256 LIKE substr(d.document_id, length(f.document_id) + 2) || '%'
               AND d.document_id LIKE f.document_id || '-________%')`,
);

/** The checks of a database by queries alone, in order. */
export const databaseChecks: Check[] = [
  integrity('catalog'),
  integrity('users'),
  foreignKeys('catalog'),
  foreignKeys('users'),
  ledger,
  sources,
  releases,
  controls,
  crosswalk,
  roles,
];
