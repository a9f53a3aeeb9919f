import { withoutFolder } from '../base/source-name.ts';
import { count } from '../base/text.ts';
import { type Connection, connectReadOnly } from '../db/connect.ts';

/** What another catalog adds, changes and removes. */
export interface Changes<T> {
  come: T[];
  change: T[];
  go: T[];
}

/** What the plan shows of a row, by the names of its fields. */
export type Row = Record<string, string | number | null>;

/** One kind of content that is compared. */
interface Kind {
  title: string;
  /**
   * The rows of a catalog: `key` names a row, `content` changes with it, all other columns are shown. `columns` gives all
   * columns of the table `t` but some as one text.
   */
  query: (columns: (table: string, ...without: string[]) => string) => string;
  /** Fields of the earlier row that a changed one shows, too, by the names that they get. */
  earlier?: Record<string, string>;
  words: (row: Row) => string;
}

const entryWords = ({ id, title }: Row) => `${id} ${title}`;

/** A table whose rows have an id and a title. */
const entries = (title: string, table: string, id: string, name: string): Kind => ({
  title,
  query: (columns) =>
    `SELECT t.${id} AS key, ${columns(table)} AS content, t.${id} AS id, t.${name} AS title FROM ${table} AS t`,
  words: entryWords,
});

/** Everything that is compared but sources, in the order of the plan. */
export const kinds = {
  stigs: {
    title: 'STIGs',
    query: () =>
      `SELECT g.slug AS key, json_array(g.kind, g.title, r.version, s.sha256) AS content, g.slug, g.title, r.version,
              r.finding_count AS rules
         FROM stigs AS g JOIN stig_printings AS r ON r.id = g.current_release_id JOIN sources AS s ON s.id = r.source_id`,
    earlier: { fromVersion: 'version', fromRules: 'rules' },
    words: ({ slug, title, version, rules, fromVersion = version!, fromRules = rules! }) => {
      const versions = fromVersion === version ? version : `${fromVersion} to ${version}`;
      const number = count(Number(rules), 'rule');
      return `${slug} ${versions}, ${fromRules === rules ? number : `${fromRules} to ${number}`}: ${title}`;
    },
  },
  releases: {
    title: 'Releases',
    query: () =>
      `SELECT g.slug || ' ' || r.version AS key, s.sha256 AS content, g.slug, r.version, r.release_date AS releaseDate
         FROM stig_releases AS r JOIN stigs AS g ON g.id = r.stig_id JOIN sources AS s ON s.id = r.source_id`,
    words: ({ slug, version, releaseDate }) => `${slug} ${version} ${releaseDate ?? 'no date'}`,
  },
  controls: {
    title: 'Controls',
    query: (columns) =>
      `SELECT t.framework || ' ' || t.version || ' ' || t.identifier AS key, ${columns('controls', 'ordinal')} AS content,
              t.framework, t.version, t.identifier, t.title FROM controls AS t`,
    words: ({ framework, version, identifier, title }) => `${framework} ${version} ${identifier} ${title}`,
  },
  edges: {
    title: 'Mappings',
    query: () =>
      `SELECT a.framework || ':' || a.identifier || ' ' || b.framework || ':' || b.identifier AS key, e.status AS content,
              a.framework || ':' || a.identifier AS "from", b.framework || ':' || b.identifier AS "to", e.status
         FROM crosswalk_edges AS e JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b`,
    earlier: { fromStatus: 'status' },
    words: ({ from, to, status, fromStatus = status! }) =>
      `${from} ${to} ${fromStatus === status ? status : `${fromStatus} to ${status}`}`,
  },
  documents: entries('Documents', 'documents', 'document_id', 'title'),
  occupations: entries('Occupations', 'occupations', 'occupation_code', 'title'),
  workRoles: entries('Work roles', 'work_roles', 'work_role_id', 'name'),
  roleMappings: {
    title: 'Roles of STIGs',
    query: (columns) =>
      `SELECT g.slug || ' ' || t.occupation_code AS key, ${columns('role_mappings', 'stig_id', 'id')} AS content,
              g.slug || ' ' || t.occupation_code AS id, g.title
         FROM role_mappings AS t JOIN stigs AS g ON g.id = t.stig_id`,
    words: entryWords,
  },
  synonyms: {
    title: 'Synonyms',
    query: () =>
      `SELECT DISTINCT words AS key, '' AS content, words
         FROM (SELECT (SELECT group_concat(value, '; ' ORDER BY value) FROM json_each(words)) AS words
                 FROM synonym_groups)`,
    words: ({ words }) => String(words),
  },
  overrides: {
    title: 'Slug overrides',
    query: () =>
      'SELECT benchmark_id AS key, slug AS content, benchmark_id AS benchmarkId, slug FROM stig_overrides',
    words: ({ benchmarkId, slug }) => `${benchmarkId} ${slug}`,
  },
} satisfies Record<string, Kind>;

/** A source as the plan shows it. */
export interface PlannedSource {
  sha256: string;
  kind: string;
  source: string;
  target: string | null;
}

/**
 * Compares two catalogs (rule D32.5). Changed rows have the later fields, and those of `earlier`. `slugs` are those that
 * now lead to another slug. Throws `CommandError` where one cannot be read.
 */
export function compareCatalogs(earlier: string, later: string) {
  using before = connectReadOnly(earlier, 'catalog');
  using after = connectReadOnly(later, 'catalog');
  const columns = (table: string, ...without: string[]) => {
    const all = after.pragma(`table_info(${table})`) as { name: string }[];
    const counted = all.filter(({ name }) => !without.includes(name)).map(({ name }) => `t."${name}"`);
    return `json_array(${counted.join(', ')})`;
  };
  const changes = Object.fromEntries(
    Object.entries<Kind>(kinds).map(([name, { query, earlier = {} }]) => [
      name,
      changesOf<Row>(before, after, query(columns), (row, former) => {
        const added = Object.entries(earlier).map(([field, of]) => [field, former[of]!]);
        return { ...row, ...Object.fromEntries(added) };
      }),
    ]),
  ) as Record<keyof typeof kinds, Changes<Row>>;
  const { stigs, ...others } = changes;
  const slugs = movedSlugs(after, earlier);
  const arrived = new Set(slugs.map(({ to }) => to));
  const moved = new Set(slugs.map(({ from }) => from));
  const sources = changesOf<PlannedSource>(
    before,
    after,
    "SELECT sha256 AS key, '' AS content, sha256, kind, source, target FROM sources",
  );
  const named = (rows: PlannedSource[]) => rows.map((row) => ({ ...row, source: withoutFolder(row.source) }));
  return {
    stigs: {
      come: stigs.come.filter(({ slug }) => !arrived.has(String(slug))),
      change: stigs.change,
      go: stigs.go.filter(({ slug }) => !moved.has(String(slug))),
    },
    slugs,
    ...others,
    sources: { come: named(sources.come), change: named(sources.change), go: named(sources.go) },
  };
}

/** Compares the results of a query on both catalogs by `key`; `changed` gives a changed row from both. */
function changesOf<T>(
  earlier: Connection,
  later: Connection,
  query: string,
  changed = (row: T, _former: T) => row,
): Changes<T> {
  type Keyed = T & { key: string; content: string };
  const rows = (catalog: Connection) => catalog.prepare<[], Keyed>(`${query} ORDER BY key`).iterate();
  const before = new Map<string, { content: string; shown: T }>();
  for (const { key, content, ...shown } of rows(earlier)) before.set(key, { content, shown: shown as T });
  const changes: Changes<T> = { come: [], change: [], go: [] };
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
