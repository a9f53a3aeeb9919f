import type { StoredAssessment } from '../../src/catalog/controls/assessment-record.ts';
import type { StatementPart } from '../../src/catalog/controls/schema.ts';

/** A framework and version as a document names them; `""` where it does not. */
export interface NamedCatalog {
  framework: string;
  version: string;
  /** The names of its files, without their endings. */
  files?: string[];
}

/** One control, requirement or IA control as one source states it; other fields are empty or null. */
export interface ControlRecord extends Partial<StoredAssessment> {
  identifier: string;
  /** The id in the OSCAL file, where it does not follow from the identifier: profiles and mappings name it. */
  oscalId?: string | undefined;
  /** The control above it, where the identifiers do not say so; `""` where they wrongly do. */
  parent?: string | undefined;
  title: string;
  family: string;
  /** Two-letter code (`AC`, `EC`), or the family number of 800-171 (`3.1`, `03.01`). */
  familyCode: string;
  status: 'active' | 'withdrawn';
  withdrawnInto: string[];
  /** Plain text (D6.4). */
  statement: string;
  statementParts: StatementPart[];
  guidance: string;
  /** The older release that the statement and guidance come from: `Rev 5.1.1 (2022-01-25)` (rule F5.2). */
  textFrom?: string | undefined;
  related: string[];
  /** 800-53: low, moderate, high, privacy, in that order; null if the source does not state baselines. */
  baselines: string[] | null;
  /** 800-171 Rev 2. */
  requirementType: 'basic' | 'derived' | null;
  /** DoD 8500.2: `MAC I`, `MAC II`, `MAC III`; null if the source does not state them. */
  macLevels: string[] | null;
  /** DoD 8500.2: `CLASSIFIED`, `SENSITIVE`, `PUBLIC`; null if the source does not state them. */
  confidentialityLevels: string[] | null;
  /** DoD 8500.2. */
  impactCode: 'Low' | 'Medium' | 'High' | null;
  threat: string;
  resources: string;
}

/**
 * One revision of a framework as one source states it, controls in catalog order. DISA's list of CCIs is the framework
 * `cci`: its types are families, its statuses family codes, and its definitions statements.
 */
export interface CatalogRecord {
  type: 'catalog';
  framework: string;
  /** The label of the API: `Rev 5.1.1`, `Rev 4`, `Rev 2`, `Rev 3`, `DoDI 8500.2 (2003)`. */
  version: string;
  /** Orders the editions of a version within one kind of source: a date or the publisher's version text. */
  edition: string;
  /** The title of a framework of a site's own; none for the published ones, and where the source states none. */
  frameworkTitle?: string | undefined;
  controls: ControlRecord[];
}

/** The members of one baseline, as an OSCAL profile lists them. */
export interface BaselineRecord {
  type: 'baseline';
  /** `""` for a profile that does not name it. */
  framework: string;
  /** The label of the revision; `""` for a profile that fits every revision. */
  version: string;
  edition: string;
  /** `low`, `moderate`, `high`, `privacy`, or a name made from the title (rule D31). */
  baseline: string;
  title: string;
  /** Of 800-53 as published, of any other framework the ids of the profile. */
  identifiers: string[];
  /** The parameters that the profile sets or constrains (rule D37.1). */
  values?: ParameterValue[];
}

/** Controls that a profile selects by ids and patterns (`*`, `?`), and whether those below them come along. */
export interface ProfileSelection {
  ids: string[];
  patterns: string[];
  children: boolean;
}

/** What a profile takes from one catalog or profile. */
export interface ProfileImport extends NamedCatalog {
  /** How the profile names the document: titles and addresses. */
  names: string[];
  isAll: boolean;
  include: ProfileSelection[];
  exclude: ProfileSelection[];
}

/** What a profile states of a parameter. */
export interface ParameterSetting {
  parameter: string;
  values: string[];
  choices: string[];
  label: string;
  constraints: string[];
}

/** A profile that other documents resolve (rule D31). Its `framework` is `""` but for the baselines of NIST. */
export interface ProfileRecord extends Omit<BaselineRecord, 'type' | 'identifiers' | 'values'> {
  type: 'profile';
  imports: ProfileImport[];
  settings: ParameterSetting[];
}

/** A value that a profile gives a parameter, or its constraints. */
export interface ParameterValue {
  parameter: string;
  value: string;
}

/** One published pair of controls from two frameworks. */
export interface MappingPair {
  fromFramework: string;
  fromVersion: string;
  fromIdentifier: string;
  toFramework: string;
  /** The label in the API, such as `Rev 4`; `""` if the source does not state a version. */
  toVersion: string;
  toIdentifier: string;
  /** The place in the source: an index such as `AC-2 (3) (d)`, or `row 12`. */
  reference: string;
  row?: number;
  /** Of OSCAL, from the left to the right: `subset-of`. */
  relationship?: string;
  /** An operator of another site confirmed the pair. */
  isVerified?: boolean;
  /** The ends are the names and ids of an OSCAL document: the import finds the controls. */
  isOscal?: boolean;
  /** The mapping of a collection with several, as each names its own catalogs. */
  mapping?: number | undefined;
  /** The names of the files of both catalogs, where nothing else names them. */
  files?: string[][] | undefined;
}

/** The pairs of one source. */
interface MappingRecord {
  type: 'mapping';
  edition: string;
  pairs: MappingPair[];
}

/** What a source of mappings may state: one answer exports all pairs of two frameworks. */
export const mostPairs = 50_000;

/** Records of a source about controls: a source may give a catalog and a mapping. */
export type ControlsRecord = CatalogRecord | BaselineRecord | ProfileRecord | MappingRecord;
