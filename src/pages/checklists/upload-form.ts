import type { Ask } from '../../base/ask.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import type { OldChecklist } from '../../checklists/cklb-reader.ts';
import { workbook } from '../../checklists/emass-upload.ts';
import { maxChecklist, readChecklist } from '../../checklists/read-checklist.ts';
import type { ScanResults } from '../../checklists/results-reader.ts';
import { fromResultsOf, inspectionOf, isResults, readResults } from '../../checklists/results-upload.ts';
import { upgradeBody } from '../../checklists/schema.ts';
import { unzipped } from '../../checklists/unzip.ts';
import type { NamedFile } from '../../checklists/upgrade-several.ts';
import { bytesOf, fileOf, type Upgraded, upgradeOf } from '../../checklists/upload.ts';
import type { Form } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import { renderPage } from '../parts/layout.tsx';
import type { PageFrame, View } from '../parts/view.ts';
import { emassPage, sheetOf } from './emass-page.tsx';
import { fromResultsPage, inspectionPage } from './results-report.tsx';
import { askedReview } from './review-table.tsx';
import { upgradedSeveralPage } from './several-report.tsx';
import {
  type AttachedFiles,
  type EmassFields,
  emassFields,
  noFiles,
  type StigChoice,
  toolPage,
  type UpgradeForm,
  type UploadTool,
} from './upgrade-form.tsx';
import { upgradedPage } from './upgrade-report.tsx';
import { inspectSeveral, mostUploaded, severalFile, severalFiles, severalOf } from './upload-several.ts';

/** Characters of a field: no valid value is longer, and a page need not repeat more. */
const longestField = 1000;

/** The fields beside the file, for the form to show them again. */
export function typedIn(form: Form): UpgradeForm {
  const given = (name: string) => form.get(name).slice(0, longestField).trim();
  return {
    ...(Object.fromEntries(emassFields.map((name) => [name, given(name)])) as EmassFields),
    sheet: given('sheet') || 'test-results',
    slug: form.get('slug').slice(0, longestField),
    version: given('version'),
    hostName: given('hostName'),
    onChange: form.get('onChange').slice(0, longestField) || 'keep',
    overwrite: form.get('overwrite') === 'true' ? 'true' : '',
    allowOlder: form.get('allowOlder') === 'true' ? 'true' : '',
    format: form.get('format').slice(0, longestField) || 'cklb',
  };
}

/** The files of a form: unchanged, for the page to send them again, and parsed. */
export interface UploadedFiles {
  checklist: Buffer | null;
  results: Buffer | null;
  /** Null without a checklist, and for an inspection or a sheet. */
  old: OldChecklist | null;
  scan: ScanResults | null;
  /** Several checklists, which the work reads one by one; then all other fields are empty. */
  several: NamedFile[];
}

/** Reads the files of a form: newly selected ones, zips opened, or those that a page sent again. Throws 400, 413. */
export async function readUploaded(form: Form, tool: UploadTool): Promise<UploadedFiles> {
  const none = { checklist: null, results: null, old: null, scan: null, several: [] };
  const chosen = form.files('file').map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }));
  const selected = await unzipped(chosen, mostUploaded);
  const several = severalFiles(selected, form, tool);
  if (several.length > 0) return { ...none, several };
  const { checklist, results } = filesOf(selected, form);
  if (tool === 'inspect') return { ...none, checklist, results };
  const old = checklist === null ? null : readChecklist(checklist);
  const scan = results === null ? null : readResults(results);
  return { ...none, checklist, results, old, scan };
}

const optionsBody = upgradeBody.omit({ checklist: true });

/** Does what the form asks: the answer is a page with a report, or the new checklist as a file. Throws a 400. */
export async function formWork(
  ask: Ask,
  files: UploadedFiles,
  form: Form,
  tool: UploadTool,
  frame: PageFrame,
): Promise<Upgraded> {
  const slug = form.get('slug');
  const version = form.get('version').trim();
  const hostName = form.get('hostName').trim();
  const asked = check(optionsBody, {
    onChange: form.get('onChange') || 'keep',
    format: form.get('format') || 'cklb',
    allowOlder: form.get('allowOlder') === 'true',
    ...(slug === '' ? {} : { slug }),
    ...(version === '' ? {} : { version }),
    ...(hostName === '' ? {} : { hostName }),
  });
  const page = (view: View) => ({ bytes: bytesOf(renderPage(view, frame)), file: null });
  const typed = typedIn(form);
  const attached = attachedOf(files);
  const review = askedReview(form);
  if (tool === 'inspect') {
    const { several } = files;
    const inspected =
      several.length > 0
        ? await inspectSeveral(ask, several)
        : [
            {
              ...{ name: '', problem: null },
              stigs: (await inspectionOf(ask, (files.checklist ?? files.results)!)).stigs,
            },
          ];
    return page(inspectionPage({ inspected, form: typed, files: attached, several }));
  }
  // A report carries `as` for its download; its filters send `view` beside it.
  const asFile = form.get('as') === 'file' && form.get('view') === '';
  if (tool === 'emass') {
    const made = await sheetOf(ask, files.several, typed);
    return asFile
      ? workbook(made, frame.banner)
      : page(emassPage({ made, form: typed, files: files.several }));
  }
  if (files.several.length > 0) {
    const options = { ...asked, overwrite: typed.overwrite === 'true', banner: frame.banner };
    const done = await severalOf(ask, files.several, options);
    return asFile
      ? severalFile(done)
      : page(upgradedSeveralPage({ done, form: typed, files: files.several, tool, review }));
  }
  const { old, scan } = files;
  if (scan !== null) {
    const { banner } = frame;
    const options = { ...asked, overwrite: typed.overwrite === 'true', banner };
    const made = await fromResultsOf(ask, scan, options, old);
    return asFile
      ? fileOf(made, asked.format)
      : page(fromResultsPage({ made, old, form: typed, files: attached, tool, review }));
  }
  const upgrade = await upgradeOf(ask, old!, asked);
  if (asFile) return fileOf(upgrade, asked.format);
  const { report } = upgrade;
  return page(
    upgradedPage({
      upgrade,
      tool,
      review,
      form: { ...typed, slug: report.to.slug },
      isNamed: slug === '',
      files: attached,
    }),
  );
}

function attachedOf({ checklist, results }: UploadedFiles): AttachedFiles {
  return {
    ...(checklist === null ? {} : { checklist: checklist.toString('base64') }),
    ...(results === null ? {} : { results: results.toString('base64') }),
  };
}

/** Bytes of files that a refused form sends again: the reader may add others of full size. */
const mostBroughtBack = 11 * 1024 * 1024;

/** The page with the form and the reason of the refusal; the reader need not select readable files again. */
export function refusedForm(
  tool: UploadTool,
  form: UpgradeForm,
  problem: string,
  uploaded: UploadedFiles | null,
  stigs: StigChoice[],
  frame: PageFrame,
): Uint8Array<ArrayBuffer> {
  const size = (uploaded?.checklist?.length ?? 0) + (uploaded?.results?.length ?? 0);
  const files = uploaded !== null && size <= mostBroughtBack ? attachedOf(uploaded) : noFiles;
  return bytesOf(renderPage(toolPage({ tool, form, stigs, problem, files }), frame));
}

/** The files by content, at most one of each kind. A selected file replaces one that a page sent again. */
function filesOf(selected: NamedFile[], form: Form): { checklist: Buffer | null; results: Buffer | null } {
  const contents = selected.map(({ bytes }) => bytes);
  const scans = contents.filter((bytes) => isResults(bytes));
  const checklists = contents.filter((bytes) => !isResults(bytes));
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
