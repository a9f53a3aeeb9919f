import { frameworks } from '../../src/catalog/controls/frameworks.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import { firstOf } from '../read/source-text.ts';
import type { Stated } from '../read/stated.ts';
import { controlRecord } from './catalog.ts';
import type { CciListRecord, ControlRecord, ControlsRecord, MappingRecord } from './control-record.ts';

/** Stores the records of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageControls(db: Database, sourceId: number, records: ControlsRecord[]): Stated {
  const insertControl = prepareInsert(db, 'control_facts');
  const insertTitle = prepareInsert(db, 'framework_titles');
  const insertBaseline = prepareInsert(db, 'baseline_facts');
  const insertValue = prepareInsert(db, 'parameter_value_facts');
  const insertProfile = prepareInsert(db, 'profile_facts');
  const insertDetails = prepareInsert(db, 'mapping_details');
  const insertMapping = prepareInsert(db, 'mapping_facts');
  const counts: Record<string, number> = {};
  const targets = new Set<string>();
  let ordinal = 0;
  const storeControls = (framework: string, version: string, edition: string, controls: ControlRecord[]) => {
    for (const control of controls) {
      const { identifier } = control;
      const record = JSON.stringify(control);
      insertControl({ sourceId, framework, version, edition, identifier, record });
    }
    targets.add(`${framework} ${version}`);
  };
  const storePairs = ({ fromFramework, fromVersion, edition, pairs }: MappingRecord) => {
    for (const each of pairs) {
      const { relationship = '', isVerified = false, isOscal = false, mapping, files, ...pair } = each;
      ordinal++;
      insertMapping({ sourceId, ordinal, edition, fromFramework, fromVersion, row: null, ...pair });
      if (relationship === '' && !isVerified && !isOscal) continue;
      const ends = [fromFramework, fromVersion, pair.fromIdentifier];
      const stated = isOscal
        ? JSON.stringify([
            ...ends,
            ...[pair.toFramework, pair.toVersion, pair.toIdentifier],
            ...(mapping === undefined && files === undefined ? [] : [{ mapping, files }]),
          ])
        : null;
      insertDetails({ sourceId, ordinal, relationship, isVerified: Number(isVerified), stated });
    }
    counts.pairs = (counts.pairs ?? 0) + pairs.length;
    targets.add(`${fromFramework} ${fromVersion}`.trim());
  };
  for (const record of records) {
    const { edition } = record;
    if (record.type === 'catalog') {
      const { framework, version, frameworkTitle: title } = record;
      storeControls(framework, version, edition, record.controls);
      if (title !== undefined) insertTitle({ sourceId, framework, version, edition, title });
      counts.controls = (counts.controls ?? 0) + record.controls.length;
    } else if (record.type === 'baseline') {
      const { framework, version, baseline, title } = record;
      for (const identifier of record.identifiers) {
        insertBaseline({ sourceId, framework, version, edition, baseline, title, identifier });
      }
      for (const each of record.values ?? []) insertValue({ sourceId, baseline, ...each });
      counts[baseline] = record.identifiers.length;
      targets.add(`${framework} ${version}`.trim());
    } else if (record.type === 'profile') {
      insertProfile({ sourceId, record: JSON.stringify(record) });
      counts.baselines = 1;
      targets.add(`${record.framework} ${record.version}`.trim());
    } else if (record.type === 'cci-list') {
      storeControls('cci', edition, edition, record.items.map(toControl));
      counts.ccis = (counts.ccis ?? 0) + record.items.length;
      const { pairs } = record;
      storePairs({ type: 'mapping', fromFramework: 'cci', fromVersion: edition, edition, pairs });
    } else storePairs(record);
  }
  targets.delete('');
  return { target: firstOf([...targets], 50) || null, counts };
}

/** Gives a function that tells whether a stored source states a framework of a site by another name than the given. */
export function createHasOtherName({ sqlite }: Database) {
  const other = sqlite.prepare<[number, string, string]>(
    `SELECT 1 FROM control_facts
      WHERE source_id = ? AND framework <> ? AND framework NOT IN (SELECT value FROM json_each(?)) LIMIT 1`,
  );
  const published = JSON.stringify(frameworks);
  return (sourceId: number, name: string | undefined): boolean =>
    name !== undefined && other.get(sourceId, name, published) !== undefined;
}

function toControl(item: CciListRecord['items'][number]): ControlRecord {
  return controlRecord('cci', {
    identifier: item.identifier,
    family: item.type,
    familyCode: item.status,
    status: item.status.toLowerCase() === 'deprecated' ? 'withdrawn' : 'active',
    statement: item.definition,
  });
}
