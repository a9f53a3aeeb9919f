import type { Ask } from '../base/ask.ts';
import { AppError, type ErrorCode } from '../base/errors.ts';
import {
  catalogPage,
  cciList,
  controlFile,
  controlList,
  frameworkList,
  loadedCatalogs,
} from '../catalog/controls/jobs.ts';
import {
  controlsOfCcis,
  mappingFile,
  pathsOfPairs,
  resolvedPaths,
  rulesOfControl,
} from '../catalog/crosswalk/jobs.ts';
import {
  automationReport,
  coverageReport,
  listAutomation,
  shownCoverage,
  stigAutomation,
  worksheetOf,
  worksheetReport,
} from '../catalog/crosswalk/reports.ts';
import { documentFile, roleFile } from '../catalog/guidance/jobs.ts';
import { catalogSummary, importedSources, loadedContent } from '../catalog/jobs.ts';
import { openCitation, searchFile, searchPage } from '../catalog/search/jobs.ts';
import {
  changesSince,
  changesSinceFile,
  comparedReleases,
  comparedReleasesFile,
  ruleHistory,
  stigBatch,
  stigFile,
} from '../catalog/stigs/jobs.ts';
import { listChecklists, uploadJobs } from '../checklists/jobs.ts';
import { collectionsJson, listFindingsJson, listsJson } from '../collections/jobs.ts';
import { pastedStigs } from '../collections/pasted.ts';
import type { Database } from '../db/database.ts';
import { answerTool } from '../mcp/tools.ts';
import { homeOf } from '../pages/content/jobs.ts';
import { controlLinks } from '../pages/controls/control-links.ts';
import { shownRule } from '../pages/rules/jobs.ts';
import { searchSite } from '../pages/search/jobs.ts';
import { comparedPage } from '../pages/stigs/jobs.ts';
import type { Services } from '../services.ts';

export type Job = (services: Services, ...args: never[]) => unknown;

/**
 * The jobs by the names under which they are sent to workers. A job is a synchronous function of the services and of
 * plain arguments; its result is a plain value, or has `bytes` that are transferred.
 */
export const jobs = {
  answerTool,
  automationReport,
  catalogPage,
  catalogSummary,
  cciList,
  changesSince,
  changesSinceFile,
  collectionsJson,
  comparedPage,
  comparedReleases,
  comparedReleasesFile,
  controlFile,
  controlLinks,
  controlList,
  controlsOfCcis,
  coverageReport,
  documentFile,
  frameworkList,
  homeOf,
  importedSources,
  listAutomation,
  listChecklists,
  listFindingsJson,
  listsJson,
  loadedCatalogs,
  loadedContent,
  mappingFile,
  openCitation,
  pastedStigs,
  pathsOfPairs,
  resolvedPaths,
  roleFile,
  ruleHistory,
  rulesOfControl,
  searchFile,
  searchPage,
  searchSite,
  shownCoverage,
  shownRule,
  stigAutomation,
  stigBatch,
  stigFile,
  ...uploadJobs,
  worksheetOf,
  worksheetReport,
} satisfies Record<string, Job>;

/** Milliseconds that a job may compute, where they are more than those of others. */
export const longerLimits: Record<string, number> = {
  // A list of a thousand STIGs: each is written and compressed.
  listChecklists: 60_000,
};

/** A job as it is sent to a worker. */
export interface JobRequest {
  name: string;
  args: unknown[];
}

/** Errors of the application keep their code, message, headers and field; any other error keeps its code and stack. */
export type JobAnswer =
  | { value: unknown }
  | {
      refused: {
        code: ErrorCode;
        message: string;
        headers: Record<string, string>;
        field: string | undefined;
      };
    }
  | { failed: { message: string; code: unknown; stack: string | undefined } };

/** Runs a job inside one read transaction, so that all its queries see one state of both databases. */
export const runJob = (db: Database, services: Services, job: Job, args: unknown[]): unknown =>
  db.read(() => job(services, ...(args as never[])));

/** Runs jobs in the calling thread: for databases in memory, which no other thread can open. */
export const askInline =
  (db: Database, services: Services): Ask =>
  async (job, ...args) => {
    if (!known.has(job as unknown as Job)) throw new Error(`${job.name} is not listed in jobs.ts`);
    return runJob(db, services, job as unknown as Job, args) as never;
  };

const known = new Set<Job>(Object.values(jobs));

export function answerOfError(error: unknown): JobAnswer {
  if (error instanceof AppError) {
    const { code, message, headers, field } = error;
    return { refused: { code, message, headers, field } };
  }
  const { message, code, stack } = error as Error & { code?: unknown };
  return { failed: { message, code, stack } };
}

/** The value of an answer. Throws the error that the job threw. */
export function valueOfAnswer(answer: JobAnswer): unknown {
  if ('value' in answer) return answer.value;
  if ('refused' in answer) {
    const { code, message, headers, field } = answer.refused;
    throw new AppError(code, message, headers, field);
  }
  const { message, code, stack } = answer.failed;
  throw Object.assign(new Error(message), { code, stack });
}
