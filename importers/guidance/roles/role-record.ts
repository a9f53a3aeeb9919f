import type { RoleDetails } from '../../../src/catalog/guidance/role-schema.ts';

/** A product that an occupation uses; the commodity is its UNSPSC class. */
export type TechnologySkill = RoleDetails['technologySkills'][number] & { commodityCode: string };

/** One occupation as an O*NET release states it. */
export interface OccupationRecord extends Omit<RoleDetails, 'technologySkills'> {
  occupationCode: string;
  title: string;
  jobZone: number | null;
  technologySkills: TechnologySkill[];
}

export function isOccupationCode(text: string): boolean {
  return /^\d{2}-\d{4}\.\d{2}$/.test(text);
}

/** The lists of an occupation. */
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
  /** `O*NET 29.2`, or `O*NET` without a release note. */
  label: string;
  releaseOrder: string;
  occupations: OccupationRecord[];
}

/** One work role of the NICE Framework. */
interface WorkRole {
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

/** One row of curated mappings; a score of 0 removes a mapping. */
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

interface CuratedRecord {
  type: 'role-mapping';
  rows: CuratedMapping[];
}

/** A record of a source about roles. */
export type RolesRecord = OnetRecord | NiceRecord | CuratedRecord;

/** The content of a source of roles. */
export interface RolesContent {
  type: 'roles';
  record: RolesRecord;
}
