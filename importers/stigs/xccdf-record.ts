import type { Description } from './xccdf-description.ts';

/** One rule with its group, texts trimmed, each CCI once (`CCI-000366`). */
export interface XccdfFinding extends Description {
  groupId: string;
  groupTitle: string;
  groupDescription: string;
  ruleId: string;
  ruleVersion: string;
  severity: 'high' | 'medium' | 'low';
  weight: string;
  ruleTitle: string;
  ccis: string[];
  legacyIds: string[];
  fixId: string;
  fixText: string;
  checkSystem: string;
  checkRefHref: string | null;
  checkRefName: string | null;
  checkContent: string;
  referenceIdentifier: string | null;
}

/** A profile with the ids of groups that it does not select. */
export interface XccdfProfile {
  profileId: string;
  title: string;
  description: string;
  unselected: string[];
}

/** One release of a DISA manual benchmark, as its file states it. */
export interface XccdfRelease {
  benchmarkId: string;
  title: string;
  description: string;
  version: string;
  releaseInfo: string;
  status: string;
  statusDate: string | null;
  benchmarkDate: string | null;
  profiles: XccdfProfile[];
  findings: XccdfFinding[];
}

/** A rule of SCAP content: whether a machine tests it (rule D38.1). */
export interface ScapRule {
  ruleId: string;
  /** Empty for a rule outside a group. */
  groupId: string;
  automated: boolean;
}

/** SCAP content: one benchmark of a data stream (rule D38.1). */
export interface ScapContent {
  benchmarkId: string;
  name: string;
  /** Who made the content: `NIWC`, or as the benchmark states it; empty where nothing says so. */
  publisher: string;
  /** As the benchmark states it: `002.008.12`. */
  version: string;
  date: string | null;
  /** As the data stream states it; empty where it does not. */
  scapVersion: string;
  rules: ScapRule[];
}

/** The content of a manual benchmark: one release of a STIG. */
export interface StigContent {
  type: 'stig';
  release: XccdfRelease;
}

/** The content of a SCAP data stream. */
export interface ScapContents {
  type: 'scap';
  contents: ScapContent[];
}
