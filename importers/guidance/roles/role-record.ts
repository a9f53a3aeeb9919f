import type { RoleDetails } from '../../../src/catalog/guidance/role-schema.ts';

/** A product that people of an occupation work with; the commodity is its UNSPSC class. */
export type TechnologySkill = RoleDetails['technologySkills'][number] & { commodityCode: string };

/** One occupation as an O*NET release states it. */
export interface OccupationRecord extends Omit<RoleDetails, 'technologySkills'> {
  /** `15-1244.00`. */
  occupationCode: string;
  title: string;
  jobZone: number | null;
  technologySkills: TechnologySkill[];
}

/** What an occupation has several of. */
export const occupationLists = [
  'tasks',
  'technologySkills',
  'skills',
  'abilities',
  'workActivities',
  'education',
] as const;

/** One release of O*NET. */
export interface OnetRecord {
  type: 'onet';
  /** `O*NET 29.2`, or `O*NET` where the source does not say. */
  label: string;
  releaseOrder: string;
  occupations: OccupationRecord[];
}

/** One work role of the NICE Framework. */
export interface WorkRole {
  workRoleId: string;
  name: string;
  categoryCode: string;
  categoryName: string;
}

/** One release of the NICE Framework. */
export interface NiceRecord {
  type: 'nice';
  label: string;
  releaseOrder: string;
  categories: number;
  workRoles: WorkRole[];
}

/** One row of a file of curated mappings; a score of 0 says that there is no such mapping. */
export interface CuratedMapping {
  stigSlug: string;
  occupationCode: string;
  confidenceScore: number;
  responsibilityLevel: ResponsibilityLevel;
  workRoleId: string | null;
  reason: string;
  row: number;
}

export const responsibilityLevels = ['Primary', 'Supporting', 'Related'] as const;
export type ResponsibilityLevel = (typeof responsibilityLevels)[number];

export interface CuratedRecord {
  type: 'role-mapping';
  rows: CuratedMapping[];
}

/** What a source about roles gives. */
export type RolesRecord = OnetRecord | NiceRecord | CuratedRecord;
