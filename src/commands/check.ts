import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { crosswalkProblems } from '../../importers/crosswalk/crosswalk-problems.ts';
import { searchProblems } from '../../importers/stigs/search-problems.ts';
import { type AuditVerdict, verifyAuditFile } from '../audit/verify.ts';
import { type Flags, readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { storageFault } from '../base/faults.ts';
import { freeName, isThere, rightsAround, statIfThere } from '../base/files.ts';
import { packageRoot, packageVersion } from '../base/root.ts';
import { count } from '../base/text.ts';
import { type Check, databaseChecks, inFile } from '../catalog/checks.ts';
import { toCklb } from '../catalog/stigs/cklb-writer.ts';
import { createStigService } from '../catalog/stigs/queries.ts';
import { answerChecklist, readAnswers } from '../checklists/assessor-answers.ts';
import { auditMemory } from '../db/audit-memory.ts';
import { connectReadOnly } from '../db/connect.ts';
import { requireRoom } from '../db/copy.ts';
import type { Database, Files } from '../db/database.ts';
import { catalogDigest, storedDigest } from '../db/digest.ts';
import { type Kind, listMigrations, namesOfKinds, newestSchema, schemaVersion } from '../db/schema.ts';
import { damageOf, ForeignSchemaError } from '../db/schema-check.ts';
import { command, print, tell, textOf } from './command.ts';
import { openToLook } from './open-to-look.ts';

const busyTimeout = 30_000;
/** The problems of one check that are listed; a last line gives the number of the others. */
const most = 100;

const ourStig = 'application_security_and_development';
const ourAnswers = join(packageRoot, 'data', 'assessment', `${ourStig}.csv`);

export const checkCommand = () =>
  command('check', "check catalog and users' data for damage, and print the digest of the catalog", {
    settings: ['auditFile'],
    notes: ['Prints one line for each problem, and exits with 1 if there is any. Changes nothing.'],
    examples: [
      'gapstone check',
      'gapstone check --audit gapstone-audit.jsonl.1',
      'gapstone check --upgrade /var/lib/gapstone',
      'gapstone check --self-assessment > gapstone.cklb',
    ],
  })
    .option(
      '--audit [older...]',
      'also check the chain of the audit stream; its rotated files may follow, oldest first',
    )
    .addOption(
      new Option(
        '--upgrade <dir>',
        'only show what this version would migrate in the data folder of an installation',
      ).conflicts(['audit', 'selfAssessment']),
    )
    .addOption(
      new Option(
        '--self-assessment',
        'only print a checklist (cklb) of a STIG, filled in from a table of answers',
      ).conflicts('audit'),
    )
    .option('--stig <slug>', `the STIG of --self-assessment (${ourStig})`)
    .option('--version <release>', 'a retained release of it, such as V6R4 (the current one)')
    .option(
      '--answers <file>',
      'csv with groupId, status, evidence, comment (what Gapstone answers for itself)',
    )
    .option('--host-name <name>', "the target's name in the checklist (gapstone)")
    .action(({ audit, upgrade, selfAssessment, ...options }) => {
      const { stig, version, answers, hostName } = options;
      if (selfAssessment) return printSelfAssessment(options);
      if ([stig, version, answers, hostName].some((each) => each !== undefined))
        throw new CommandError('--stig, --version, --answers and --host-name need --self-assessment', 2);
      if (upgrade !== undefined) process.exitCode = checkUpgrade(upgrade, options.json);
      else {
        const config = readConfig(options);
        const older = audit === true ? [] : audit;
        const report = checkFiles(config, older ? [...older, config.auditFile] : null);
        print(options.json, report, describeReport(report));
        process.exitCode = report.ok ? 0 : 1;
      }
    });

/** Checks both files and the given audit files. Reads nothing from a file with a foreign schema. */
function checkFiles(files: Files, auditFiles: string[] | null): CheckReport {
  try {
    using db = openToLook(files, busyTimeout);
    const report = checkDatabase(db);
    // Opening the files has compared their schemas.
    report.checks.unshift({ name: 'schema', problems: [] });
    if (auditFiles !== null) addAudit(report, auditFiles, db);
    return report;
  } catch (error) {
    if (!(error instanceof ForeignSchemaError)) throw error;
    tell('no other check was run: a foreign schema could change its results');
    return {
      ok: false,
      digest: null,
      checks: [{ name: inFile('schema', error.kind), problems: problemsOf(() => error.problems) }],
    };
  }
}

/** The problems of every check, and the digest where the catalog could be read. */
export interface CheckReport {
  ok: boolean;
  digest: string | null;
  checks: { name: string; problems: string[] }[];
  audit?: Pick<AuditVerdict, 'lines' | 'first' | 'head' | 'notes'>;
}

const searchIndex: Check = { name: 'search index', run: searchProblems };
const closure: Check = { name: 'closure', run: crosswalkProblems };

/** Runs every check on one state of the database. */
export function checkDatabase(
  db: Database,
  list: Check[] = [...databaseChecks, searchIndex, closure],
): CheckReport {
  const { sqlite } = db;
  const outer = sqlite.inTransaction;
  if (!outer) sqlite.exec('BEGIN');
  try {
    const checks = list.map((check) => ({ name: check.name, problems: problemsOf(() => check.run(db)) }));
    const digest = withDamage(() => catalogDigest(db));
    checks.push({ name: 'digest', problems: problemsOf(() => wrongDigest(db, digest)) });
    const ok = typeof digest === 'string' && checks.every(({ problems }) => problems.length === 0);
    return { ok, digest: typeof digest === 'string' ? digest : null, checks };
  } finally {
    // On a damaged page even the COMMIT of a read fails.
    if (!outer && sqlite.inTransaction) sqlite.exec('ROLLBACK');
  }
}

function wrongDigest({ sqlite }: Database, digest: string | Error): string[] {
  const stored = storedDigest(sqlite);
  if (digest instanceof Error || stored === null || stored === digest) return [];
  return [
    `the stored digest ${stored} does not match the catalog: another program changed one of them. Restore a backup`,
  ];
}

function problemsOf(look: () => Iterable<string>): string[] {
  const problems: string[] = [];
  let more = 0;
  const damage = withDamage(() => {
    for (const problem of look()) {
      if (problems.length < most) problems.push(problem.replace(/\s+/g, ' '));
      else more++;
    }
  });
  if (more > 0) problems.push(`and ${more} more`);
  if (damage instanceof Error) problems.push(`the check stopped: ${damage.message}`);
  return problems;
}

/** Adds the check of the audit stream, which must contain the line that the database recorded. */
function addAudit(report: CheckReport, files: string[], db: Database): void {
  const problems: string[] = [];
  try {
    const { problem, headProblem, ...walked } = verifyAuditFile(files, auditMemory(db).known());
    report.audit = walked;
    if (problem !== null) problems.push(`${problem.file}, line ${problem.line}: ${problem.reason}`);
    if (headProblem !== null) problems.push(headProblem);
  } catch (error) {
    const { message, path } = error as NodeJS.ErrnoException;
    problems.push(`${message}${rightsAround(path ?? '.', error)}`);
  }
  report.checks.push({ name: 'audit', problems });
  report.ok &&= problems.length === 0;
}

/** A damaged page stops one check; the next ones still run. */
function withDamage<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    const fault = storageFault(error);
    if (fault === 'damaged' || fault === 'io') return error as Error;
    throw error;
  }
}

function describeReport({ checks, digest, audit }: CheckReport): string[] {
  const lines = checks.flatMap(({ name, problems }) =>
    problems.length === 0 ? [`ok: ${name}`] : problems.map((problem) => `problem: ${name}: ${problem}`),
  );
  for (const note of audit?.notes ?? []) lines.push(`note: audit: ${note}`);
  if (audit)
    lines.push(`audit: ${count(audit.lines, 'line')} from ${audit.first ?? 0}, head ${headOf(audit.head)}`);
  return [...lines, `digest: ${digest ?? 'the catalog cannot be read'}`];
}

const headOf = (head: AuditVerdict['head']) => (head === null ? 'none' : `${head.seq} ${head.hash}`);

/** The upgrade of one file by this version. */
interface FileCheck {
  kind: Kind;
  file: string;
  /** Null where there is no file, or this version cannot read it. */
  schema: number | null;
  newest: number;
  /** The files of the missing migrations, in order. */
  migrations: string[];
  /** Why this version cannot use the file. */
  problem: string | null;
}

const fileNames: [Kind, string][] = [
  ['catalog', 'gapstone.db'],
  ['users', 'gapstone-users.db'],
];

/**
 * Prints what this version would migrate in the data folder of an installation; changes nothing, and a server may be
 * using the files. Gives the exit code: 1 where this version would refuse a file. Throws `CommandError`.
 */
function checkUpgrade(folder: string, json: boolean | undefined): 0 | 1 {
  if (!statIfThere(folder)?.isDirectory()) throw new CommandError(`${folder} is not a folder`);
  const files = fileNames.map(([kind, name]) => checkFile(kind, join(folder, name)));
  if (files.every(({ schema, problem }) => schema === null && problem === null))
    throw new CommandError(
      `there is neither ${fileNames.map(([, name]) => name).join(' nor ')} in ${folder}`,
    );
  const ok = files.every(({ problem }) => problem === null);
  print(json, { version: packageVersion, ok, files }, files.map(describeUpgrade));
  return ok ? 0 : 1;
}

function checkFile(kind: Kind, file: string): FileCheck {
  const migrations = listMigrations(kind);
  const checked: FileCheck = {
    kind,
    file,
    schema: null,
    newest: newestSchema(kind),
    migrations: [],
    problem: null,
  };
  if (!isThere(file)) return checked;
  try {
    using sqlite = connectReadOnly(file, kind, { anySchema: true });
    const schema = schemaVersion(sqlite);
    checked.schema = schema;
    const missing = migrations.filter(({ number }) => number > schema);
    checked.migrations = missing.map((each) => basename(each.file));
    const [damage] = damageOf(sqlite, 'quick');
    if (damage !== undefined) throw new CommandError(`${file} is damaged: ${damage.replace(/\s+/g, ' ')}`);
    if (missing.length > 0) requireRoom(copyOf(checked), statSync(file).size);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    checked.problem = error.message;
  }
  return checked;
}

const copyOf = ({ file, newest }: FileCheck) => freeName(`${file}.before-schema-${newest}`);

function describeUpgrade(check: FileCheck): string {
  const { kind, file, schema, newest, migrations, problem } = check;
  if (problem !== null) return `refused: ${problem}`;
  if (schema === null) return `${file}: missing; the next start creates a new ${namesOfKinds[kind]}`;
  if (migrations.length === 0) return `${file}: schema ${schema}, nothing to migrate`;
  return `${file}: schema ${schema}, the next start migrates it to ${newest} (${migrations.join(', ')}), and keeps a copy from before as ${copyOf(check)}`;
}

interface SelfAssessment extends Flags {
  stig?: string;
  version?: string;
  answers?: string;
  hostName?: string;
}

/**
 * Prints a checklist (cklb) for an imported STIG, filled in from a table of answers: by default what Gapstone answers for
 * itself. Throws `CommandError`.
 */
function printSelfAssessment(options: SelfAssessment): void {
  const file = options.answers ?? ourAnswers;
  const answers = readAnswers(textOf(file), file);
  using db = openToLook(readConfig(options));
  try {
    const full = createStigService(db).full(options.stig ?? ourStig, options.version);
    const checklist = toCklb(full, { hostName: options.hostName ?? 'gapstone' });
    const { unanswered, unknown } = answerChecklist(checklist, answers);
    print(false, checklist, JSON.stringify(checklist, null, 2).split('\n'));
    const answered = `${answers.size - unknown.length} of ${count(full.findings.length, 'rule')} answered`;
    tell(`${full.release.title} ${full.release.version}: ${answered}`);
    if (unanswered.length > 0) tell(`without an answer: ${unanswered.join(', ')}`);
    if (unknown.length > 0) tell(`answers for rules that the STIG lacks: ${unknown.join(', ')}`);
  } catch (error) {
    if (error instanceof AppError) throw new CommandError(`${error.message}: import it first`);
    throw error;
  }
}
