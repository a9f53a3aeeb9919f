import { compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import { sortKey } from '../../src/catalog/controls/identifier.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import type { ProfileRecord } from './control-record.ts';
import { type BaselineLayer, baselinesOf, type MergedCatalog } from './merge.ts';
import type { CatalogFinder } from './named-catalog.ts';
import { type ListedBaseline, resolveProfiles, type StoredProfile } from './resolve-profiles.ts';
import { serveControl } from './served-control.ts';

/** The members of all baselines, and what resolving their profiles has to say. Stores the values that they set. */
export function deriveBaselines(db: Database, catalogs: MergedCatalog[], finder: CatalogFinder) {
  const { sqlite } = db;
  const listed = readBaselines(db);
  const profiles = sqlite
    .prepare<[], Pick<StoredProfile, 'sourceId' | 'source' | 'sha256'> & { record: string }>(
      `SELECT p.source_id AS sourceId, s.source, s.sha256, p.record
         FROM profile_facts AS p JOIN sources AS s ON s.id = p.source_id ORDER BY s.sha256`,
    )
    .all()
    .map(({ record, ...row }) => ({ ...row, ...(JSON.parse(record) as ProfileRecord) }));
  const { layers, values, problems } = resolveProfiles(profiles, listed, catalogs, finder);
  sqlite.exec('DELETE FROM profile_values');
  const insertValue = prepareInsert(db, 'profile_values');
  for (const [ordinal, value] of values.entries()) insertValue({ ordinal, ...value });
  return { baselines: [...listed, ...layers], problems };
}

/** The members of baselines as each profile lists them. */
function readBaselines({ sqlite }: Database): ListedBaseline[] {
  const valuesOf = sqlite.prepare<[number, string], { parameter: string; value: string }>(
    'SELECT parameter, value FROM parameter_value_facts WHERE source_id = ? AND baseline = ?',
  );
  return sqlite
    .prepare<[], Omit<ListedBaseline, 'identifiers' | 'settings'> & { identifiers: string }>(
      `SELECT f.source_id AS sourceId, f.framework, f.version, f.edition, f.baseline, f.title, s.sha256, s.source,
              json_group_array(f.identifier) AS identifiers
         FROM baseline_facts AS f JOIN sources AS s ON s.id = f.source_id
        GROUP BY f.source_id, f.version, f.edition, f.baseline`,
    )
    .all()
    .map(({ identifiers, ...row }) => ({
      ...row,
      identifiers: new Set(JSON.parse(identifiers) as string[]),
      settings: valuesOf.all(row.sourceId, row.baseline).map(({ parameter, value }) => ({
        parameter,
        values: [value],
        choices: [],
        label: '',
        constraints: [],
      })),
    }));
}

/** The newest version, but Rev 2 of 800-171 if it is imported (D6.2). */
function defaultVersion(framework: string, versions: string[]): string {
  const isRev2 = (version: string) => framework === 'nist-800-171' && versionKey(framework, version) === '2';
  return versions.find(isRev2) ?? newestOf(versions);
}

function newestOf(versions: string[]): string {
  return versions.reduce((newest, version) => (compareVersions(version, newest) > 0 ? version : newest));
}

/** Replaces the stored catalogs and baselines; inside the run's transaction. */
export function writeCatalogs(db: Database, catalogs: MergedCatalog[], layers: BaselineLayer[]): void {
  const { sqlite } = db;
  sqlite.exec(
    'DELETE FROM baselines; DELETE FROM controls; DELETE FROM framework_versions; DELETE FROM control_keys;',
  );
  const insertVersion = prepareInsert(db, 'framework_versions');
  const insertBaseline = prepareInsert(db, 'baselines');
  const insertControl = prepareInsert(db, 'controls');
  const insertKey = sqlite.prepare('INSERT INTO control_keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  for (const catalog of catalogs) {
    const { framework, version, edition, controls } = catalog;
    const versions = catalogs.filter((each) => each.framework === framework).map((each) => each.version);
    const isDefault = Number(version === defaultVersion(framework, versions));
    const isNewest = Number(version === newestOf(versions));
    insertVersion({ framework, version, edition, isDefault, isNewest });
    const baselines = baselinesOf(catalog, layers);
    const active = controls.filter(({ status }) => status === 'active');
    for (const [index, { name, title, sourceId, has }] of baselines.entries()) {
      const counts = { ordinal: index + 1, controls: active.filter(has).length };
      insertBaseline({ framework, version, name, title, sourceId, ...counts });
    }
    for (const [index, control] of controls.entries()) {
      const member = baselines.filter(({ has }) => control.status === 'active' && has(control));
      const names = member.map(({ name }) => name);
      const served = serveControl(framework, version, control, names);
      const { controlId, identifier } = served;
      insertKey.run(controlId, framework, identifier, sortKey(framework, identifier));
      insertControl({ framework, version, ordinal: index + 1, ...served });
    }
  }
}
