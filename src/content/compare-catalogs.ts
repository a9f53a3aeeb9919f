import { withoutFolder } from '../base/source-name.ts';
import { type Connection, connectReadOnly } from '../db/connect.ts';

/** What another catalog adds, changes and removes. */
export interface Changes<Row, Changed = Row> {
  come: Row[];
  change: Changed[];
  go: Row[];
}

/** The fields that identify things of several tables to a reader. */
interface Entry {
  id: string;
  title: string;
}

interface Source {
  sha256: string;
  kind: string;
  source: string;
  target: string | null;
}

/** A row with its key, and a text that changes with it. */
interface Row {
  key: string;
  content: string;
}

/**
 * Compares two catalogs (rule D32.5). Changes have the later fields; those of STIGs and edges the earlier ones too.
 * `slugs` are those that now lead to another slug. Throws `CommandError` where one cannot be read.
 */
export function compareCatalogs(earlier: string, later: string) {
  using before = connectReadOnly(earlier, 'catalog');
  using after = connectReadOnly(later, 'catalog');
  const compare = <T>(query: string) => changesOf<T, T>(before, after, query, (row) => row);
  const all = (table: string, without: string[]) => contentOf(after, table, without);
  const entries = (table: string, id: string, title: string) =>
    compare<Entry>(
      `SELECT t.${id} AS key, ${all(table, [])} AS content, t.${id} AS id, t.${title} AS title FROM ${table} AS t`,
    );
  const stigs = changesOf(
    before,
    after,
    `SELECT g.slug AS key, json_array(g.kind, g.title, r.version, s.sha256) AS content, g.slug, g.title, r.version,
            r.finding_count AS rules
       FROM stigs AS g JOIN stig_printings AS r ON r.id = g.current_release_id JOIN sources AS s ON s.id = r.source_id`,
    (row: { slug: string; title: string; version: string; rules: number }, former) => ({
      ...row,
      fromVersion: former.version,
      fromRules: former.rules,
    }),
  );
  const slugs = movedSlugs(after, earlier);
  const arrived = new Set(slugs.map(({ to }) => to));
  const moved = new Set(slugs.map(({ from }) => from));
  return {
    stigs: {
      come: stigs.come.filter(({ slug }) => !arrived.has(slug)),
      change: stigs.change,
      go: stigs.go.filter(({ slug }) => !moved.has(slug)),
    },
    slugs,
    releases: compare<{ slug: string; version: string; releaseDate: string | null }>(
      `SELECT g.slug || ' ' || r.version AS key, s.sha256 AS content, g.slug, r.version, r.release_date AS releaseDate
         FROM stig_releases AS r JOIN stigs AS g ON g.id = r.stig_id JOIN sources AS s ON s.id = r.source_id`,
    ),
    controls: compare<{ framework: string; version: string; identifier: string; title: string }>(
      `SELECT t.framework || ' ' || t.version || ' ' || t.identifier AS key, ${all('controls', ['ordinal'])} AS content,
              t.framework, t.version, t.identifier, t.title FROM controls AS t`,
    ),
    edges: changesOf(
      before,
      after,
      `SELECT a.framework || ':' || a.identifier || ' ' || b.framework || ':' || b.identifier AS key, e.status AS content,
              a.framework || ':' || a.identifier AS "from", b.framework || ':' || b.identifier AS "to", e.status
         FROM crosswalk_edges AS e JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b`,
      (row: { from: string; to: string; status: string }, former) => ({ ...row, fromStatus: former.status }),
    ),
    documents: entries('documents', 'document_id', 'title'),
    occupations: entries('occupations', 'occupation_code', 'title'),
    workRoles: entries('work_roles', 'work_role_id', 'name'),
    roleMappings: compare<Entry>(
      `SELECT g.slug || ' ' || t.occupation_code AS key, ${all('role_mappings', ['stig_id', 'id'])} AS content,
              g.slug || ' ' || t.occupation_code AS id, g.title
         FROM role_mappings AS t JOIN stigs AS g ON g.id = t.stig_id`,
    ),
    synonyms: compare<{ words: string }>(
      `SELECT DISTINCT words AS key, '' AS content, words
         FROM (SELECT (SELECT group_concat(value, '; ' ORDER BY value) FROM json_each(words)) AS words
                 FROM synonym_groups)`,
    ),
    overrides: compare<{ benchmarkId: string; slug: string }>(
      'SELECT benchmark_id AS key, slug AS content, benchmark_id AS benchmarkId, slug FROM stig_overrides',
    ),
    sources: named(
      compare<Source>("SELECT sha256 AS key, '' AS content, sha256, kind, source, target FROM sources"),
    ),
  };
}

const named = ({ come, change, go }: Changes<Source>): Changes<Source> => {
  const each = (row: Source) => ({ ...row, source: withoutFolder(row.source) });
  return { come: come.map(each), change: change.map(each), go: go.map(each) };
};

/** An expression for all columns of a row except some, as one text. */
function contentOf(sqlite: Connection, table: string, without: string[]): string {
  const columns = sqlite.pragma(`table_info(${table})`) as { name: string }[];
  const kept = columns.filter(({ name }) => !without.includes(name)).map(({ name }) => `t."${name}"`);
  return `json_array(${kept.join(', ')})`;
}

/** Compares the results of a query on both catalogs by `key`; `changed` gives a changed row from both. */
function changesOf<T, Changed>(
  earlier: Connection,
  later: Connection,
  query: string,
  changed: (row: T, former: T) => Changed,
): Changes<T, Changed> {
  const rows = (catalog: Connection) => catalog.prepare<[], Row & T>(`${query} ORDER BY key`).iterate();
  const before = new Map<string, { content: string; shown: T }>();
  for (const { key, content, ...shown } of rows(earlier)) before.set(key, { content, shown: shown as T });
  const changes: Changes<T, Changed> = { come: [], change: [], go: [] };
  for (const { key, content, ...shown } of rows(later)) {
    const former = before.get(key);
    before.delete(key);
    if (!former) changes.come.push(shown as T);
    else if (former.content !== content) changes.change.push(changed(shown as T, former.shown));
  }
  changes.go = [...before.values()].map(({ shown }) => shown);
  return changes;
}

/** For each STIG of the earlier catalog, the slug that its newest release has now, or else where its slug leads. */
function movedSlugs(later: Connection, earlier: string): { from: string; to: string }[] {
  later.prepare('ATTACH ? AS earlier').run(earlier);
  return later
    .prepare<[], { from: string; to: string }>(
      `SELECT was.slug AS "from",
              coalesce((SELECT g.slug FROM main.sources AS s JOIN main.stig_printings AS p ON p.source_id = s.id
                          JOIN main.stigs AS g ON g.id = p.stig_id WHERE s.sha256 = source.sha256),
                       (SELECT slug FROM main.stigs WHERE slug = was.slug),
                       (SELECT g.slug FROM main.stig_aliases AS a JOIN main.stigs AS g ON g.id = a.stig_id
                         WHERE a.alias = was.slug)) AS "to"
         FROM earlier.stigs AS was JOIN earlier.stig_printings AS r ON r.id = was.current_release_id
         JOIN earlier.sources AS source ON source.id = r.source_id
        WHERE "to" IS NOT NULL AND "to" <> was.slug ORDER BY 1`,
    )
    .all();
}
