import type { Ask } from '../base/ask.ts';
import { AppError, badRequest } from '../base/errors.ts';
import { pick } from '../base/objects.ts';
import { cut } from '../base/text.ts';
import type { Cklb, CklbRule, CklbStig } from '../catalog/stigs/cklb-schema.ts';
import { checklistName } from '../catalog/stigs/cklb-writer.ts';
import type { FullRelease, StigRelease } from '../catalog/stigs/queries.ts';
import type { Column } from '../http/columns.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { uploadJobs } from './jobs.ts';
import {
  createNames,
  deviceName,
  nameOf,
  otherStig,
  safeName,
  shortList,
  statedOf,
  stigNames,
} from './names.ts';
import { isResults, readChecklist } from './read-checklist.ts';
import { fromResultsOf, type MadeChecklist, readResults } from './results.ts';
import type {
  ChecklistFormat,
  NotCarried,
  RuleAnswer,
  Upgrade,
  UpgradedRule,
  UpgradeOptions,
  UpgradeReport,
} from './schema.ts';
import { indexOfStig, moveStig, withIds } from './upgrade.ts';
import { lostIn, textIn } from './upload.ts';

/** What a person needs to decide on one rule of a made checklist. */
export interface ReviewRow {
  slug: string;
  /** The title of its STIG. */
  stig: string;
  version: string;
  /** The release before: that of the old checklist. */
  from: string;
  severity: CklbRule['severity'];
  groupId: string;
  ruleId: string;
  ruleVersion: string;
  title: string;
  /** The status in the old checklist; null for a rule that it does not have. */
  was: CklbRule['status'] | null;
  now: CklbRule['status'];
  /** The group of the row: an outcome of an upgrade, or the status that results gave. */
  kind: UpgradedRule['outcome'] | CklbRule['status'];
  reason: string;
  isAnswered: boolean;
  lost: RuleAnswer | null;
  changes: UpgradedRule['changes'];
}

/** The rules of an upgraded STIG, in the order of its checklist. */
export function reviewOfUpgrade({ checklist, report }: Upgrade): ReviewRow[] {
  const made = rulesById(checklist);
  const { slug, version, title: stig } = report.to;
  const from = report.from.version ?? 'before';
  return report.rules.flatMap((each) => {
    const rule = made.get(each.ruleId);
    if (rule === undefined) return [];
    const { outcome, lost } = each;
    return {
      ...pick(each, 'groupId', 'ruleId', 'ruleVersion', 'reason', 'lost'),
      slug,
      stig,
      version,
      from,
      severity: rule.severity,
      title: rule.rule_title,
      was: outcome === 'new' ? null : ((lost?.status as CklbRule['status'] | undefined) ?? rule.status),
      now: rule.status,
      kind: outcome,
      isAnswered: each.answered,
      changes: outcome === 'carried' ? [] : each.changes,
    };
  });
}

/** The rules of a checklist of scan results; `old` is the one that they were merged into. */
export function reviewOfResults({ checklist, report }: MadeChecklist, old: OldChecklist | null): ReviewRow[] {
  const made = rulesById(checklist);
  const before = new Map(
    (old?.checklist.stigs ?? []).flatMap(({ rules }) => rules.map((rule) => [rule.group_id, rule.status])),
  );
  const { slug, version, title: stig } = report.release;
  return report.rules.flatMap((each) => {
    const rule = made.get(each.ruleId);
    if (rule === undefined) return [];
    // Some reasons begin with the result.
    const words = each.reason?.startsWith(each.result ?? ' ') ? [each.reason] : [each.result, each.reason];
    return {
      ...pick(each, 'groupId', 'ruleId'),
      slug,
      stig,
      version,
      from: version,
      severity: rule.severity,
      ruleVersion: rule.rule_version,
      title: rule.rule_title,
      was: before.get(each.groupId) ?? null,
      now: each.status,
      kind: each.status,
      reason: words.filter((word) => word !== null).join(': '),
      isAnswered: each.kept,
      lost: null,
      changes: [],
    };
  });
}

const rulesById = ({ stigs }: Cklb) =>
  new Map(stigs.flatMap(({ rules }) => rules.map((rule) => [rule.rule_id_src, rule] as const)));

export interface NamedFile {
  name: string;
  bytes: Buffer;
}

/** The result for one file: the checklist that was made or the reason against it, with the reports on its STIGs. */
export interface UpgradedFile {
  file: string;
  host: string;
  made: { name: string; content: Buffer } | null;
  classification: string | null;
  /** Of an upgrade; empty for scan results. */
  reports: UpgradeReport[];
  /** The rules of the new checklist, for a person to review. */
  review: ReviewRow[];
  problems: string[];
  /** What to know about a checklist that was made. */
  warnings: string[];
}

/** What scan results among the files need besides the options of an upgrade. */
interface ScanOptions {
  overwrite?: boolean;
  banner?: string | null;
}

const columns = [
  'file',
  'upgradedFile',
  'host',
  'stig',
  'from',
  'to',
  'outcome',
  'reason',
  'answered',
  'groupId',
  'ruleId',
  'ruleVersion',
  'lostStatus',
  'lostDetails',
  'lostComments',
] as const;

/** One line of the report: a rule, a value that has no place in the new checklist, a problem or a warning. */
export type ReportRow = Record<(typeof columns)[number], string>;

export const reportColumns: Column<ReportRow>[] = columns.map((name) => ({
  name,
  value: (row) => row[name],
}));

const longestName = 255;

/** Bytes of all upgraded checklists: a small file that names many STIGs becomes one with all their rules. */
const mostMade = 128 * 1024 * 1024;

type Options = Omit<UpgradeOptions, 'hostName'>;

/** What a file became, before it has a name: without a release, its STIGs stay as they were. */
interface Outcome extends Pick<UpgradedFile, 'reports' | 'review' | 'problems' | 'warnings'> {
  checklist: Cklb;
  releases: StigRelease[];
  isScan: boolean;
}

/**
 * Upgrades each STIG of checklists, or one, and makes a checklist of each file of scan results. A failed file stops no
 * other. Throws a 400 beyond `most` bytes of result.
 */
export async function upgradeSeveral(
  ask: Ask,
  files: NamedFile[],
  query: Options & ScanOptions,
  most = mostMade,
): Promise<UpgradedFile[]> {
  const named = createNames();
  let bytesMade = 0;
  const done: UpgradedFile[] = [];
  for (const { name, bytes } of files) {
    const file = cut(name, longestName);
    try {
      const outcome = await (isResults(bytes) ? scanOutcome : upgradeOutcome)(ask, bytes, query);
      done.push(fileOf(file, outcome, query.format, named));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const nothing = { host: '', made: null, classification: null, reports: [], review: [], warnings: [] };
      done.push({ ...nothing, file, problems: [error.message] });
    }
    bytesMade += done.at(-1)!.made?.content.length ?? 0;
    if (bytesMade > most)
      throw badRequest(
        `The upgraded checklists would have more than ${most} bytes together: upgrade fewer at once`,
      );
  }
  return done;
}

/** Names and writes the checklist of a file. */
function fileOf(
  file: string,
  { checklist, releases, isScan, ...outcome }: Outcome,
  format: ChecklistFormat,
  named: ReturnType<typeof createNames>,
): UpgradedFile {
  const { classification } = checklist.target_data;
  // Cut, because each line of the report repeats it.
  const host = deviceName(checklist.target_data);
  const [release] = releases;
  if (release === undefined) return { ...outcome, file, host, classification, made: null };
  const stem = safeName(host === '' ? file.replace(/\.[^.]*$/, '') : host);
  const isNamedByStig = isScan || (host !== '' && checklist.stigs.length === 1);
  const name = named(isNamedByStig ? checklistName(release, { hostName: stem }) : stem, `.${format}`);
  const content = Buffer.from(textIn(format, checklist, releases));
  return { ...outcome, file, host, classification, made: { name, content } };
}

/** A release to move to, and where its STIG stands in the checklist. */
interface Move {
  target: FullRelease;
  indexes: number[];
}

/** Those of a checklist's STIGs that the catalog has, by name, title or rules, to their newest releases. */
async function ownStigs(
  ask: Ask,
  given: CklbStig[],
  problems: string[],
  warnings: string[],
): Promise<Move[]> {
  const moves: Move[] = [];
  // Products may have one benchmark id: the title distinguishes them.
  const places = Map.groupBy(given.keys(), (index) => {
    const name = nameOf(given[index]!);
    return name === '' ? index : `${name}\n${given[index]!.stig_name}`;
  });
  for (const [key, indexes] of places) {
    const name = typeof key === 'number' ? key : nameOf(given[indexes[0]!]!);
    const found = await ask(uploadJobs.identifiedRelease, statedOf(given[indexes[0]!]!));
    if (found) {
      moves.push({ target: found.current, indexes });
      warnings.push(...[otherStig(nameOf(given[indexes[0]!]!), found)].filter((each) => each !== null));
    } else if (typeof name === 'string')
      problems.push(`${shortList([name])} is not in the catalog, and stays as it was`);
  }
  return moves;
}

async function chosenStig(
  ask: Ask,
  given: CklbStig[],
  slug: string,
  version: string | undefined,
): Promise<Move> {
  const { target, names } = await ask(uploadJobs.releaseOfSlug, slug, version, stigNames(given));
  return { target, indexes: [indexOfStig(given, target, names)] };
}

async function upgradeOutcome(ask: Ask, bytes: Buffer, query: Options): Promise<Outcome> {
  const { slug, version, ...options } = query;
  const old = readChecklist(bytes);
  const problems: string[] = [];
  const warnings = [...old.warnings];
  const { stigs: given } = old.checklist;
  const found =
    slug === undefined
      ? await ownStigs(ask, given, problems, warnings)
      : [await chosenStig(ask, given, slug, version)];
  const allowOlder = options.allowOlder === true || version !== undefined;
  let from = { ...old, warnings: [] };
  const reports: UpgradeReport[] = [];
  const releases: StigRelease[] = [];
  const moved: number[] = [];
  for (const { target, indexes } of found)
    for (const index of indexes) {
      const { isLeft, checklist, report } = moveStig(from, target, index, { ...options, allowOlder });
      (isLeft ? problems : warnings).push(...report.warnings);
      if (isLeft) continue;
      // Only the first upgrade reports what the file contains besides its STIGs.
      from = { ...from, checklist, leftovers: [] };
      moved.push(index);
      reports.push(report);
      releases.push(target.release);
    }
  const { checklist } = from;
  if (moved.length > 0) warnings.push(...lostIn(query.format, checklist));
  else if (problems.length === 0) problems.push('The checklist does not name its STIG: choose the STIG');
  return {
    checklist: withIds(checklist, moved),
    releases,
    isScan: false,
    reports,
    review: reports.flatMap((report) => reviewOfUpgrade({ checklist, report })),
    problems,
    warnings,
  };
}

/** The checklist of a file of scan results. */
async function scanOutcome(ask: Ask, bytes: Buffer, query: Options & ScanOptions): Promise<Outcome> {
  const options = { overwrite: false, banner: null, ...query };
  const made = await fromResultsOf(ask, readResults(bytes), options, null);
  return {
    checklist: made.checklist,
    releases: [made.target.release],
    isScan: true,
    reports: [],
    review: reviewOfResults(made, null),
    problems: [],
    warnings: made.report.warnings,
  };
}

const emptyRow = Object.fromEntries(columns.map((name) => [name, ''])) as ReportRow;

/** The report on a file: its problems and warnings, then its rules and what was not carried over. */
export function reportRows({ file, host, made, reports, review, ...of }: UpgradedFile): ReportRow[] {
  const lines = (outcome: string, reasons: string[]) => reasons.map((reason) => ({ outcome, reason }));
  const scanned = review.map((row) => ({
    ...pick(row, 'stig', 'reason', 'groupId', 'ruleId', 'ruleVersion'),
    to: row.version,
    outcome: 'from-results',
    answered: 'no',
  }));
  const rules = made === null ? [] : reports.length > 0 ? reports.flatMap(rowsOf) : scanned;
  return [
    ...lines('not-upgraded', of.problems),
    ...lines('warning', of.warnings),
    ...rules.map((row) => ({ ...row, upgradedFile: made!.name })),
  ].map((row) => ({ ...emptyRow, ...row, file, host }));
}

function rowsOf({ from, to, rules, notCarried }: UpgradeReport): Partial<ReportRow>[] {
  const of = { stig: to.title, from: from.version ?? from.releaseInfo, to: to.version };
  const ofRule = (rule: UpgradedRule | Extract<NotCarried, { kind: 'rule' }>) => ({
    ...of,
    ...pick(rule, 'reason', 'groupId', 'ruleId', 'ruleVersion'),
    answered: rule.answered ? 'yes' : 'no',
  });
  return [
    ...rules.map((rule) => ({ ...ofRule(rule), outcome: rule.outcome, ...lostOf(rule.lost) })),
    ...notCarried.map((each) =>
      each.kind === 'rule'
        ? { ...ofRule(each), outcome: 'not-carried', ...lostOf(each.answered ? each.answer : null) }
        : {
            ...of,
            outcome: 'not-carried',
            reason: `${each.place ?? each.path}: ${each.reason}`,
            lostDetails: typeof each.value === 'string' ? each.value : JSON.stringify(each.value),
          },
    ),
  ];
}

function lostOf(answer: RuleAnswer | null): Partial<ReportRow> {
  if (answer === null) return {};
  const { severity } = answer.overrides;
  const overridden = severity === undefined ? '' : `Severity ${severity.severity}: ${severity.reason}`;
  return {
    lostStatus: answer.status,
    lostDetails: answer.finding_details,
    lostComments: [answer.comments, overridden].filter((each) => each !== '').join('\n'),
  };
}
