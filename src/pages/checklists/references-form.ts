import type { Ask } from '../../base/ask.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { type FileReference, referenceColumns } from '../../checklists/reference-columns.ts';
import { fileText, largestText, mostReferences } from '../../checklists/reference-scan.ts';
import { referencesIn } from '../../checklists/reference-upload.ts';
import { bytesOf, type Upgraded } from '../../checklists/upload.ts';
import { toCsv } from '../../http/columns.ts';
import type { Form } from '../../http/env.ts';
import { renderPage } from '../parts/layout.tsx';
import type { PageFrame } from '../parts/view.ts';
import { type CitingTexts, foundReferencesPage, referencesPage } from './references-page.tsx';

const mostFiles = 100;

/** Reads the texts of a form. Throws a 400 without any and for too many files, a 413 for more than 8 MiB together. */
export function citingTexts(form: Form): CitingTexts {
  const text = form.get('text');
  const selected = form.files('file').map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }));
  const names = form.all('name');
  const again = form.all('content').map((content, at) => {
    return { name: names[at] ?? '', bytes: Buffer.from(content, 'base64') };
  });
  const files = selected.length > 0 ? selected : again;
  if (text.trim() === '' && files.length === 0) throw badRequest('Paste a text, or choose files', 'text');
  if (files.length > mostFiles) throw badRequest(`Choose at most ${mostFiles} files at once`, 'file');
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, Buffer.byteLength(text));
  if (size > largestText)
    throw new AppError('PAYLOAD_TOO_LARGE', `The texts are larger than ${largestText} bytes together`);
  return { text, files };
}

/** Finds the ids of texts (rule D39.2): the answer is a page, or a csv. Throws a 400 for more than 50,000 ids. */
export async function citedWork(
  ask: Ask,
  texts: CitingTexts,
  form: Form,
  frame: PageFrame,
): Promise<Upgraded> {
  const found: FileReference[] = [];
  const skipped: string[] = [];
  const pasted = texts.text.trim() === '' ? [] : [{ name: '', text: texts.text as string | null }];
  for (const { name, text } of [
    ...pasted,
    ...texts.files.map(({ name, bytes }) => ({ name, text: fileText(bytes) })),
  ]) {
    if (text === null) skipped.push(name);
    else {
      const { references } = await referencesIn(ask, text, mostReferences - found.length);
      for (const each of references) found.push({ file: name, ...each });
    }
  }
  if (form.get('as') === 'csv')
    return {
      bytes: bytesOf(toCsv(referenceColumns, found)),
      file: { name: 'references.csv', type: 'csv', marking: null },
    };
  return { bytes: bytesOf(renderPage(foundReferencesPage({ found, skipped, texts }), frame)), file: null };
}

/** The form again with the reason of its refusal. Files are to be chosen again. */
export function refusedTexts(text: string, problem: string, frame: PageFrame): Uint8Array<ArrayBuffer> {
  return bytesOf(renderPage(referencesPage({ text, problem }), frame));
}
