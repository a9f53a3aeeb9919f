import { AppError, badRequest } from '../../base/errors.ts';
import { zipOf } from '../../base/zip.ts';
import { maxChecklist } from '../../checklists/read-checklist.ts';
import { isResults } from '../../checklists/results-upload.ts';
import type { UpgradeBody } from '../../checklists/schema.ts';
import {
  type NamedFile,
  reportColumns,
  type UpgradedFile,
  upgradeSeveral,
} from '../../checklists/upgrade-several.ts';
import { type Found, longestMarking, type Upgraded, type Wanted } from '../../checklists/upload.ts';
import { toCsv } from '../../http/columns.ts';
import type { Form } from '../../http/env.ts';

/** Bytes of files that a form takes: as base64, as a page brings them back, they are no more than it may have. */
export const mostUploaded = 48 * 1024 * 1024;

/** Checklists that are upgraded at once. */
const mostFiles = 100;

/** What the form says beside its files. */
type SeveralOptions = Omit<UpgradeBody, 'checklist' | 'slug'> & { slug?: string | undefined };

/** Several checklists: those that were selected, or as a page brings them back; none where it is one. Throws 400, 413. */
export function severalFiles(form: Form): NamedFile[] {
  const selected = form.files('file').map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }));
  const names = form.all('checklistName');
  const broughtBack = form.all('checklist').map((text, index) => ({
    name: names[index] ?? '',
    bytes: Buffer.from(text, 'base64'),
  }));
  const files = selected.length > 0 ? selected : broughtBack;
  // What is no checklist among several is told beside them.
  if (files.filter(({ bytes }) => !isResults(bytes)).length < 2) return [];
  if (form.get('as') === 'inspect') throw badRequest('Inspect one checklist at a time');
  if (files.length > mostFiles) throw badRequest(`Choose at most ${mostFiles} checklists at once`);
  if (files.some(({ bytes }) => bytes.length > maxChecklist))
    throw new AppError('PAYLOAD_TOO_LARGE', `One of the checklists is larger than ${maxChecklist} bytes`);
  if (files.reduce((sum, { bytes }) => sum + bytes.length, 0) > mostUploaded)
    throw new AppError('PAYLOAD_TOO_LARGE', `The files are larger than ${mostUploaded} bytes`);
  return files;
}

/** Upgrades several checklists as the rest of the form says. Throws a 400 for what makes no sense for several. */
export function* severalOf(
  files: NamedFile[],
  { hostName, ...asked }: SeveralOptions,
): Generator<Wanted, UpgradedFile[], Found> {
  if (hostName !== undefined)
    throw badRequest('Several checklists keep their own host names: leave the host name empty');
  if (asked.slug === undefined && asked.version !== undefined)
    throw badRequest('Choose the STIG that the release is of, or leave the release empty');
  return yield* upgradeSeveral(files, asked);
}

/** One zip of the upgraded checklists, and the report on each rule of each file. */
export async function severalFile(done: UpgradedFile[]): Promise<Upgraded> {
  const report = toCsv(
    reportColumns,
    done.flatMap(({ rows }) => rows),
  );
  const made = done.flatMap((each) => each.made ?? []);
  const bytes = await zipOf([{ name: 'upgrade-report.csv', content: Buffer.from(report) }, ...made]);
  const words = done.map(({ classification }) => classification?.trim() ?? '').filter((word) => word !== '');
  const marking = [...new Set(words)].join(', ').slice(0, longestMarking).toWellFormed();
  return {
    bytes,
    file: { name: 'upgraded_checklists.zip', type: 'zip', marking: marking === '' ? null : marking },
  };
}
