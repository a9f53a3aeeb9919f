import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import { partsOfReference } from './assessment.ts';
import type { CciList, CciQuery, CciRecord } from './ccis-schema.ts';
import { compareVersions } from './frameworks.ts';
import { sortKey } from './identifier.ts';
import type { ControlVersions } from './versions.ts';

type Row = Pick<CciRecord, 'identifier' | 'definition' | 'status' | 'type'> & { textFrom: string | null };
type StatedReference = { cci: string; version: string; identifier: string; reference: string };

const framework = 'nist-800-53' as const;

/** The CCIs of an imported list as records (rule D54.1): what DISA states of each, and how many rules cite it. */
export function createCciRecords(db: Database, { versionOf }: ControlVersions) {
  const { sqlite } = db;
  // The import keeps the status of a CCI, folded, as the last of the names of its family.
  const columns = `identifier, statement AS definition, family AS type, family_names ->> '$[#-1]' AS status`;
  const rows = sqlite.prepare<[version: string, search: string], Row>(
    `SELECT ${columns}, record_json ->> '$.textFrom' AS textFrom FROM controls
      WHERE framework = 'cci' AND version = ? AND instr(search_text, ?) > 0 ORDER BY ordinal`,
  );
  const referencesOf = sqlite.prepare<[version: string, ccis: string], StatedReference>(
    `SELECT DISTINCT from_identifier AS cci, to_version AS version, to_identifier AS identifier, reference
       FROM mapping_facts
      WHERE from_framework = 'cci' AND from_version = ? AND to_framework = '${framework}'
        AND from_identifier IN (SELECT value FROM json_each(?))`,
  );
  const rulesOf = sqlite
    .prepare<[string], [cci: string, rules: number]>(
      'SELECT cci, count(*) FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(?)) GROUP BY cci',
    )
    .raw();

  function recordsOf(version: string, some: Row[]): CciRecord[] {
    const ccis = JSON.stringify(some.map(({ identifier }) => identifier));
    const references = Map.groupBy(referencesOf.all(version, ccis), ({ cci }) => cci);
    const rules = new Map(rulesOf.all(ccis));
    return some.map(({ textFrom, ...row }) => ({
      framework: 'cci',
      version,
      ...row,
      ...(textFrom === null ? {} : { textFrom }),
      references: toReferences(references.get(row.identifier) ?? []),
      rules: rules.get(row.identifier) ?? 0,
    }));
  }

  return {
    /** A page of the CCIs of a list, by default of the newest. Throws NOT_FOUND for a list that is not imported. */
    ccis: (query: CciQuery): CciList =>
      db.read(() => {
        const version = versionOf('cci', query.version) ?? '';
        const found = rows
          .all(version, fold(query.search ?? ''))
          .filter(({ status }) => query.status?.has(status) ?? true);
        const { length: total } = found;
        const controls = recordsOf(version, slice(found, query));
        return { framework: 'cci', version, total, controls, pagination: paginationOf(query, total) };
      }),

    /** One CCI of a list, by its published identifier. */
    cci: (version: string, identifier: string): CciRecord =>
      db.read(() => {
        const own = rows.all(version, fold(identifier)).filter((row) => row.identifier === identifier);
        return recordsOf(version, own)[0]!;
      }),
  };
}

/** In the order of revisions and of the catalog; a reference that names several parts is one for each. */
function toReferences(stated: StatedReference[]): CciRecord['references'] {
  const key = ({ identifier, part }: { identifier: string; part: string }) =>
    `${sortKey(framework, identifier)} ${part}`;
  return stated
    .flatMap(({ version, identifier, reference }) =>
      partsOfReference(identifier, reference).map((part) => ({ framework, version, identifier, part })),
    )
    .sort((a, b) => compareVersions(a.version, b.version) || (key(a) < key(b) ? -1 : 1));
}
