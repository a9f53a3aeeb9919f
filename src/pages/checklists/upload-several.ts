import type { Ask } from '../../base/ask.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { zipOf } from '../../base/zip.ts';
import { maxChecklist } from '../../checklists/read-checklist.ts';
import { inspectionOf, isResults } from '../../checklists/results-upload.ts';
import type { UpgradeOptions } from '../../checklists/schema.ts';
import {
  type NamedFile,
  reportColumns,
  type ScanOptions,
  type UpgradedFile,
  upgradeSeveral,
} from '../../checklists/upgrade-several.ts';
import { longestMarking, type Upgraded } from '../../checklists/upload.ts';
import { toCsv } from '../../http/columns.ts';
import type { Form } from '../../http/env.ts';
import type { InspectedFile } from './results-report.tsx';
import type { UploadTool } from './upgrade-form.tsx';

/** Bytes of files in a form: in base64 too, they fit into the largest body. */
export const mostUploaded = 48 * 1024 * 1024;

const mostFiles = 100;

/**
 * Several files, newly selected or sent again by a page; empty for a single checklist, with scan results or without. A
 * sheet takes one as several. Throws 400, 413.
 */
export function severalFiles(selected: NamedFile[], form: Form, tool: UploadTool): NamedFile[] {
  const names = form.all('checklistName');
  const broughtBack = form.all('checklist').map((text, index) => ({
    name: names[index] ?? '',
    bytes: Buffer.from(text, 'base64'),
  }));
  const files = selected.length > 0 ? selected : broughtBack;
  const scans = files.filter(({ bytes }) => isResults(bytes)).length;
  const checklists = files.length - scans;
  if (tool === 'emass' && checklists === 0)
    throw badRequest('Choose checklists: .ckl or .cklb files, or a zip');
  // One checklist with scan results of several hosts: nobody could say which to merge.
  const isSeveral =
    checklists > 1 ||
    (checklists === 0 && scans > 1) ||
    tool === 'emass' ||
    (tool === 'inspect' && files.length > 1);
  if (!isSeveral) return [];
  if (files.length > mostFiles) throw badRequest(`Choose at most ${mostFiles} checklists at once`);
  if (files.some(({ bytes }) => bytes.length > maxChecklist))
    throw new AppError('PAYLOAD_TOO_LARGE', `One of the checklists is larger than ${maxChecklist} bytes`);
  if (files.reduce((sum, { bytes }) => sum + bytes.length, 0) > mostUploaded)
    throw new AppError('PAYLOAD_TOO_LARGE', `The files are larger than ${mostUploaded} bytes`);
  return files;
}

/** Upgrades several checklists with the options of the form. Throws a 400 for options of a single one. */
export async function severalOf(
  ask: Ask,
  files: NamedFile[],
  { hostName, ...asked }: UpgradeOptions & ScanOptions,
): Promise<UpgradedFile[]> {
  if (hostName !== undefined)
    throw badRequest('Several checklists keep their own host names: leave the host name empty');
  if (asked.slug === undefined && asked.version !== undefined)
    throw badRequest('Choose the STIG that the release is of, or leave the release empty');
  return upgradeSeveral(ask, files, asked);
}

/** Inspects each file; one that cannot be read says why, and stops no other. */
export async function inspectSeveral(ask: Ask, files: NamedFile[]): Promise<InspectedFile[]> {
  const done: InspectedFile[] = [];
  for (const { name, bytes } of files)
    try {
      done.push({ name, stigs: (await inspectionOf(ask, bytes)).stigs, problem: null });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      done.push({ name, stigs: [], problem: error.message });
    }
  return done;
}

/** One zip of the upgraded checklists, with the report on each rule of each file. */
export function severalFile(done: UpgradedFile[]): Upgraded {
  const report = toCsv(
    reportColumns,
    done.flatMap(({ rows }) => rows),
  );
  const made = done.flatMap((each) => each.made ?? []);
  const bytes = zipOf([{ name: 'upgrade-report.csv', content: Buffer.from(report) }, ...made]);
  const words = done.map(({ classification }) => classification?.trim() ?? '').filter((word) => word !== '');
  const marking = [...new Set(words)].join(', ').slice(0, longestMarking).toWellFormed();
  return {
    bytes,
    file: { name: 'upgraded_checklists.zip', type: 'zip', marking: marking === '' ? null : marking },
  };
}
