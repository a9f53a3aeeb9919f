import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { prepareList } from '../../http/paging.ts';
import { partsOfReference } from './assessment.ts';
import { compareVersions } from './frameworks.ts';
import { sortKey } from './identifier.ts';
import type { CciList, CciQuery, CciRecord } from './schema.ts';
import type { ControlVersions } from './versions.ts';

type CciRow = Pick<CciRecord, 'identifier' | 'definition' | 'status' | 'type' | 'rules'> & {
  textFrom: string | null;
};
type StatedReference = Record<'version' | 'identifier' | 'reference', string>;

const framework = 'nist-800-53' as const;

// The import keeps the status of a CCI, folded, as the last of the names of its family.
const columns = `identifier, statement AS definition, family AS type, family_names ->> '$[#-1]' AS status,
  record_json ->> '$.textFrom' AS textFrom, (SELECT count(*) FROM rule_ccis WHERE cci = identifier) AS rules`;
const matching = `FROM controls
 WHERE framework = 'cci' AND version = @version AND instr(search_text, @search) > 0
   AND (@statuses IS NULL OR family_names ->> '$[#-1]' IN (SELECT value FROM json_each(@statuses)))`;

/** The CCIs of an imported list as records (rule D54.1): what DISA states of each, and how many rules cite it. */
export function createCciRecords(db: Database, { versionOf }: ControlVersions) {
  const { sqlite } = db;
  const listed = prepareList<CciRow>(db, { columns, matching, order: 'ordinal' });
  const one = sqlite.prepare<[version: string, identifier: string], CciRow>(
    `SELECT ${columns} FROM controls WHERE framework = 'cci' AND version = ? AND identifier = ?`,
  );
  const referencesOf = sqlite.prepare<[version: string, identifier: string], StatedReference>(
    `SELECT DISTINCT to_version AS version, to_identifier AS identifier, reference
       FROM mapping_facts
      WHERE from_framework = 'cci' AND from_version = ? AND to_framework = '${framework}' AND from_identifier = ?`,
  );

  const recordOf = (version: string, { textFrom, rules, ...row }: CciRow): CciRecord => ({
    framework: 'cci',
    version,
    ...row,
    ...(textFrom === null ? {} : { textFrom }),
    references: toReferences(referencesOf.all(version, row.identifier)),
    rules,
  });

  return {
    /** A page of the CCIs of a list, by default of the newest. Throws NOT_FOUND for a list that is not imported. */
    ccis({ search = '', status, version: requested, ...page }: CciQuery): CciList {
      const version = versionOf('cci', requested) ?? '';
      const statuses = status === undefined ? null : JSON.stringify([...status]);
      const { rows, pagination } = listed({ version, search: fold(search), statuses }, page);
      const controls = rows.map((row) => recordOf(version, row));
      return { framework: 'cci', version, total: pagination.total, controls, pagination };
    },

    /** One CCI of a list, by its published identifier. */
    cci: (version: string, identifier: string): CciRecord => recordOf(version, one.get(version, identifier)!),
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
