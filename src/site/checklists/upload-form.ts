import { AppError, badRequest } from '../../base/errors.ts';
import type { OldChecklist } from '../../checklists/cklb-reader.ts';
import { checklistText, maxChecklist, readChecklist } from '../../checklists/read-checklist.ts';
import type { ScanResults } from '../../checklists/results-reader.ts';
import {
  fromResultsOf,
  inspectionOf,
  isResults,
  readResults,
  resultsFile,
} from '../../checklists/results-upload.ts';
import { upgradeBody } from '../../checklists/schema.ts';
import type { NamedFile } from '../../checklists/upgrade-several.ts';
import { bytesOf, fileOf, upgradeOf, type Work } from '../../checklists/upload.ts';
import type { Form } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import { renderPage } from '../parts/layout.tsx';
import type { PageFrame, View } from '../parts/view.ts';
import { fromResultsPage, inspectionPage } from './results-report.tsx';
import { upgradedSeveralPage } from './several-report.tsx';
import {
  type AttachedFiles,
  noFiles,
  type StigChoice,
  type UpgradeForm,
  upgradePage,
} from './upgrade-form.tsx';
import { upgradedPage } from './upgrade-report.tsx';
import { mostUploaded, severalFile, severalFiles, severalOf } from './upload-several.ts';

/** No field takes more; a page that brings back what was typed need not bring back all of it. */
const longestField = 1000;

/** What was typed beside the file, to stand in the form again. */
export function typedIn(form: Form): UpgradeForm {
  return {
    slug: form.get('slug').slice(0, longestField),
    version: form.get('version').slice(0, longestField).trim(),
    hostName: form.get('hostName').slice(0, longestField).trim(),
    onChange: form.get('onChange').slice(0, longestField) || 'keep',
    overwrite: form.get('overwrite') === 'true' ? 'true' : '',
    format: form.get('format').slice(0, longestField) || 'cklb',
  };
}

/** The files of a form: as they came, for the page to bring them back, and what was read of them. */
export interface UploadedFiles {
  checklist: Buffer | null;
  results: Buffer | null;
  /** Null where there is none, and where it is only looked at. */
  old: OldChecklist | null;
  scan: ScanResults | null;
  /** What was noticed while the bytes of the checklist were decoded. */
  warnings: string[];
  /** Several checklists, which are read one after the other while they are worked on; then there is nothing else. */
  several: NamedFile[];
}

/** Reads the files of a form: those that were selected, or as a page brings them back. Throws 400, 413. */
export function readUploaded(form: Form): UploadedFiles {
  const none = { checklist: null, results: null, old: null, scan: null, warnings: [], several: [] };
  const several = severalFiles(form);
  if (several.length > 0) return { ...none, several };
  const { checklist, results } = filesOf(form);
  if (form.get('as') === 'inspect') return { ...none, checklist, results };
  const { text, warnings } = checklist === null ? { text: '', warnings: [] } : checklistText(checklist);
  const old = checklist === null ? null : readChecklist(text);
  const scan = results === null ? null : readResults(results);
  return { ...none, checklist, results, old, scan, warnings };
}

const optionsBody = upgradeBody.omit({ checklist: true }).partial({ slug: true });

/** Reads the rest of the form: the answer is a page with a report, or the new checklist as a file. Throws a 400. */
export function* formWork(files: UploadedFiles, form: Form, frame: PageFrame): Work {
  const slug = form.get('slug');
  const version = form.get('version').trim();
  const hostName = form.get('hostName').trim();
  const asked = check(optionsBody, {
    onChange: form.get('onChange') || 'keep',
    format: form.get('format') || 'cklb',
    ...(slug === '' ? {} : { slug }),
    ...(version === '' ? {} : { version }),
    ...(hostName === '' ? {} : { hostName }),
  });
  const page = (view: View) => ({ bytes: bytesOf(renderPage(view, frame)), file: null });
  const typed = typedIn(form);
  const attached = attachedOf(files);
  if (form.get('as') === 'inspect') {
    const inspection = yield* inspectionOf((files.checklist ?? files.results)!);
    return page(inspectionPage({ inspection, form: typed, files: attached }));
  }
  const asFile = form.get('as') === 'file';
  if (files.several.length > 0) {
    const done = yield* severalOf(files.several, asked);
    return asFile
      ? severalFile(done)
      : page(upgradedSeveralPage({ done, form: typed, files: files.several }));
  }
  const { old, scan, warnings } = files;
  if (scan !== null) {
    const { banner } = frame;
    const options = { ...asked, overwrite: typed.overwrite === 'true', banner };
    const made = yield* fromResultsOf(scan, options, old);
    return asFile
      ? resultsFile(made, asked.format)
      : page(fromResultsPage({ report: made.report, form: typed, files: attached }));
  }
  const { upgrade, target } = yield* upgradeOf(old!, asked);
  if (asFile) return fileOf(upgrade, asked.format, target);
  const { report } = upgrade;
  return page(
    upgradedPage({
      report,
      form: { ...typed, slug: report.to.slug },
      isNamed: slug === '',
      files: attached,
      warnings,
    }),
  );
}

/** Files as the fields of a page bring them back. */
function attachedOf({ checklist, results }: UploadedFiles): AttachedFiles {
  return {
    ...(checklist === null ? {} : { checklist: checklist.toString('base64') }),
    ...(results === null ? {} : { results: results.toString('base64') }),
  };
}

/** Bytes of files that come back with a refused form: beside them others of full size may still be sent. */
const mostBroughtBack = 11 * 1024 * 1024;

/** The page with the form again, and why it was refused; files that could be read need not be selected again. */
export function refusedForm(
  form: UpgradeForm,
  problem: string,
  uploaded: UploadedFiles | null,
  stigs: StigChoice[],
  frame: PageFrame,
): Uint8Array<ArrayBuffer> {
  const size = (uploaded?.checklist?.length ?? 0) + (uploaded?.results?.length ?? 0);
  const files = uploaded !== null && size <= mostBroughtBack ? attachedOf(uploaded) : noFiles;
  return bytesOf(renderPage(upgradePage({ form, stigs, problem, files }), frame));
}

/** The files, told apart by what they are; one of each kind at most, and one that was selected before one that came back. */
function filesOf(form: Form): { checklist: Buffer | null; results: Buffer | null } {
  const selected = form.files('file').map(({ bytes }) => Buffer.from(bytes));
  const scans = selected.filter((bytes) => isResults(bytes));
  const checklists = selected.filter((bytes) => !isResults(bytes));
  if (scans.length > 1 || checklists.length > 1)
    throw badRequest('Choose one checklist, one file of scan results, or one of each');
  const broughtBack = (name: string) => {
    const bytes = Buffer.from(form.get(name), 'base64');
    return bytes.length === 0 ? null : bytes;
  };
  const checklist = checklists[0] ?? broughtBack('checklist');
  const results = scans[0] ?? broughtBack('results');
  if (!checklist?.length && results === null)
    throw badRequest('Choose a checklist: a .ckl or .cklb file, or scan results');
  if (checklist !== null && checklist.length > maxChecklist)
    throw new AppError('PAYLOAD_TOO_LARGE', `The checklist is larger than ${maxChecklist} bytes`);
  if ((checklist?.length ?? 0) + (results?.length ?? 0) > mostUploaded)
    throw new AppError('PAYLOAD_TOO_LARGE', `The files are larger than ${mostUploaded} bytes`);
  return { checklist, results };
}
