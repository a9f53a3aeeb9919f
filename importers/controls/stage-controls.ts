import { frameworks } from '../../src/catalog/controls/frameworks.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import type { StagedFacts } from '../read/parsed.ts';
import { firstOf } from '../read/source-text.ts';
import type { BaselineRecord, CatalogRecord, ControlsRecord, MappingPair } from './control-record.ts';

/** Stores the records of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageControls(db: Database, sourceId: number, records: ControlsRecord[]): StagedFacts {
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
  const count = (name: string, more: number) => {
    counts[name] = (counts[name] ?? 0) + more;
  };

  function storeCatalog({
    framework,
    version,
    edition,
    frameworkTitle: title,
    controls,
  }: CatalogRecord): void {
    for (const control of controls) {
      const record = JSON.stringify(control);
      insertControl({ sourceId, framework, version, edition, identifier: control.identifier, record });
    }
    if (title !== undefined) insertTitle({ sourceId, framework, version, edition, title });
    count(framework === 'cci' ? 'ccis' : 'controls', controls.length);
    if (framework === 'cci') count('pairs', 0);
    targets.add(`${framework} ${version}`);
  }

  function storeBaseline({ identifiers, values = [], ...record }: BaselineRecord): void {
    const { framework, version, edition, baseline, title } = record;
    for (const identifier of identifiers)
      insertBaseline({ sourceId, framework, version, edition, baseline, title, identifier });
    for (const each of values) insertValue({ sourceId, baseline, ...each });
    counts[baseline] = identifiers.length;
    targets.add(`${framework} ${version}`.trim());
  }

  function storePair(edition: string, pair: MappingPair): void {
    const { relationship = '', isVerified = false, isOscal = false, mapping, files, ...ends } = pair;
    ordinal++;
    insertMapping({ sourceId, ordinal, edition, row: null, ...ends });
    targets.add(`${pair.fromFramework} ${pair.fromVersion}`.trim());
    if (relationship === '' && !isVerified && !isOscal) return;
    const stated = [
      ...[pair.fromFramework, pair.fromVersion, pair.fromIdentifier],
      ...[pair.toFramework, pair.toVersion, pair.toIdentifier],
      ...(mapping === undefined && files === undefined ? [] : [{ mapping, files }]),
    ];
    insertDetails({
      sourceId,
      ordinal,
      relationship,
      isVerified: Number(isVerified),
      stated: isOscal ? JSON.stringify(stated) : null,
    });
  }

  for (const record of records) {
    if (record.type === 'catalog') storeCatalog(record);
    else if (record.type === 'baseline') storeBaseline(record);
    else if (record.type === 'profile') {
      insertProfile({ sourceId, record: JSON.stringify(record) });
      counts.baselines = 1;
      targets.add(`${record.framework} ${record.version}`.trim());
    } else {
      // The pairs of one catalog together: their order is part of the digest.
      const byLeft = Map.groupBy(record.pairs, (pair) =>
        JSON.stringify([pair.fromFramework, pair.fromVersion]),
      );
      for (const pair of [...byLeft.values()].flat()) storePair(record.edition, pair);
      count('pairs', record.pairs.length);
    }
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
