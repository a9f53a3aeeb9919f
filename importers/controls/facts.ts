import type { Database } from '../../src/db/database.ts';
import { controlsOfIndex } from '../crosswalk/cci-index.ts';
import { controlRecord } from './catalog.ts';
import type { CciListRecord, ControlRecord, ControlsRecord } from './record.ts';

/** Stores what one source states; gives what the ledger says of it. */
export type StageControls = (
  sourceId: number,
  records: ControlsRecord[],
) => { target: string; counts: Record<string, number> };

/** Prepares the statements that store facts inside the run's transaction. */
export function createStageControls(db: Database): StageControls {
  const control = db.sqlite.prepare('INSERT INTO control_facts VALUES (?, ?, ?, ?, ?, ?)');
  const baseline = db.sqlite.prepare('INSERT INTO baseline_facts VALUES (?, ?, ?, ?, ?, ?)');
  const mapping = db.sqlite.prepare('INSERT INTO mapping_facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');

  return (sourceId, records) => {
    const counts: Record<string, number> = {};
    const count = (name: string, by: number) => {
      counts[name] = (counts[name] ?? 0) + by;
    };
    const targets: string[] = [];
    let ordinal = 0;
    for (const record of records) {
      switch (record.type) {
        case 'catalog':
          for (const each of record.controls) {
            control.run(
              sourceId,
              record.framework,
              record.version,
              record.edition,
              each.identifier,
              JSON.stringify(each),
            );
          }
          count('controls', record.controls.length);
          targets.push(`${record.framework} ${record.version}`);
          break;
        case 'baseline':
          for (const identifier of record.identifiers) {
            baseline.run(
              sourceId,
              record.framework,
              record.version,
              record.edition,
              record.baseline,
              identifier,
            );
          }
          count(record.baseline, record.identifiers.length);
          targets.push(`${record.framework} ${record.version}`);
          break;
        case 'mapping':
          for (const pair of record.pairs) {
            mapping.run(
              sourceId,
              ++ordinal,
              record.edition,
              record.fromFramework,
              record.fromVersion,
              pair.fromIdentifier,
              pair.toFramework,
              pair.toVersion,
              pair.toIdentifier,
              pair.reference,
            );
          }
          count('pairs', record.pairs.length);
          targets.push(`${record.fromFramework} ${record.fromVersion}`);
          break;
        case 'cci-list':
          for (const item of record.items) {
            control.run(
              sourceId,
              'cci',
              record.edition,
              record.edition,
              item.identifier,
              JSON.stringify(toControl(item)),
            );
          }
          count('ccis', record.items.length);
          for (const pair of cciPairs(record)) {
            mapping.run(
              sourceId,
              ++ordinal,
              record.edition,
              'cci',
              record.edition,
              pair.cci,
              'nist-800-53',
              pair.version,
              pair.control,
              pair.index,
            );
            count('pairs', 1);
          }
          targets.push(`cci ${record.edition}`);
          break;
      }
    }
    return { target: [...new Set(targets)].join(', '), counts };
  };
}

/** A CCI as a control of the framework `cci`: deprecated ones are withdrawn, the definition is the statement. */
function toControl(item: CciListRecord['items'][number]): ControlRecord {
  return controlRecord('cci', {
    identifier: item.identifier,
    family: item.type,
    familyCode: item.status,
    status: item.status === 'deprecated' ? 'withdrawn' : 'active',
    statement: item.definition,
  });
}

/** The references of a list to controls of 800-53, one for each control; version 1 is 800-53A and left out (FORMATS 4.1). */
function* cciPairs(record: CciListRecord) {
  for (const item of record.items) {
    for (const reference of item.references) {
      if (!/^[3-9]$/.test(reference.version)) continue;
      for (const control of controlsOfIndex(reference.index)) {
        yield { cci: item.identifier, version: `Rev ${reference.version}`, control, index: reference.index };
      }
    }
  }
}
