import { pick } from '../base/objects.ts';
import { plainRuleId } from '../base/rule-ids.ts';
import { count } from '../base/text.ts';
import type { Cklb, CklbRule } from '../catalog/stigs/cklb-schema.ts';
import { toCklb } from '../catalog/stigs/cklb-writer.ts';
import type { IdentifiedRelease } from '../catalog/stigs/identify.ts';
import type { FindingRow } from '../catalog/stigs/queries.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { deviceName } from './device-name.ts';
import { longestText } from './fields.ts';
import { createRuleFinder } from './results-match.ts';
import { type MatchedResult, type Outcome, outcomeOf, testedRules } from './results-outcome.ts';
import type { RuleResult, ScanResults } from './results-reader.ts';
import type { ReportedRule, ResultsReport } from './results-schema.ts';
import type { ChecklistFormat } from './schema.ts';
import { equalStigs, shortList } from './stig-names.ts';
import { chooseStig, upgradeChecklist, withIds } from './upgrade.ts';

type Status = CklbRule['status'];

/** Makes a checklist of scan results, pure (rules D29.2 to D29.4). Answers in `old` win without `overwrite`. Throws 400. */
export function checklistFromResults(
  scan: ScanResults,
  release: IdentifiedRelease,
  {
    hostName,
    overwrite = false,
    banner,
    format = 'cklb',
  }: {
    hostName?: string | undefined;
    overwrite?: boolean | undefined;
    banner: string | null;
    format?: ChecklistFormat | undefined;
  },
  old: OldChecklist | null,
): { checklist: Cklb; report: ResultsReport } {
  const { target } = release;
  const host = hostName ?? scan.target.hostName;
  const fresh = toCklb(target, { hostName: host }, banner);
  const index = old === null ? 0 : chooseStig(old.checklist.stigs, fresh.stigs[0]!, release.names);
  const upgraded =
    old === null
      ? null
      : upgradeChecklist(old, target, release.names, {
          ...{ hostName, onChange: 'keep', format, allowOlder: true },
        });
  const before = upgraded?.checklist ?? fresh;
  const { found, unknown, renamed } = matchResults(scan.results, release);
  const tested = testedRules(release);

  const reported: ReportedRule[] = [];
  const rules = before.stigs[index]!.rules.map((rule) => {
    const outcome = outcomeOf(found.get(plainRuleId(rule.rule_id_src)) ?? [], scan.tool, tested);
    const isKept = isDecided(rule) && (!overwrite || outcome === null || outcome.status === 'not_reviewed');
    const status = isKept || outcome === null ? rule.status : outcome.status;
    const reasons = outcome?.reasons ?? [notThere(rule, renamed, release)];
    if (isKept && outcome !== null && outcome.status !== status)
      reasons.push('the answer in the checklist stands');
    const reason = status !== 'not_reviewed' && outcome === null ? null : reasons.join('; ') || null;
    reported.push({
      groupId: rule.group_id,
      ruleId: rule.rule_id_src,
      status,
      result: outcome?.result ?? null,
      reason,
      kept: isKept,
    });
    if (isKept || outcome === null) return rule;
    return { ...rule, status, ...textsOf(rule, outcome) };
  });

  const checklist = withIds(
    {
      ...before,
      target_data: targetData(before.target_data, host, scan),
      stigs: before.stigs.with(index, { ...before.stigs[index]!, rules }),
    },
    [index],
  );
  const notCarried = upgraded?.report.notCarried ?? [];
  const counted = (status: Status) => reported.filter((each) => each.status === status).length;
  const report: ResultsReport = {
    kind: scan.kind,
    tool: scan.tool,
    target: { ...scan.target, hostName: checklist.target_data.host_name },
    release: {
      ...pick(target.release, 'slug', 'title', 'version'),
      chosenBy: release.chosenBy,
      named: scan.release,
    },
    counts: {
      not_a_finding: counted('not_a_finding'),
      open: counted('open'),
      not_applicable: counted('not_applicable'),
      not_reviewed: counted('not_reviewed'),
    },
    rules: reported,
    unknown: unknown.map(({ id, result }) => ({ id, result })),
    notCarried,
    warnings: [
      ...(old?.warnings ?? []),
      ...scan.warnings,
      ...warningsOf(scan, release, found, unknown, checklist, old),
      ...longTexts(rules),
      ...(notCarried.some((each) => each.kind === 'rule' && each.answered)
        ? [`${target.release.version} lacks rules that the checklist answers: see notCarried`]
        : []),
    ],
  };
  return { checklist, report };
}

/** Whether a rule has an answer that results leave alone: a text beside Not Reviewed is none (rule D42.3). */
const isDecided = ({ status, overrides }: CklbRule) => status !== 'not_reviewed' || !!overrides.severity;

/**
 * The texts of a rule with a result. A comment on a decided rule stays (rule D29.4). What stood beside Not Reviewed stays
 * first, and nothing is written twice.
 */
function textsOf(rule: CklbRule, { finding_details, comments }: Outcome) {
  if (isDecided(rule))
    return { finding_details, comments: rule.comments.trim() === '' ? comments : rule.comments };
  const below = (text: string, more: string) =>
    text.trim() === '' ? more : more === '' || text.endsWith(more) ? text : `${text}\n${more}`;
  return {
    finding_details: below(rule.finding_details, finding_details),
    comments: below(rule.comments, comments),
  };
}

function matchResults(results: RuleResult[], release: IdentifiedRelease) {
  const find = createRuleFinder(release);
  const matches: MatchedResult[] = [];
  const unknown: RuleResult[] = [];
  const renamed = new Map<string, string>();
  for (const result of results) {
    const match = find.rule(result);
    if (match === null) {
      unknown.push(result);
      const now = find.renamed(result);
      if (now !== null)
        renamed.set(
          plainRuleId(now.row.ruleId),
          `${result.id} of ${now.version} was tested: ${result.result}`,
        );
      continue;
    }
    matches.push({ ...match, result });
  }
  return { found: Map.groupBy(matches, ({ row }) => plainRuleId(row.ruleId)), unknown, renamed };
}

function notThere(rule: CklbRule, renamed: Map<string, string>, release: IdentifiedRelease): string {
  const { closest, others, target } = release;
  const was = renamed.get(plainRuleId(rule.rule_id_src));
  if (was !== undefined) return `renamed: ${was}; check whether its answer still holds`;
  const tested =
    closest === target.release.version ? undefined : others.find((each) => each.release.version === closest);
  const isNew = tested && !tested.findings.some((row: FindingRow) => row.groupId === rule.group_id);
  return isNew
    ? `not in the results, which are of ${closest}: that release does not have it`
    : 'not in the results';
}

function targetData(given: Cklb['target_data'], host: string, { target }: ScanResults): Cklb['target_data'] {
  return {
    ...given,
    host_name: given.host_name.trim() || host,
    fqdn: given.fqdn.trim() || target.fqdn,
    ip_address: given.ip_address.trim() || target.ipAddress,
    mac_address: given.mac_address.trim() || target.macAddress,
    role: given.role === 'None' ? target.role : given.role,
    is_web_database: given.is_web_database || target.site !== undefined || target.instance !== undefined,
    web_db_site: given.web_db_site.trim() || (target.site ?? ''),
    web_db_instance: given.web_db_instance.trim() || (target.instance ?? ''),
  };
}

function warningsOf(
  scan: ScanResults,
  release: IdentifiedRelease,
  found: Map<string, MatchedResult[]>,
  unknown: RuleResult[],
  { target_data }: Cklb,
  old: OldChecklist | null,
): string[] {
  const { version, title } = release.target.release;
  const matches = [...found.values()].flat();
  const exact = matches.filter((each) => each.matchedBy === 'ruleId').length;
  const warnings: string[] = [];
  if (release.foundBy === 'rules')
    warnings.push(
      `${scan.benchmarkId === '' ? 'The results name no benchmark' : `No STIG in the catalog has the benchmark id ${scan.benchmarkId.slice(0, 64)}`}: most rules are those of ${title}`,
    );
  const equal = equalStigs(release);
  if (equal !== null) warnings.push(equal);
  if (exact < scan.results.length)
    warnings.push(
      `Of ${count(scan.results.length, 'result')} ${exact} are of rules as ${version} has them, ${matches.length - exact} of other revisions, ${unknown.length} of rules that it does not have`,
    );
  if (scan.release !== null && scan.release !== version)
    warnings.push(`The results name ${scan.release}; the checklist is of ${version}`);
  if (release.closest !== null && release.closest !== version)
    warnings.push(`The rule ids of the results are those of ${release.closest}`);
  if (target_data.host_name === '')
    warnings.push('The results name no host: STIG Manager refuses a checklist without a host name');
  const given = old?.checklist.target_data;
  const { hostName, site = '', instance = '' } = scan.target;
  const scanned = deviceName({ host_name: hostName, web_db_site: site, web_db_instance: instance });
  const named = (site + instance === '' ? given?.host_name.trim() : given && deviceName(given)) ?? '';
  if (named !== '' && hostName !== '' && named.toLowerCase() !== scanned.toLowerCase())
    warnings.push(`The checklist is of ${named.slice(0, 64)}, the results are of ${scanned.slice(0, 64)}`);
  return warnings;
}

function longTexts(rules: CklbRule[]): string[] {
  const long = rules.filter((rule) => rule.finding_details.length > longestText);
  const named = shortList(long.map((rule) => rule.group_id));
  return long.length === 0
    ? []
    : [`STIG Manager cuts finding details after ${longestText} characters: ${named}`];
}
