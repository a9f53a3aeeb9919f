import { z } from '@hono/zod-openapi';
import {
  counts,
  DateOrNull,
  named,
  Pagination,
  paging,
  requestText,
  search,
  texts,
} from '../../http/schema.ts';

const facts = {
  occupationCode: z.string().openapi({ example: '15-1244.00' }),
  title: z.string().openapi({ example: 'Network and Computer Systems Administrators' }),
  occupationFamily: z.string().openapi({ example: 'Computer and Mathematical' }),
  jobZone: z
    .int()
    .nullable()
    .openapi({ description: 'null when O*NET gives this occupation no job zone.', example: 4 }),
  ...counts('taskCount', 'technologySkillCount'),
};

const summary = { ...facts, stigMappingCount: z.int() };

export type RoleFacts = z.infer<z.ZodObject<typeof facts>>;

export const RoleSummary = named('RoleSummary', summary);

export const Task = named('Task', {
  ...texts('taskId', 'statement'),
  taskType: z.string().nullable().openapi({ example: 'Core' }),
});

export const TechnologySkill = named('TechnologySkill', {
  title: z.string().openapi({ example: 'Operating system software' }),
  example: z.string().openapi({ example: 'Linux' }),
  hotTechnology: z.boolean(),
  inDemand: z.boolean(),
});

const ElementRating = named('ElementRating', {
  ...texts('elementId', 'name', 'scaleId'),
  value: z.number(),
});

const EducationLevel = named('EducationLevel', {
  ...texts('elementId', 'name', 'scaleId', 'category', 'categoryDescription'),
  value: z.number().describe('Percent.'),
});

const score = z.number().min(0).max(1).openapi({ example: 0.95 });
const level = z.string().openapi({ example: 'Primary' });
const source = z
  .enum(['class', 'curated'])
  .describe('`class`: from the class of product of the STIG. `curated`: from an imported table.');

export const StigMapping = named('StigMapping', {
  ...texts('stigSlug', 'stigTitle', 'stigVersion'),
  releaseDate: DateOrNull,
  confidenceScore: score,
  relevanceRank: z.int(),
  roleResponsibilityLevel: level,
  mappingSource: source,
  mappingReason: z.string(),
});
export type StigMapping = z.infer<typeof StigMapping>;

/** The part of the full record that the catalog stores as JSON. */
const details = {
  description: z.string(),
  jobZoneName: z.string().nullable(),
  tasks: z.array(Task),
  technologySkills: z.array(TechnologySkill),
  skills: z.array(ElementRating),
  abilities: z.array(ElementRating),
  workActivities: z.array(ElementRating),
  education: z.array(EducationLevel),
};

export type RoleDetails = z.infer<z.ZodObject<typeof details>>;

export const Role = named('Role', { ...summary, ...details, stigMappings: z.array(StigMapping) });
export type Role = z.infer<typeof Role>;

export const Roles = named('Roles', { roles: z.array(RoleSummary), pagination: Pagination });
export type Roles = z.infer<typeof Roles>;

const { tasks, technologySkills } = details;
export const RoleFile = named('RoleFile', {
  ...texts('occupationCode', 'title'),
  tasks,
  technologySkills,
  stigMappings: z.array(StigMapping),
});

export const codeParam = z.object({ code: requestText('code', 1000).openapi({ example: '15-1244.00' }) });

export const rolesQuery = z.object({
  search,
  family: requestText('family', 200).optional().describe('The whole name. Case is ignored.'),
  ...paging(100, 150),
});
export type RolesQuery = z.infer<typeof rolesQuery>;

export const RoleMappingRow = named('RoleMappingRow', {
  id: z.int(),
  ...texts('occupationCode', 'occupationTitle'),
  jobZone: z.int().nullable(),
  confidenceScore: score,
  roleResponsibilityLevel: level,
  mappingSource: source,
  mappingReason: z.string(),
  niceWorkRoleId: z.string().optional().openapi({ example: 'IO-WRL-005' }),
  niceWorkRoleName: z.string().optional(),
  niceCategoryCode: z.string().optional(),
  niceCategoryName: z.string().optional(),
});
export type RoleMappingRow = z.infer<typeof RoleMappingRow>;

export const RoleMapping = named('RoleMapping', {
  gated: z.boolean(),
  federal: z.boolean(),
  mappings: z.array(RoleMappingRow),
});

/** A number of a STIG or a slug; anything else is a 400, also for who would get the gated answer (rule D9.4). */
export const benchmarkParam = z.object({
  benchmarkId: z
    .string()
    .regex(/^(?:\d+|[A-Za-z0-9._-]{1,200})$/, {
      error: 'benchmarkId must be a number, a slug or a benchmark id',
    })
    .openapi({ example: 'harbor_linux_3' }),
});
