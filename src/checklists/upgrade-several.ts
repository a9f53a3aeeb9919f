import { AppError, badRequest } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import type { CklbStig } from '../catalog/stigs/cklb-schema.ts';
import { checklistName } from '../catalog/stigs/cklb-writer.ts';
import type { FullRelease } from '../catalog/stigs/queries.ts';
import type { Column } from '../http/columns.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { deviceName } from './device-name.ts';
import { createNames, safeName } from './file-names.ts';
import { readChecklist } from './read-checklist.ts';
import { fromResultsOf, isResults, readResults } from './results-upload.ts';
import { type ReviewRow, reviewOfResults, reviewOfUpgrade } from './review.ts';
import type { RuleAnswer, UpgradeOptions, UpgradeReport } from './schema.ts';
import { nameOf, otherStig, shortList, statedOf, stigNames } from './stig-names.ts';
import { indexOfStig, moveStig, withIds } from './upgrade.ts';
import { type CatalogLookup, lostIn, written } from './upload.ts';

export interface NamedFile {
  name: string;
  bytes: Buffer;
}

/** The result for one file: the upgraded checklist or the reason against it, and the rules of each of its STIGs. */
export interface UpgradedFile {
  file: string;
  host: string;
  made: { name: string; content: Buffer } | null;
  classification: string | null;
  stigs: Pick<UpgradeReport, 'from' | 'to' | 'summary'>[];
  rows: ReportRow[];
  /** The rules of its upgraded STIGs, for a person to review. */
  review: ReviewRow[];
  problems: string[];
  /** What to know about a checklist that was made. */
  warnings: string[];
}

/** What scan results among the files need besides the options of an upgrade. */
export interface ScanOptions {
  overwrite?: boolean;
  banner?: string | null;
}

/** One line of the report: a rule, or a value that has no place in the new checklist. */
export interface ReportRow {
  file: string;
  upgradedFile: string;
  host: string;
  stig: string;
  from: string;
  to: string;
  outcome:
    | 'carried'
    | 'carried-with-warning'
    | 'reset'
    | 'new'
    | 'from-results'
    | 'not-carried'
    | 'not-upgraded'
    | 'warning';
  reason: string;
  answered: string;
  groupId: string;
  ruleId: string;
  ruleVersion: string;
  lostStatus: string;
  lostDetails: string;
  lostComments: string;
}

const names = [
  ...(['file', 'upgradedFile', 'host', 'stig', 'from', 'to', 'outcome', 'reason', 'answered'] as const),
  ...(['groupId', 'ruleId', 'ruleVersion', 'lostStatus', 'lostDetails', 'lostComments'] as const),
];

export const reportColumns: Column<ReportRow>[] = names.map((name) => ({ name, value: (row) => row[name] }));

const longestName = 255;

/** Bytes of all upgraded checklists: a small file that names many STIGs becomes one with all their rules. */
const mostMade = 128 * 1024 * 1024;

type Options = Omit<UpgradeOptions, 'hostName'>;

/**
 * Upgrades each STIG of checklists, or one, and makes a checklist of each file of scan results. A failed file stops no
 * other. Throws a 400 beyond `most` bytes of result.
 */
export async function upgradeSeveral(
  catalog: CatalogLookup,
  files: NamedFile[],
  asked: Options & ScanOptions,
  most = mostMade,
): Promise<UpgradedFile[]> {
  const named = createNames();
  let bytesMade = 0;
  const done: UpgradedFile[] = [];
  for (const { name: given, bytes } of files) {
    const name = cut(given, longestName);
    const blank = { file: name, host: '', made: null, classification: null, ...nothing };
    try {
      if (isResults(bytes)) done.push(await scanOne(catalog, name, bytes, asked, named));
      else done.push(await upgradeOne(catalog, name, readChecklist(bytes), asked, named));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      done.push(withReason({ ...blank, problems: [error.message] }));
    }
    bytesMade += done.at(-1)!.made?.content.length ?? 0;
    if (bytesMade > most)
      throw badRequest(
        `The upgraded checklists would have more than ${most} bytes together: upgrade fewer at once`,
      );
  }
  return done;
}

const nothing = { stigs: [], rows: [], review: [], warnings: [] };

/** A release to move to, and where its STIG stands in the checklist. */
interface Move {
  target: FullRelease;
  indexes: number[];
}

/** Those of a checklist's STIGs that the catalog has, by name, title or rules, to their newest releases. */
async function ownStigs(
  catalog: CatalogLookup,
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
    const found = await catalog.identify(statedOf(given[indexes[0]!]!));
    if (found) {
      moves.push({ target: found.current, indexes });
      warnings.push(...[otherStig(nameOf(given[indexes[0]!]!), found)].filter((each) => each !== null));
    } else if (typeof name === 'string')
      problems.push(`${shortList([name])} is not in the catalog, and stays as it was`);
  }
  return moves;
}

async function chosenStig(
  catalog: CatalogLookup,
  given: CklbStig[],
  slug: string,
  version: string | undefined,
): Promise<Move> {
  const { target, names } = await catalog.release(slug, version, stigNames(given));
  return { target, indexes: [indexOfStig(given, target, names)] };
}

async function upgradeOne(
  catalog: CatalogLookup,
  file: string,
  old: OldChecklist,
  asked: Options,
  named: ReturnType<typeof createNames>,
): Promise<UpgradedFile> {
  const { slug, version, ...options } = asked;
  const { stigs: given } = old.checklist;
  const problems: string[] = [];
  const warnings = [...old.warnings];
  const found =
    slug === undefined
      ? await ownStigs(catalog, given, problems, warnings)
      : [await chosenStig(catalog, given, slug, version)];
  let { checklist, leftovers } = old;
  const moved: number[] = [];
  const reports: UpgradeReport[] = [];
  const targets: FullRelease[] = [];
  const mayGo = options.allowOlder === true || version !== undefined;
  for (const { target, indexes } of found)
    for (const index of indexes) {
      const from = { ...old, checklist, leftovers, warnings: [] };
      const upgrade = moveStig(from, target, index, { ...options, allowOlder: mayGo });
      (upgrade.isLeft ? problems : warnings).push(...upgrade.report.warnings);
      if (upgrade.isLeft) continue;
      // Only the first upgrade reports what the file contains besides its STIGs.
      leftovers = [];
      checklist = upgrade.checklist;
      moved.push(index);
      reports.push(upgrade.report);
      targets.push(target);
    }
  // Cut, because each line of the report repeats it.
  const host = deviceName(checklist.target_data);
  const about = { file, host, classification: checklist.target_data.classification, problems, warnings };
  const [first] = targets;
  if (first === undefined) {
    if (problems.length === 0) problems.push('The checklist does not name its STIG: choose the STIG');
    return withReason({ ...about, made: null, ...nothing, warnings });
  }
  const stem = safeName(host === '' ? file.replace(/\.[^.]*$/, '') : host);
  const isOne = host !== '' && checklist.stigs.length === 1;
  const name = named(isOne ? checklistName(first.release, { hostName: stem }) : stem, `.${asked.format}`);
  const releases = targets.map(({ release }) => release);
  const made = written(withIds(checklist, moved), asked.format, releases);
  warnings.push(...lostIn(asked.format, checklist));
  const content = Buffer.from(typeof made === 'string' ? made : JSON.stringify(made));
  const rows = reports.flatMap((report) => rowsOf(report, { file, upgradedFile: name, host }));
  const stigs = reports.map(({ from, to, summary }) => ({ from, to, summary }));
  const review = reports.flatMap((report) => reviewOfUpgrade({ checklist, report }));
  return withReason({ ...about, made: { name, content }, stigs, rows, review });
}

/** The checklist of one file of scan results. */
async function scanOne(
  catalog: CatalogLookup,
  file: string,
  bytes: Buffer,
  asked: Options & ScanOptions,
  named: ReturnType<typeof createNames>,
): Promise<UpgradedFile> {
  const made = await fromResultsOf(
    catalog,
    readResults(bytes),
    { overwrite: false, banner: null, ...asked },
    null,
  );
  const { checklist, report, target } = made;
  const host = deviceName(checklist.target_data);
  const stem = safeName(host === '' ? file.replace(/\.[^.]*$/, '') : host);
  const name = named(checklistName(target.release, { hostName: stem }), `.${asked.format}`);
  const text = written(checklist, asked.format, [target.release]);
  const review = reviewOfResults(made, null);
  const { title, version } = report.release;
  const rows = review.map(({ groupId, ruleId, ruleVersion, reason }): ReportRow => {
    const of = { ...emptyRow, file, upgradedFile: name, host, stig: title, to: version };
    return { ...of, outcome: 'from-results', reason, answered: 'no', groupId, ruleId, ruleVersion };
  });
  const content = Buffer.from(typeof text === 'string' ? text : JSON.stringify(text));
  return withReason({
    ...{ file, host, made: { name, content }, classification: checklist.target_data.classification },
    ...{ stigs: [], rows, review, problems: [], warnings: report.warnings },
  });
}

const emptyRow = {
  ...{ upgradedFile: '', host: '', stig: '', from: '', to: '', answered: '' },
  ...{ groupId: '', ruleId: '', ruleVersion: '', lostStatus: '', lostDetails: '', lostComments: '' },
};

function withReason(file: UpgradedFile): UpgradedFile {
  const lines = (outcome: ReportRow['outcome'], reasons: string[]) =>
    reasons.map((reason) => ({ ...emptyRow, file: file.file, host: file.host, outcome, reason }));
  const failed = lines('not-upgraded', file.problems);
  return { ...file, rows: [...failed, ...lines('warning', file.warnings), ...file.rows] };
}

function rowsOf(
  { from, to, rules, notCarried }: UpgradeReport,
  file: Pick<ReportRow, 'file' | 'upgradedFile' | 'host'>,
): ReportRow[] {
  const of = { ...emptyRow, ...file, stig: to.title, from: from.version ?? from.releaseInfo, to: to.version };
  return [
    ...rules.map((rule): ReportRow => {
      const { outcome, reason, answered, groupId, ruleId, ruleVersion, lost } = rule;
      const ids = { groupId, ruleId, ruleVersion, answered: yes(answered) };
      return { ...of, outcome, reason, ...ids, ...lostOf(lost) };
    }),
    ...notCarried.map((each): ReportRow => {
      const { reason } = each;
      if (each.kind === 'rule') {
        const { groupId, ruleId, ruleVersion, answered, answer } = each;
        const ids = { groupId, ruleId, ruleVersion, answered: yes(answered) };
        return { ...of, outcome: 'not-carried', reason, ...ids, ...(answered ? lostOf(answer) : {}) };
      }
      const value = typeof each.value === 'string' ? each.value : JSON.stringify(each.value);
      return {
        ...of,
        outcome: 'not-carried',
        reason: `${each.place ?? each.path}: ${reason}`,
        lostDetails: value,
      };
    }),
  ];
}

const yes = (is: boolean) => (is ? 'yes' : 'no');

function lostOf(answer: RuleAnswer | null) {
  if (answer === null) return {};
  const { status, finding_details, comments, overrides } = answer;
  const severity = overrides.severity;
  const overridden = severity === undefined ? '' : `Severity ${severity.severity}: ${severity.reason}`;
  return {
    lostStatus: status,
    lostDetails: finding_details,
    lostComments: [comments, overridden].filter((each) => each !== '').join('\n'),
  };
}
