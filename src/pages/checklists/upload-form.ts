import type { Ask } from '../../base/ask.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { zipOf } from '../../base/zip.ts';
import type { OldChecklist } from '../../checklists/cklb-reader.ts';
import { workbook } from '../../checklists/emass.ts';
import { inspectionOf } from '../../checklists/inspect.ts';
import { isResults, maxChecklist, readChecklist } from '../../checklists/read-checklist.ts';
import { fromResultsOf, readResults } from '../../checklists/results.ts';
import type { ScanResults } from '../../checklists/results-reader.ts';
import { type UpgradeOptions, upgradeBody } from '../../checklists/schema.ts';
import {
  type NamedFile,
  reportColumns,
  reportRows,
  type UpgradedFile,
  upgradeSeveral,
} from '../../checklists/upgrade-several.ts';
import { bytesOf, fileOf, longestMarking, type Upgraded, upgradeOf } from '../../checklists/upload.ts';
import { toCsv } from '../../http/columns.ts';
import type { Form } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import { renderPage } from '../parts/layout.tsx';
import type { PageFrame, View } from '../parts/view.ts';
import { emassPage, sheetOf } from './emass-page.tsx';
import {
  fromResultsPage,
  type InspectedFile,
  inspectionPage,
  upgradedPage,
  upgradedSeveralPage,
} from './reports.tsx';
import { filtersOf } from './review-table.tsx';
import { presets, type UpgradeForm, type UploadTool } from './upgrade-form.tsx';

/** Characters of a field: no valid value is longer, and a page need not repeat more. */
const longestField = 1000;

/** Bytes of the files of a form, unpacked, and their number. */
export const mostUploaded = 48 * 1024 * 1024;
const mostFiles = 100;

/** The fields beside the files, for the form to show them again. */
export function fieldsOf(form: Form): UpgradeForm {
  const entries = Object.entries(presets).map(([name, preset]) => [
    name,
    form.get(name).slice(0, longestField).trim() || preset,
  ]);
  return Object.fromEntries(entries) as UpgradeForm;
}

/** The files of a form, read: a checklist and scan results, or several, which the work reads one by one. */
interface ReadFiles {
  files: NamedFile[];
  isSeveral: boolean;
  /** Null without a checklist, for several files, and for an inspection or a sheet. */
  old: OldChecklist | null;
  scan: ScanResults | null;
}

/** Reads the files of a form. Throws a 400 for files that do not belong together or cannot be read, a 413. */
export function readFiles(files: NamedFile[], tool: UploadTool): ReadFiles {
  const scans = files.filter(({ bytes }) => isResults(bytes));
  const checklists = files.filter(({ bytes }) => !isResults(bytes));
  if (tool === 'emass' && checklists.length === 0)
    throw badRequest('Choose checklists: .ckl or .cklb files, or a zip');
  // One checklist with scan results of several hosts: nobody could say which to merge.
  const isSeveral =
    checklists.length > 1 ||
    (checklists.length === 0 && scans.length > 1) ||
    tool === 'emass' ||
    (tool === 'inspect' && files.length > 1);
  if (isSeveral && files.length > mostFiles)
    throw badRequest(`Choose at most ${mostFiles} checklists at once`);
  if (!isSeveral && scans.length > 1)
    throw badRequest('Choose one checklist, one file of scan results, or one of each');
  if (files.every(({ bytes }) => bytes.length === 0))
    throw badRequest('Choose a checklist: a .ckl or .cklb file, or scan results');
  if ((isSeveral ? files : checklists).some(({ bytes }) => bytes.length > maxChecklist))
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `${isSeveral ? 'One of the checklists' : 'The checklist'} is larger than ${maxChecklist} bytes`,
    );
  if (files.reduce((sum, { bytes }) => sum + bytes.length, 0) > mostUploaded)
    throw new AppError('PAYLOAD_TOO_LARGE', `The files are larger than ${mostUploaded} bytes`);
  const isRead = !isSeveral && tool !== 'inspect';
  const [checklist] = checklists;
  const [results] = scans;
  return {
    files,
    isSeveral,
    old: isRead && checklist !== undefined ? readChecklist(checklist.bytes) : null,
    scan: isRead && results !== undefined ? readResults(results.bytes) : null,
  };
}

const optionsBody = upgradeBody.omit({ checklist: true });

function optionsOf(form: Form): UpgradeOptions {
  const options = Object.keys(presets).map((name) => [name, form.get(name).trim()] as const);
  const given = Object.fromEntries(options.filter(([, value]) => value !== ''));
  return check(optionsBody, { ...given, allowOlder: given.allowOlder === 'true' });
}

/**
 * Does what the form asks: the answer is a page with a report, or the new checklist as a file. `id` names the files in the
 * forms of the page. Throws a 400.
 */
export async function formWork(
  ask: Ask,
  { files, isSeveral, old, scan }: ReadFiles,
  id: string,
  form: Form,
  tool: UploadTool,
  frame: PageFrame,
): Promise<Upgraded> {
  const options = optionsOf(form);
  const fields = fieldsOf(form);
  const review = filtersOf(form);
  const shared = { id, tool, form: fields, review };
  const page = (view: View) => ({ bytes: bytesOf(renderPage(view, frame)), file: null });
  // A report carries `as` for its download; its filters send `view` beside it.
  const asFile = form.get('as') === 'file' && form.get('view') === '';
  if (tool === 'inspect') return page(inspectionPage({ ...shared, inspected: await inspected(ask, files) }));
  if (tool === 'emass') {
    const made = await sheetOf(ask, files, fields);
    return asFile ? workbook(made, frame.banner) : page(emassPage({ ...shared, made, files: files.length }));
  }
  const ofScan = { ...options, overwrite: fields.overwrite === 'true', banner: frame.banner };
  if (isSeveral) {
    refuseOfOne(options);
    const done = await upgradeSeveral(ask, files, ofScan);
    return asFile ? severalFile(done) : page(upgradedSeveralPage({ ...shared, done }));
  }
  if (scan !== null) {
    const made = await fromResultsOf(ask, scan, ofScan, old);
    return asFile ? fileOf(made, options.format) : page(fromResultsPage({ ...shared, made, old }));
  }
  const upgrade = await upgradeOf(ask, old!, options);
  if (asFile) return fileOf(upgrade, options.format);
  const named = { ...fields, slug: upgrade.report.to.slug };
  return page(upgradedPage({ ...shared, upgrade, form: named, isNamed: options.slug === undefined }));
}

/** Throws a 400 for options that only a single checklist may have. */
function refuseOfOne({ hostName, slug, version }: UpgradeOptions): void {
  if (hostName !== undefined)
    throw badRequest('Several checklists keep their own host names: leave the host name empty');
  if (slug === undefined && version !== undefined)
    throw badRequest('Choose the STIG that the release is of, or leave the release empty');
}

/** Inspects each file; one of several that cannot be read says why, and stops no other. Throws a 400 for a single one. */
async function inspected(ask: Ask, files: NamedFile[]): Promise<InspectedFile[]> {
  const [only] = files;
  if (files.length === 1)
    return [{ name: '', stigs: (await inspectionOf(ask, only!.bytes)).stigs, problem: null }];
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
function severalFile(done: UpgradedFile[]): Upgraded {
  const report = toCsv(reportColumns, done.flatMap(reportRows));
  const made = done.flatMap((each) => each.made ?? []);
  const bytes = zipOf([{ name: 'upgrade-report.csv', content: Buffer.from(report) }, ...made]);
  const words = done.map(({ classification }) => classification?.trim() ?? '').filter((word) => word !== '');
  const marking = [...new Set(words)].join(', ').slice(0, longestMarking).toWellFormed();
  return {
    bytes,
    file: { name: 'upgraded_checklists.zip', type: 'zip', marking: marking === '' ? null : marking },
  };
}
