import { compareCodePoints } from '../../../src/base/text.ts';
import { classOf, officeCommodities, type TechnologyClass } from './classes.ts';
import { findProducts, foldTitle, type Product, type ProductMatch, type Usage } from './products.ts';
import type { OccupationRecord, ResponsibilityLevel } from './role-record.ts';
import { isSecurityRole, workRolesOf } from './work-roles.ts';

/** The version of this rule and its tables, stored with its rows (rule F9.3). */
export const ruleVersion = '3';

/** One occupation that has to act on a STIG. */
export interface ScoredMapping {
  occupationCode: string;
  jobZone: number | null;
  /** 0.50 to 1.00, two decimals. */
  confidenceScore: number;
  responsibilityLevel: ResponsibilityLevel;
  mappingReason: string;
  workRoleId: string | null;
}

interface ScorePart {
  /** In thousandths: sums of integers are exact. */
  points: number;
  reason: string;
}

const weights = { product: 450, family: 360, class: 225, hot: 150, demand: 100, prior: 200, fit: 100 };
const threshold = 500;

/** An occupation that may act on STIGs. */
export interface Candidate {
  occupationCode: string;
  jobZone: number | null;
  /** By commodity code, the title of its first technology skill. */
  commodities: Record<string, string>;
}

/** What the rule reads of an O*NET release. */
export interface MappingSource {
  candidates: Candidate[];
  productOf(name: string): Product | undefined;
}

/** Whether an occupation may act on STIGs: using a product is not running it. */
export function isCandidate(occupationCode: string): boolean {
  return priorOf(occupationCode) > 0;
}

/** An occupation with the fields that the rule reads. */
export function candidateOf({ occupationCode, jobZone, technologySkills }: OccupationRecord): Candidate {
  const commodities: Record<string, string> = {};
  for (const { commodityCode, title } of technologySkills) commodities[commodityCode] ??= title;
  return { occupationCode, jobZone, commodities };
}

/**
 * The occupations that act on the STIG with a title, by relevance (rule F9.3, version 3): those with `0.45 match + 0.15
 * hot + 0.10 demand + 0.20 prior + 0.10 fit` of 0.50 or more.
 */
export function scoreTitle(title: string, { candidates, productOf }: MappingSource): ScoredMapping[] {
  const folded = foldTitle(title);
  const matches = findProducts(folded, productOf);
  const technologyClass = classOf(folded, matches[0]?.commodityCode ?? null);
  return candidates.flatMap((each) => scoreOne(each, matches, technologyClass)).sort(byRelevance);
}

function scoreOne(
  candidate: Candidate,
  matches: ProductMatch[],
  technologyClass: TechnologyClass | null,
): ScoredMapping[] {
  const { occupationCode, jobZone } = candidate;
  const prior = priorOf(occupationCode);
  const roles = workRolesOf(occupationCode);
  const fitting = roles.find((role) => technologyClass?.workRoles.includes(role));
  const evidence = [
    ...matches.flatMap((match) => productEvidence(match, occupationCode, prior)),
    ...(technologyClass ? classEvidence(technologyClass, candidate) : []),
  ].sort((a, b) => b.points - a.points || compareCodePoints(a.reason, b.reason))[0];
  if (!evidence) return [];
  const points = evidence.points + prior * weights.prior + (fitting === undefined ? 0 : weights.fit);
  if (points < threshold) return [];
  const work = fitting === undefined ? '' : `; its NICE work role ${fitting} runs ${technologyClass!.name}`;
  return [
    {
      occupationCode,
      jobZone,
      confidenceScore: Math.round(points / 10) / 100,
      responsibilityLevel: levelOf(fitting, roles),
      mappingReason: `${evidence.reason}${work} (rule ${ruleVersion})`,
      workRoleId: roles[0] ?? null,
    },
  ];
}

/** By confidence, then by job zone, the highest first, then by code (rule F9.3). */
export function byRelevance(a: ScoredMapping, b: ScoredMapping): number {
  return (
    b.confidenceScore - a.confidenceScore ||
    (b.jobZone ?? 0) - (a.jobZone ?? 0) ||
    compareCodePoints(a.occupationCode, b.occupationCode)
  );
}

/** The probability that an occupation runs systems at all. */
function priorOf(occupationCode: string): number {
  if (/^15-12|^11-3021/.test(occupationCode)) return 1;
  return /^1[57]-/.test(occupationCode) ? 0.3 : 0;
}

function productEvidence(match: ProductMatch, occupationCode: string, prior: number): ScorePart[] {
  const usages = match.usages.filter((usage) => usage.occupationCode === occupationCode);
  return usages
    .filter((usage) => prior === 1 || !officeCommodities.has(usage.commodityCode))
    .map((usage) => ({
      points:
        weights[match.fit] + (usage.hotTechnology ? weights.hot : 0) + (usage.inDemand ? weights.demand : 0),
      reason: reasonOf(match, usage),
    }));
}

function reasonOf({ example, fit }: ProductMatch, { hotTechnology, inDemand }: Usage): string {
  const marks = [...(hotTechnology ? ['hot technology'] : []), ...(inDemand ? ['in demand'] : [])];
  const marked = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
  const matches = fit === 'product' ? 'matches the title' : 'is of the same family as the title';
  return `technology skill "${example}"${marked} ${matches}`;
}

/** Other products of the class; whether they are hot says nothing about this one. */
function classEvidence({ name, commodities }: TechnologyClass, candidate: Candidate): ScorePart[] {
  const title = commodities.map((code) => candidate.commodities[code]).find((each) => each !== undefined);
  if (title === undefined) return [];
  const reason = `technology skills of the kind "${title}" are of the class ${name}`;
  return [{ points: weights.class, reason }];
}

function levelOf(fitting: string | undefined, roles: string[]): ResponsibilityLevel {
  if (fitting !== undefined) return 'Primary';
  return roles.some(isSecurityRole) ? 'Supporting' : 'Related';
}
