import { monthOfShort } from '../read/months.ts';

const toolNames = new Map([
  ['scc', 'SCC'],
  ['openscap', 'OpenSCAP'],
  ['evaluate-stig', 'Evaluate-STIG'],
  ['stig-manager', 'STIG Manager'],
]);

/** The tool that wrote results: from `test-system`, a CPE as `SCC 5.8`; else from a creator that is a tool; or null. */
export function toolOf(testSystem: string, creator: string): string | null {
  const stated = testSystem.trim();
  const [, product, version] = /^cpe:(?:\/|2\.3:)[aho]:[^:]*:([^:]+)(?::([^:*]+))?/.exec(stated) ?? [];
  if (product !== undefined)
    return `${toolNames.get(product) ?? product}${version === undefined ? '' : ` ${version}`}`.slice(0, 255);
  if (stated !== '') return stated.slice(0, 255);
  return /^(Evaluate-STIG|SCC|OpenSCAP)\b/.test(creator) ? creator.slice(0, 255) : null;
}

/** The release that results name: in the version (`V2R7`, `002.007`), else in the release-info; null for none. */
export function releaseOf(version: string, releaseInfo: string): string | null {
  const stated = version.trim();
  const whole = /^V(\d{1,6})R(\d{1,6}(?:\.\d{1,6})*)$/i.exec(stated) ?? /^(\d{1,6})\.(\d{1,6})$/.exec(stated);
  const [, major, minor] = whole ?? [];
  // `1.0` is the default of tools that know no version.
  if (major !== undefined && /[1-9]/.test(minor!)) return `V${Number(major)}R${bare(minor!)}`;
  const [, release, dotted] = /Release:\s*(\d{1,6})(?:\.(\d{1,6}))?/i.exec(releaseInfo.slice(0, 1000)) ?? [];
  if (release === undefined) return null;
  if (dotted !== undefined) return `V${Number(release)}R${Number(dotted)}`;
  return /^\d{1,6}$/.test(stated) ? `V${Number(stated)}R${Number(release)}` : null;
}

const bare = (numbers: string) => numbers.replace(/\d+/g, (digits) => String(Number(digits)));

/** The benchmark date of a release-info as YYYY-MM-DD, or null. */
export function dateOf(releaseInfo: string): string | null {
  const match = /Benchmark Date:\s*(\d{1,2}) ([A-Za-z]+)\.? (\d{4})/i.exec(releaseInfo.slice(0, 1000));
  const month = match === null ? 0 : monthOfShort(match[2]!);
  if (match === null || month === 0) return null;
  return `${match[3]}-${String(month).padStart(2, '0')}-${match[1]!.padStart(2, '0')}`;
}
