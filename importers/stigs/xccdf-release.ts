import { ImportError } from '../../src/read/import-error.ts';
import { monthOfShort } from '../../src/read/months.ts';
import type { XccdfRelease } from './xccdf-record.ts';

const releaseInfo = /^(?:Release: ?(\S+))? ?(?:Benchmark Date: ?(\d{1,2}) ([A-Za-z]+)\.? (\d{4}))?$/i;
const maxLength = 200;

/** The release as written, and the benchmark date as YYYY-MM-DD. */
interface ReleaseInfo {
  release: string | null;
  benchmarkDate: string | null;
}

/** Reads a `release-info` text (rule F1.2); throws `ImportError` for another form. */
export function readReleaseInfo(text: string): ReleaseInfo {
  const match = text.length > maxLength ? null : releaseInfo.exec(text.replace(/\s+/g, ' ').trim());
  if (!match) throw new ImportError(`the release-info "${text.trim().slice(0, 60)}" is not understood`);
  const [, release, day, month, year] = match;
  if (year === undefined) return { release: release ?? null, benchmarkDate: null };
  const number = monthOfShort(month!);
  const date = `${year}-${String(number).padStart(2, '0')}-${day!.padStart(2, '0')}`;
  if (number === 0 || !isDate(date))
    throw new ImportError(`the benchmark date "${day} ${month} ${year}" is not a date`);
  return { release: release ?? null, benchmarkDate: date };
}

/** True for a calendar date YYYY-MM-DD from the year 1 on. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
}

/** The version of a release: `V2R9` (rule F2.1). Throws `ImportError` for a part that is not a number. */
export function versionOf(version: string, release: string | null): string {
  if (!/^\d{1,6}$/.test(version))
    throw new ImportError(`the version "${version.slice(0, 40)}" is not a number`);
  if (release === null) throw new ImportError('the release-info does not name a release');
  if (!/^\d{1,6}(\.\d{1,6})*$/.test(release)) {
    throw new ImportError(`the release "${release.slice(0, 40)}" is not a number`);
  }
  return `V${Number(version)}R${release.replace(/\d+/g, (digits) => String(Number(digits)))}`;
}

/** Orders releases by code point (rule F2.1): the greatest is the newest; the file's hash breaks ties. */
export function releaseOrderOf(
  { version, benchmarkDate, statusDate }: Pick<XccdfRelease, 'version' | 'benchmarkDate' | 'statusDate'>,
  sha256: string,
): string {
  const [number = '', ...components] = version.match(/\d+/g)!.map((digits) => digits.padStart(6, '0'));
  return [number, components.join('.'), benchmarkDate ?? '', statusDate ?? '', sha256].join(' ');
}
