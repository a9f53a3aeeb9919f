/** A task of an occupation. */
export interface Task {
  taskId: string;
  statement: string;
  /** `Core`, `Supplemental`, or null where O*NET says neither. */
  taskType: string | null;
}

/** A product that people of an occupation work with; the commodity is its UNSPSC class. */
export interface TechnologySkill {
  title: string;
  example: string;
  commodityCode: string;
  hotTechnology: boolean;
  inDemand: boolean;
}

/** The rating of one element of the content model on one scale: a skill, an ability or a work activity. */
export interface ElementRating {
  elementId: string;
  name: string;
  scaleId: string;
  value: number;
}

/** How many percent need one level of education. */
export interface EducationLevel {
  elementId: string;
  name: string;
  scaleId: string;
  category: string;
  categoryDescription: string;
  value: number;
}

/** One occupation as an O*NET release states it. */
export interface OccupationRecord {
  /** `15-1244.00`. */
  occupationCode: string;
  title: string;
  description: string;
  jobZone: number | null;
  jobZoneName: string | null;
  tasks: Task[];
  technologySkills: TechnologySkill[];
  skills: ElementRating[];
  abilities: ElementRating[];
  workActivities: ElementRating[];
  education: EducationLevel[];
}

/** One release of O*NET. */
export interface OnetRecord {
  type: 'onet';
  /** `O*NET 29.2`, or `O*NET` where the source does not say. */
  label: string;
  newness: string;
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
  newness: string;
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
