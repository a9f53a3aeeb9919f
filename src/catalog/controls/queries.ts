import type { Database } from '../../db/database.ts';
import { createControlAssessments } from './assessment.ts';
import { createControlBaselines } from './baselines.ts';
import { createCciRecords } from './ccis.ts';
import { createControlLists } from './control-lists.ts';
import { createControlRecords } from './control-records.ts';
import { createExportedCatalog } from './exported-catalog.ts';
import { createControlVersions } from './versions.ts';

export type ControlService = ReturnType<typeof createControlService>;

/** The queries of the control catalogs (rule D6). */
export function createControlService(db: Database) {
  const versions = createControlVersions(db);
  const baselines = createControlBaselines(db, versions);
  const assessments = createControlAssessments(db);
  return {
    ...versions,
    ...baselines,
    ...assessments,
    ...createControlLists(db, versions, baselines),
    ...createControlRecords(db, versions, assessments),
    ...createCciRecords(db, versions),
    exported: createExportedCatalog(db, versions, baselines, assessments),
  };
}
