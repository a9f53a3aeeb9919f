/** One rule of a benchmark with the group that holds it, texts trimmed. */
export interface XccdfFinding {
  groupId: string;
  groupTitle: string;
  groupDescription: string;
  ruleId: string;
  ruleVersion: string;
  severity: 'high' | 'medium' | 'low';
  weight: string;
  ruleTitle: string;
  vulnDiscussion: string;
  falsePositives: string;
  falseNegatives: string;
  documentable: string;
  mitigations: string;
  severityOverrideGuidance: string;
  potentialImpacts: string;
  thirdPartyTools: string;
  mitigationControl: string;
  responsibility: string;
  iaControls: string;
  referenceIdentifier: string | null;
  /** CCI ids as `CCI-000366`, in document order, each once. */
  ccis: string[];
  legacyIds: string[];
  fixText: string;
  fixId: string;
  checkSystem: string;
  checkContent: string;
  checkRefHref: string | null;
  checkRefName: string | null;
}

export interface XccdfProfile {
  profileId: string;
  title: string;
  description: string;
  /** Ids of the groups that the profile does not select. */
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
