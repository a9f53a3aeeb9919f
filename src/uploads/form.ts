import { maxChecklist } from '../checklists/read.ts';
import type { Form } from '../env.ts';
import { AppError, badRequest } from '../errors.ts';
import { upgradeBody } from '../schemas/checklist-upgrade.ts';
import { check } from '../schemas/common.ts';
import { renderPage } from '../web/layout.tsx';
import { type UpgradeForm, upgradedPage } from '../web/upgrade.tsx';
import type { Frame } from '../web/view.ts';
import { bytesOf, fileOf, type ReadUpload, readUpload } from './read.ts';

/** No field takes more; a page that brings back what was typed need not bring back all of it. */
const longestField = 1000;

/** What was typed beside the file, to stand in the form again. */
export function typedIn(form: Form): UpgradeForm {
  return {
    slug: form.get('slug').slice(0, longestField),
    version: form.get('version').slice(0, longestField).trim(),
    hostName: form.get('hostName').slice(0, longestField).trim(),
    onChange: form.get('onChange').slice(0, longestField) || 'keep',
  };
}

/** Reads the form of the page: the answer is the page with the report, or the upgraded checklist as a file. Throws 400, 413. */
export function readFormUpload(form: Form, frame: Frame): ReadUpload {
  const bytes = checklistOf(form);
  const version = form.get('version').trim();
  const hostName = form.get('hostName').trim();
  const body = check(upgradeBody, {
    slug: form.get('slug'),
    checklist: textOf(bytes),
    onChange: form.get('onChange') || 'keep',
    ...(version === '' ? {} : { version }),
    ...(hostName === '' ? {} : { hostName }),
  });
  const typed = typedIn(form);
  const asFile = form.get('as') === 'file';
  return readUpload(body, (upgrade) => {
    if (asFile) return fileOf(upgrade);
    const { report } = upgrade;
    const page = upgradedPage({ report, form: typed, checklist: bytes.toString('base64') });
    return { bytes: bytesOf(renderPage(page, frame)), file: null };
  });
}

/** The bytes of the checklist: of the file that was chosen, or as the page with the report brings them back. */
function checklistOf(form: Form): Buffer {
  const file = form.file('file');
  const bytes = Buffer.from(file?.bytes ?? Buffer.from(form.get('checklist'), 'base64'));
  if (bytes.length === 0) throw badRequest('Choose a checklist, a .ckl or .cklb file');
  if (bytes.length > maxChecklist)
    throw new AppError('PAYLOAD_TOO_LARGE', `The checklist is larger than ${maxChecklist} bytes`);
  return bytes;
}

/** The text of a file: UTF-16 where it begins with that byte-order mark, as PowerShell writes it, else UTF-8. */
function textOf(bytes: Buffer): string {
  const mark = bytes.toString('hex', 0, 2);
  const encoding = mark === 'fffe' ? 'UTF-16LE' : mark === 'feff' ? 'UTF-16BE' : 'UTF-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw badRequest(`The checklist is not valid ${encoding}`);
  }
}
