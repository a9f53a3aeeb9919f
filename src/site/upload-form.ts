import { AppError, badRequest } from '../base/errors.ts';
import type { OldChecklist } from '../checklists/cklb.ts';
import { checklistText, maxChecklist, readChecklist } from '../checklists/read.ts';
import { upgradeBody } from '../checklists/schema.ts';
import { bytesOf, fileOf, type ReadUpload, readUpload } from '../checklists/upload.ts';
import type { Form } from '../http/env.ts';
import { check } from '../http/schema.ts';
import { renderPage } from './html/layout.tsx';
import { type StigChoice, type UpgradeForm, upgradedPage, upgradePage } from './html/upgrade.tsx';
import type { PageFrame } from './html/view.ts';

/** No field takes more; a page that brings back what was typed need not bring back all of it. */
const longestField = 1000;

/** What was typed beside the file, to stand in the form again. */
export function typedIn(form: Form): UpgradeForm {
  return {
    slug: form.get('slug').slice(0, longestField),
    version: form.get('version').slice(0, longestField).trim(),
    hostName: form.get('hostName').slice(0, longestField).trim(),
    onChange: form.get('onChange').slice(0, longestField) || 'keep',
    format: form.get('format').slice(0, longestField) || 'cklb',
  };
}

/** The checklist of a form: read, and as it came, for the page to bring it back. */
export interface UploadedChecklist {
  old: OldChecklist;
  bytes: Buffer;
  /** What was noticed while its bytes were decoded. */
  warnings: string[];
}

/** Reads the checklist of a form: of the file that was selected, or as a page brings it back. Throws 400, 413. */
export function readUploaded(form: Form): UploadedChecklist {
  const bytes = checklistOf(form);
  const { text, warnings } = checklistText(bytes);
  return { old: readChecklist(text), bytes, warnings };
}

const optionsBody = upgradeBody.omit({ checklist: true }).partial({ slug: true });

/** Reads the rest of the form: the answer is the page with the report, or the upgraded checklist as a file. Throws a 400. */
export function readFormUpload(uploaded: UploadedChecklist, form: Form, frame: PageFrame): ReadUpload {
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
  const typed = typedIn(form);
  const asFile = form.get('as') === 'file';
  return readUpload(uploaded.old, asked, (upgrade, target) => {
    if (asFile) return fileOf(upgrade, asked.format, target);
    const { report } = upgrade;
    const page = upgradedPage({
      report,
      form: { ...typed, slug: report.to.slug },
      isNamed: slug === '',
      checklist: uploaded.bytes.toString('base64'),
      warnings: uploaded.warnings,
    });
    return { bytes: bytesOf(renderPage(page, frame)), file: null };
  });
}

/** Bytes of a checklist that come back with a refused form: beside them another one of full size may still be sent. */
const mostBroughtBack = 11 * 1024 * 1024;

/** The page with the form again, and why it was refused; a checklist that could be read need not be selected again. */
export function refusedForm(
  form: UpgradeForm,
  problem: string,
  uploaded: UploadedChecklist | null,
  stigs: StigChoice[],
  frame: PageFrame,
): Uint8Array<ArrayBuffer> {
  const comesBack = uploaded !== null && uploaded.bytes.length <= mostBroughtBack;
  const checklist = comesBack ? uploaded.bytes.toString('base64') : null;
  return bytesOf(renderPage(upgradePage({ form, stigs, problem, checklist }), frame));
}

/** The bytes of the checklist: of the file that was selected, or as the page with the report brings them back. */
function checklistOf(form: Form): Buffer {
  const file = form.file('file');
  const bytes = Buffer.from(file?.bytes ?? Buffer.from(form.get('checklist'), 'base64'));
  if (bytes.length === 0) throw badRequest('Choose a checklist: a .ckl or .cklb file');
  if (bytes.length > maxChecklist)
    throw new AppError('PAYLOAD_TOO_LARGE', `The checklist is larger than ${maxChecklist} bytes`);
  return bytes;
}
