import type { Ask } from '../base/ask.ts';
import { badRequest } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { pick } from '../base/objects.ts';
import { plainRuleId } from '../base/rule-ids.ts';
import { count, cut } from '../base/text.ts';
import type { Cklb, CklbRule, CklbStig } from '../catalog/stigs/cklb-schema.ts';
import { checklistName, toCklb } from '../catalog/stigs/cklb-writer.ts';
import { classesOf, fieldChanges } from '../catalog/stigs/compare.ts';
import type { IdentifiedRelease, StatedRelease } from '../catalog/stigs/identify.ts';
import { matchRules } from '../catalog/stigs/match.ts';
import type { FindingRow } from '../catalog/stigs/queries.ts';
import { check } from '../http/schema.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { longestText, readUploadedXml } from './fields.ts';
import { uploadJobs } from './jobs.ts';
import { deviceName, equalStigs, isOlder, nameOf, oneNumberFrom, shortList, versionOf } from './names.ts';
import { isXml, readChecklist } from './read-checklist.ts';
import { createResultsReader, type RuleResult, type ScanResults } from './results-reader.ts';
import {
  type FromResultsOptions,
  fromResultsBody,
  type ReportedRule,
  type ResultsReport,
} from './results-schema.ts';
import type { ChecklistFormat } from './schema.ts';
import { chooseStig, upgradeChecklist, withIds } from './upgrade.ts';
import { answerMade, locatedAt, lostIn, type Made, parseBody, type Upgraded } from './upload.ts';

/** The rule of a release that matches a result, or a rule of a checklist. */
export interface FoundRule {
  row: FindingRow;
  matchedBy: 'ruleId' | 'groupId' | 'legacyId';
  /** Other rules of the release that fit equally well: the first in document order counts. */
  equals: FindingRow[];
}

const svNumber = (ruleId: string) => /^SV-(\d+)(?=R\d|$)/.exec(plainRuleId(ruleId))?.[1] ?? null;

/** The first of several candidates in document order. */
function firstOf([row, ...others]: FindingRow[], matchedBy: FoundRule['matchedBy']): FoundRule {
  const id = plainRuleId(row!.ruleId);
  return { row: row!, matchedBy, equals: others.filter((each) => plainRuleId(each.ruleId) !== id) };
}

/** Makes the look-up of rules of a release: by rule id, then V-id, then legacy ids (rule D29.2). */
export function createRuleFinder({ target, others }: IdentifiedRelease) {
  const { findings } = target;
  const byId = Map.groupBy(findings, (row) => plainRuleId(row.ruleId));
  const byNumber = Map.groupBy(findings, (row) => svNumber(row.ruleId) ?? plainRuleId(row.ruleId));
  const byGroup = Map.groupBy(findings, (row) => row.groupId.toUpperCase());
  const legacy = findings.flatMap((row) => row.legacyIds.map((id) => ({ id: id.trim().toUpperCase(), row })));
  const byLegacy = Map.groupBy(legacy, ({ id }) => id);
  const ofLegacy = (id: string) => byLegacy.get(id)?.map(({ row }) => row);
  /** The matching rule of the target for each rule id of another release. Filled on first use. */
  let successors: Map<string, { row: FindingRow; version: string }> | null = null;

  return {
    rule({ id, legacyIds }: { id: string; legacyIds: string[] }): FoundRule | null {
      const exact = byId.get(plainRuleId(id));
      if (exact) return firstOf(exact, 'ruleId');
      const number = svNumber(id);
      const group =
        number !== null && Number(number) >= oneNumberFrom ? byGroup.get(`V-${number}`) : undefined;
      const same = (number === null ? undefined : byNumber.get(number)) ?? group;
      if (same) return firstOf(same, 'groupId');
      // Some tools write the V-id.
      const former = [number === null ? id : `SV-${number}`, ...legacyIds];
      for (const each of former) {
        const rows = byGroup.get(each.toUpperCase()) ?? ofLegacy(each.toUpperCase());
        if (rows) return firstOf(rows, each === id ? 'groupId' : 'legacyId');
      }
      return null;
    },

    /** The successor in the target of a rule of another release: the rule with its STIG id or former number. */
    renamed({ id }: { id: string }): { row: FindingRow; version: string } | null {
      successors ??= new Map(
        others.flatMap(({ release, findings }) =>
          matchRules(findings, target.findings).pairs.map(
            (pair) => [plainRuleId(pair.old.ruleId), { row: pair.new, version: release.version }] as const,
          ),
        ),
      );
      return successors.get(plainRuleId(id)) ?? null;
    },
  };
}

type Status = CklbRule['status'];

type MatchedResult = FoundRule & { result: RuleResult };

const decided: Record<string, Status> = {
  fail: 'open',
  pass: 'not_a_finding',
  fixed: 'not_a_finding',
  notapplicable: 'not_applicable',
};

/** The status for a result word of XCCDF (rule D29.2). */
export function statusOf(result: string): Status {
  return Object.hasOwn(decided, result) ? decided[result]! : 'not_reviewed';
}

/** The first of these wins when a rule has several results: an open finding must not hide. */
const ranks: Status[] = ['open', 'not_reviewed', 'not_a_finding', 'not_applicable'];

const whyNot: Record<string, string> = {
  notchecked: 'the tool did not check it',
  error: 'its check ended with an error',
  unknown: 'its check came to no result',
  notselected: 'the profile of the scan leaves it out',
  informational: 'its result only informs',
};

/** The message of OpenSCAP for a rule without a check; it does not help an assessor. */
const noCheck = 'No candidate or applicable check found.';

/** The combined results of a rule: one, or several of one status. */
export interface Outcome {
  status: Status;
  result: string;
  finding_details: string;
  comments: string;
  reasons: string[];
}

/** The rules of the other releases of a STIG by `plainRuleId`; the first of several. */
function testedRules({ others }: IdentifiedRelease): ReadonlyMap<string, FindingRow> {
  const rows = others.flatMap(({ findings }) => findings);
  return new Map(rows.reverse().map((row) => [plainRuleId(row.ruleId), row]));
}

/** Combines the results of one rule; null for none. `tested` are the rules of other releases. */
function outcomeOf(
  all: MatchedResult[],
  tool: string | null,
  tested: ReadonlyMap<string, FindingRow>,
): Outcome | null {
  if (all.length === 0) return null;
  const status = ranks.find((rank) => all.some(({ result }) => statusOf(result.result) === rank))!;
  const winners = all.filter(({ result }) => statusOf(result.result) === status);
  const { result } = winners[0]!.result;
  const reasons: string[] = [];
  if (all.length > 1)
    reasons.push(`${all.length} results: ${all.map((each) => each.result.result || 'none').join(', ')}`);
  if (status === 'not_reviewed') {
    const why = Object.hasOwn(whyNot, result) ? whyNot[result] : 'no result that XCCDF knows';
    reasons.push(result === '' ? 'its result is empty' : `${result.slice(0, 64)}: ${why}`);
  }
  const other = all.find((each) => each.matchedBy !== 'ruleId');
  if (other) reasons.push(revisionReason(other, tested.get(plainRuleId(other.result.id))));
  const tied = all.find(({ equals }) => equals.length > 0);
  if (tied)
    reasons.push(
      `${tied.result.id.slice(0, 64)} fits other rules as well: ${shortList(tied.equals.map((row) => row.groupId))}`,
    );
  const wasFixed = winners.some((each) => each.result.result === 'fixed');
  return {
    status,
    result,
    finding_details: winners.map((each) => detailsOf(each.result, tool)).join('\n'),
    comments: [
      ...winners.map((each) => each.result.comment.trim()),
      wasFixed ? 'The tool fixed this during the scan (result: fixed).' : '',
    ]
      .filter((text) => text !== '')
      .join('\n'),
    reasons,
  };
}

/** The finding details: the texts of the file, then a line with a result that decides the status. */
function detailsOf({ detail, messages, overrides, result, time, check }: RuleResult, tool: string | null) {
  const texts = messages.map((text) => text.trim()).filter((text) => text !== '' && text !== noCheck);
  const text = detail.trim() === '' ? texts.join('\n') : detail.trim();
  const source = [tool, time, check].filter((each) => each !== null).join(', ');
  const line = `Result: ${result}${source === '' ? '' : ` (${source})`}`;
  return [
    text,
    ...overrides.map((each) => `Override: ${each}`),
    ...(statusOf(result) === 'not_reviewed' ? [] : [line]),
  ]
    .filter((each) => each !== '')
    .join('\n');
}

function revisionReason({ result, row }: MatchedResult, tested: FindingRow | undefined) {
  const classes = tested ? classesOf(fieldChanges(tested, row)) : [];
  const changed = !tested
    ? ''
    : classes.length === 0
      ? ' (nothing changed)'
      : ` (changed: ${classes.join(', ')})`;
  return `tested as ${result.id.slice(0, 64)}, the release has ${row.ruleId}${changed}`;
}

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

/** Bytes of the results of a scan, or of a body with them (rule D29.1): an ARF contains its data stream. */
export const maxResults = 64 * 1024 * 1024;

/** Reads the results of a scan. Throws a 400 for other content. */
export function readResults(given: string | Uint8Array): ScanResults {
  let reader: ReturnType<typeof createResultsReader> | null = null;
  const warnings = readUploadedXml(given, 'results', (root) => {
    reader = createResultsReader(root);
    return reader.handler;
  });
  return reader!.finish(warnings);
}

export type MadeChecklist = Made<ResultsReport>;

/** The release that the results of a scan name, for the look-up in the catalog. */
export function statedOfResults(scan: ScanResults): StatedRelease {
  return {
    benchmarkIds: scan.benchmarkId === '' ? [] : [scan.benchmarkId],
    ruleIds: scan.results.map(({ id }) => id),
    benchmarkDate: scan.benchmarkDate,
    release: scan.release,
  };
}

/** Makes a checklist of scan results, or merges them into an existing one. */
export async function fromResultsOf(
  ask: Ask,
  scan: ScanResults,
  {
    slug,
    version,
    allowOlder,
    ...options
  }: Omit<FromResultsOptions, 'format'> & { banner: string | null; format?: ChecklistFormat },
  old: OldChecklist | null,
): Promise<MadeChecklist> {
  const stated = statedOfResults(scan);
  const query = { ...stated, slug, version };
  const stigs = old?.checklist.stigs ?? [];
  let release = await ask(uploadJobs.identifiedRelease, { ...query, checklist: stigs.map(nameAndRelease) });
  const own = release && stigs[chooseStig(stigs, toCklb(release.target).stigs[0]!, release.names)];
  if (own && version === undefined && allowOlder !== true && isBefore(release!, own))
    release = await ask(uploadJobs.identifiedRelease, { ...query, checklist: [nameAndRelease(own)] });
  const find = release && createRuleFinder(release);
  if (!release || !scan.results.some((result) => find!.rule(result) !== null)) throw notKnown(scan, release);
  const made = checklistFromResults(scan, release, options, old);
  made.report.warnings.push(...lostIn(options.format ?? 'cklb', made.checklist));
  // Named after its host (rule D28.1).
  const name = checklistName(release.target.release, { hostName: deviceName(made.checklist.target_data) });
  return { ...made, target: release.target, name };
}

const nameAndRelease = (stig: CklbStig) => ({ name: nameOf(stig), release: versionOf(stig) });

/** Whether results would go to a release before that of the checklist (rule D42.4). Throws a 400 where only they could. */
function isBefore({ target, versions }: IdentifiedRelease, stig: CklbStig): boolean {
  const own = versionOf(stig);
  if (!isOlder(target.release.version, own)) return false;
  if (versions.includes(own!)) return true;
  throw badRequest(
    `checklist: its release ${own} is not in the catalog, and the results would go into the older ${target.release.version}. The catalog has ${shortList(versions)}: import ${own}, name one of these as version, or allow older releases`,
    '/checklist',
  );
}

function notKnown({ results, benchmarkId }: ScanResults, release: IdentifiedRelease | null): Error {
  if (!results.some(({ id }) => /^SV-/.test(id)) && !release)
    return badRequest(
      'results: not of a benchmark of DISA; with content of ComplianceAsCode, run oscap with --stig-viewer',
      '/results',
    );
  const owner = release ? cut(release.target.release.title) : 'a STIG in the catalog';
  const named = benchmarkId === '' ? '' : ` (benchmark ${cut(benchmarkId)})`;
  return badRequest(
    `results: no rule in them belongs to ${owner}${named}. Import that STIG first`,
    '/results',
  );
}

/** Reads a body of results: JSON, or the XML itself with its options in the query. Throws a 400. */
export async function fromResultsWork(
  ask: Ask,
  bytes: Uint8Array,
  { download, banner, ...query }: FromResultsOptions & { download: boolean; banner: string | null },
): Promise<Upgraded> {
  const { results, checklist, ...options } = isXml(bytes)
    ? { results: bytes, checklist: undefined, ...query }
    : check(fromResultsBody, parseBody(utf8Body(bytes)));
  const read = async () => {
    const old = checklist === undefined ? null : readChecklist(checklist);
    return fromResultsOf(ask, readResults(results), { ...options, banner }, old);
  };
  const made = await (isXml(bytes) ? locatedAt('', read) : read());
  return answerMade(made, options.format, download);
}
