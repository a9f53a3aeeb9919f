import { AppError } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { offsetOf, type Page, paginationOf } from '../../http/paging.ts';
import { canonicalIdentifier } from '../controls/identifier.ts';
import { createFindControl } from '../controls/keys.ts';
import type { ControlRules, StigRules } from './control-rules-schema.ts';
import type { MappingStatus } from './graph.ts';
import {
  type Answered,
  type CrosswalkService,
  closureDepth,
  defaultStatuses,
  type Question,
} from './queries.ts';
import type { Path } from './schema.ts';

/** Which rules are asked for: a control by identifier in any spelling or by id, and what narrows its rules. */
export interface ControlRulesQuery extends Page {
  framework: string;
  controlId: string;
  severity?: Set<string> | undefined;
  /** The slug of a STIG. */
  stig?: string | undefined;
  status?: Set<MappingStatus> | undefined;
  maxHops?: number | undefined;
}

interface Row {
  slug: string;
  stigTitle: string;
  version: string;
  ruleCount: number;
  groupId: string;
  ruleId: string;
  ruleVersion: string;
  ruleTitle: string;
  severity: 'high' | 'medium' | 'low';
  ccis: string;
}

const reached = `
  FROM findings AS f
  JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id
 WHERE f.id IN (SELECT finding_id FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(:ccis)))
   AND (:severities IS NULL OR f.severity IN (SELECT value FROM json_each(:severities)))
   AND (:slug IS NULL OR s.slug = :slug)`;

export type ControlRulesService = ReturnType<typeof createControlRulesService>;

/** The rules of current releases that a control reaches through the CCIs that they cite. */
export function createControlRulesService(db: Database, crosswalk: CrosswalkService) {
  const { sqlite } = db;
  const findControl = createFindControl(db);
  const isCited = sqlite.prepare<[string]>('SELECT 1 FROM rule_ccis WHERE cci = ? LIMIT 1');
  const isStig = sqlite.prepare<[string]>(
    'SELECT 1 FROM stigs WHERE slug = ? AND current_release_id IS NOT NULL',
  );
  const count = sqlite.prepare<[Record<string, unknown>], number>(`SELECT count(*) ${reached}`).pluck();
  const page = sqlite.prepare<[Record<string, unknown>], Row>(
    `SELECT s.slug, s.title AS stigTitle, r.version, count(*) OVER (PARTITION BY s.id) AS ruleCount,
            f.group_id AS groupId, f.rule_id AS ruleId, f.rule_version AS ruleVersion,
            f.rule_title AS ruleTitle, f.severity, f.ccis
       ${reached}
      ORDER BY s.title_fold, s.title, s.slug, f.ordinal LIMIT :limit OFFSET :offset`,
  );

  /**
   * The control that is asked for, as it is published: one that GET /controls answers, or a CCI of the newest list or
   * of a rule, or a node of a site's own framework. Throws NOT_FOUND.
   */
  function find(framework: string, controlId: string) {
    const known = findControl(framework, controlId);
    if (known?.inCatalog) return { framework, identifier: known.identifier, title: known.title };
    const identifier = canonicalIdentifier(framework, controlId);
    const isNode =
      identifier !== null &&
      (crosswalk.graph().idOf(framework, identifier) !== undefined ||
        (framework === 'cci' && isCited.get(identifier) !== undefined));
    if (!isNode) throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}`);
    return { framework, identifier, title: '' };
  }

  /**
   * What a question reaches with as few hops as it takes: those beyond are of neighbors that share a control. A control of
   * nist-800-53 has CCIs of its own or none.
   */
  function nearest(question: Omit<Question, 'maxHops'>): Pick<Answered, 'paths' | 'truncated'> {
    const farthest = question.framework === 'nist-800-53' ? 1 : closureDepth;
    let found: Pick<Answered, 'paths' | 'truncated'> = { paths: [], truncated: false };
    for (let maxHops = 1; maxHops <= farthest && found.paths.length === 0; maxHops++)
      found = crosswalk.resolve({ ...question, maxHops });
    return found;
  }

  /** The paths from a control to each CCI that it reaches, the shortest alone; a CCI stands for itself. */
  function pathsToCcis(
    control: { framework: string; identifier: string },
    { status, maxHops }: ControlRulesQuery,
  ): { paths: Map<string, Path[]>; truncated: boolean } {
    const { framework, identifier } = control;
    if (framework === 'cci') {
      const itself: Path = { hops: 0, controls: [{ framework, identifier, status: 'auto' }] };
      return { paths: new Map([[identifier, [itself]]]), truncated: false };
    }
    const question = { framework, identifier, to: 'cci', statuses: status ?? defaultStatuses };
    const found = maxHops === undefined ? nearest(question) : crosswalk.resolve({ ...question, maxHops });
    const paths = new Map<string, Path[]>();
    for (const path of found.paths) {
      const cci = path.controls.at(-1)!.identifier;
      const known = paths.get(cci);
      if (!known) paths.set(cci, [path]);
      else if (known[0]!.hops === path.hops) known.push(path);
    }
    return { paths, truncated: found.truncated };
  }

  return {
    /**
     * The rules that a control reaches, by STIG (title, then slug) and document order, each once with its shortest
     * paths; pages count rules. The nearest CCIs are taken unless `maxHops` asks for more. Throws NOT_FOUND for an
     * unknown control, and for an unknown STIG, which would read as one that does not cover it (rule D34.1).
     */
    rules(query: ControlRulesQuery): ControlRules {
      return db.read(() => {
        const control = find(query.framework, query.controlId);
        if (query.stig !== undefined && !isStig.get(query.stig))
          throw new AppError('NOT_FOUND', `STIG not found: ${cut(query.stig)}`);
        const { paths, truncated } = pathsToCcis(control, query);
        const asked = {
          ccis: JSON.stringify([...paths.keys()]),
          severities: query.severity === undefined ? null : JSON.stringify([...query.severity]),
          slug: query.stig ?? null,
        };
        const total = count.get(asked)!;
        const rows = page.all({ ...asked, limit: query.limit, offset: offsetOf(query, total) });
        return {
          control,
          stigs: byStig(rows, paths),
          pagination: paginationOf(query, total),
          ...(truncated ? { truncated: true as const } : {}),
        };
      });
    },
  };
}

function byStig(rows: Row[], paths: Map<string, Path[]>): StigRules[] {
  const stigs = new Map<string, StigRules>();
  for (const { slug, stigTitle: title, version, ruleCount, ccis, ...rule } of rows) {
    const stig = stigs.get(slug) ?? { slug, title, version, ruleCount, rules: [] };
    stigs.set(slug, stig);
    const ruleIdents = JSON.parse(ccis) as string[];
    const all = ruleIdents.flatMap((cci) => paths.get(cci) ?? []);
    const hops = Math.min(...all.map((path) => path.hops));
    stig.rules.push({ ...rule, ruleIdents, hops, paths: all.filter((path) => path.hops === hops) });
  }
  return [...stigs.values()];
}
