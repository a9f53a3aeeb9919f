/** One rule with its group, texts trimmed, each CCI once (`CCI-000366`). */
export interface XccdfFinding {
  groupId: string;
  ruleId: string;
  ruleVersion: string;
  severity: 'high' | 'medium' | 'low';
  weight: string;
  ccis: string[];
  legacyIds: string[];
  groupTitle: string;
  groupDescription: string;
  ruleTitle: string;
  fixId: string;
  checkSystem: string;
  checkRefHref: string | null;
  checkRefName: string | null;
  referenceIdentifier: string | null;
  documentable: string;
  responsibility: string;
  iaControls: string;
  falsePositives: string;
  falseNegatives: string;
  mitigations: string;
  severityOverrideGuidance: string;
  potentialImpacts: string;
  thirdPartyTools: string;
  mitigationControl: string;
  vulnDiscussion: string;
  checkContent: string;
  fixText: string;
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
