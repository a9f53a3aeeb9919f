import { z } from '@hono/zod-openapi';
import { pick } from '../../base/objects.ts';
import { Severity } from './schema.ts';

export const RuleIdentity = z
  .strictObject({ groupId: z.string(), ruleId: z.string(), ruleVersion: z.string() })
  .openapi('RuleIdentity');
export type RuleIdentity = z.infer<typeof RuleIdentity>;

/** What every answer about a rule begins with: its identifiers, title and severity. */
export const RuleHead = z
  .strictObject({ ...RuleIdentity.shape, ruleTitle: z.string(), severity: Severity })
  .openapi('RuleHeading');
export type RuleHead = z.infer<typeof RuleHead>;

/** What a rule begins with, without what else is known of it. */
export const headOf = (rule: RuleHead): RuleHead =>
  pick(rule, 'groupId', 'ruleId', 'ruleVersion', 'ruleTitle', 'severity');

/** The columns of a `RuleHead` in a query of `findings AS f`. */
export const ruleHeadColumns =
  'f.group_id AS groupId, f.rule_id AS ruleId, f.rule_version AS ruleVersion, f.rule_title AS ruleTitle, f.severity';
