import type { Ask } from '../../base/ask.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { fileText, largestText, mostReferences } from '../../checklists/reference-lookup.ts';
import { type FileReference, referenceColumns } from '../../checklists/reference-schema.ts';
import { referencesIn } from '../../checklists/references.ts';
import type { NamedFile } from '../../checklists/upgrade-several.ts';
import { bytesOf, type Upgraded } from '../../checklists/upload.ts';
import { toCsv } from '../../http/columns.ts';
import type { Form } from '../../http/env.ts';
import { renderPage } from '../parts/layout.tsx';
import type { PageFrame } from '../parts/view.ts';
import { foundReferencesPage } from './references-page.tsx';

const mostFiles = 100;

/** The texts of a form, of which a pasted one has no name. Throws a 400 for too many files, a 413 for more than 8 MiB. */
export function citingTexts(form: Form): NamedFile[] {
  const text = form.get('text');
  const files = form.files('file').map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }));
  if (files.length > mostFiles) throw badRequest(`Choose at most ${mostFiles} files at once`, 'file');
  const texts = text.trim() === '' ? files : [{ name: '', bytes: Buffer.from(text) }, ...files];
  const size = texts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (size > largestText)
    throw new AppError('PAYLOAD_TOO_LARGE', `The texts are larger than ${largestText} bytes together`);
  return texts;
}

/**
 * Finds the ids of texts (rule D39.2): the answer is a csv, or a page whose forms name the texts by `id`. Throws a 400
 * for no text and for more than 50,000 ids.
 */
export async function citedWork(
  ask: Ask,
  texts: NamedFile[],
  id: string,
  form: Form,
  frame: PageFrame,
): Promise<Upgraded> {
  const found: FileReference[] = [];
  const skipped: string[] = [];
  if (texts.length === 0) throw badRequest('Paste a text, or choose files', 'text');
  for (const { name, bytes } of texts) {
    const text = name === '' ? bytes.toString() : fileText(bytes);
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
  return { bytes: bytesOf(renderPage(foundReferencesPage({ found, skipped, id }), frame)), file: null };
}
