import type { StatementPart } from '../../src/catalog/controls/schema.ts';

/** One control, requirement or IA control as one source states it. What the source does not state is empty or null. */
export interface ControlRecord {
  /** The published form: `AC-2`, `AC-2(1)`, `3.1.1`, `03.01.01`, `ECCT-1`. */
  identifier: string;
  title: string;
  /** Full name of the family, or the subject area of DoD 8500.2. */
  family: string;
  /** Two-letter code (`AC`, `EC`), or the family number of 800-171 (`3.1`, `03.01`). */
  familyCode: string;
  status: 'active' | 'withdrawn';
  /** Identifiers of the controls that a withdrawn one went into, each once, in published form. */
  withdrawnInto: string[];
  /** Plain text (D6.4). */
  statement: string;
  statementParts: StatementPart[];
  guidance: string;
  /** The older release that statement and guidance are from, where they are: `Rev 5.1.1 (2022-01-25)` (rule F5.2). */
  textFrom?: string;
  /** Identifiers of related controls. */
  related: string[];
  /** 800-53: low, moderate, high, privacy, in that order; null where the source says nothing of baselines. */
  baselines: string[] | null;
  /** 800-171 Rev 2. */
  requirementType: 'basic' | 'derived' | null;
  /** DoD 8500.2: `MAC I`, `MAC II`, `MAC III`; null where the source says nothing of them. */
  macLevels: string[] | null;
  /** DoD 8500.2: `CLASSIFIED`, `SENSITIVE`, `PUBLIC`; null where the source says nothing of them. */
  confidentialityLevels: string[] | null;
  /** DoD 8500.2. */
  impactCode: 'Low' | 'Medium' | 'High' | null;
  threat: string;
  resources: string;
}

/** One revision of a framework as one source states it, controls in catalog order. */
export interface CatalogRecord {
  type: 'catalog';
  framework: string;
  /** The label of the API: `Rev 5.1.1`, `Rev 4`, `Rev 2`, `Rev 3`, `DoDI 8500.2 (2003)`. */
  version: string;
  /** Orders editions of one version from one kind of source: a date or the publisher's own version text. */
  edition: string;
  controls: ControlRecord[];
}

/** The members of one baseline, as an OSCAL profile lists them. */
export interface BaselineRecord {
  type: 'baseline';
  framework: 'nist-800-53';
  /** The label of the revision; `""` where the profile names none, and fits every one. */
  version: string;
  edition: string;
  /** `low`, `moderate`, `high`, `privacy`, or made of the title (rule D31). */
  baseline: string;
  title: string;
  identifiers: string[];
}

/** One published pair: two controls of two frameworks, each with the version it is stated for. */
export interface MappingPair {
  fromIdentifier: string;
  toFramework: string;
  /** The label of the API, such as `Rev 4`; `""` where the source names none. */
  toVersion: string;
  toIdentifier: string;
  /** The place in the source: an index such as `AC-2 (3) (d)`, or `row 12`. */
  reference: string;
  /** The row, where the source is a CSV. */
  row?: number;
}

/** The pairs of one source, all from one version of one framework. */
export interface MappingRecord {
  type: 'mapping';
  fromFramework: string;
  fromVersion: string;
  edition: string;
  pairs: MappingPair[];
}

/** One CCI with its references as published. */
export interface CciItem {
  /** `CCI-000366`. */
  identifier: string;
  status: string;
  /** `policy`, `technical`, or both joined by `, `. */
  type: string;
  definition: string;
  references: { version: string; title: string; index: string }[];
}

/** One edition of DISA's list of control correlation identifiers. */
export interface CciListRecord {
  type: 'cci-list';
  /** The list's own version, a date: `2022-03-09`. */
  edition: string;
  items: CciItem[];
  /** What the references of the items say of 800-53, in the order of the items. */
  pairs: MappingPair[];
}

/** What one source about controls gives: some give a catalog and its mapping together. */
export type ControlsRecord = CatalogRecord | BaselineRecord | MappingRecord | CciListRecord;
