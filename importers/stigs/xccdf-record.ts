import type { findings, stigProfiles, stigReleases } from '../../src/db/tables.ts';

/** One rule with its group, texts trimmed, each CCI once (`CCI-000366`). */
export type XccdfFinding = Omit<typeof findings.$inferSelect, 'id' | 'releaseId' | 'ordinal'>;

/** A profile with the ids of groups that it does not select. */
export type XccdfProfile = Omit<typeof stigProfiles.$inferSelect, 'releaseId' | 'ordinal'>;

type XccdfHead = Pick<
  typeof stigReleases.$inferSelect,
  | 'benchmarkId'
  | 'title'
  | 'description'
  | 'version'
  | 'releaseInfo'
  | 'status'
  | 'statusDate'
  | 'benchmarkDate'
>;

/** One release of a DISA manual benchmark, as its file states it. */
export interface XccdfRelease extends XccdfHead {
  profiles: XccdfProfile[];
  findings: XccdfFinding[];
}
