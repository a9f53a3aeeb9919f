import { cut, fold, hasAtMost, strip } from '../base/text.ts';
import type { Cklb, CklbRule, CklbStig } from '../catalog/stigs/cklb-schema.ts';
import type { IdentifiedRelease, StatedRelease } from '../catalog/stigs/identify.ts';
import { monthOfShort } from '../read/months.ts';

/** Bytes of the host's part of a file name; with slug and version it stays far below the 255 of file systems. */
const longestHost = 100;
const longestStem = 200;

/** Windows reserves these names, whatever follows their first dot. */
const device = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$/i;

/** A part of a file name that every system accepts, in NFC: `_` replaces reserved characters, and signs in front. */
export function safeName(text: string, longest = longestHost): string {
  const plain = text
    .toWellFormed()
    .normalize('NFC')
    .replace(/(?:[<>:"/\\|?*%\ufffd\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs})+/gu, '_')
    .replace(/^[ .\-=+@~]+/, '_')
    .replace(/\.{2,}/g, '.');
  const name = strip(cutBytes(plain, longest), null, /[. ]/);
  return name === '' ? '_' : name;
}

function cutBytes(text: string, longest: number): string {
  let end = 0;
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > longest) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Equal for names that file systems confuse when they ignore case or Unicode composition. */
export const nameKey = (name: string): string =>
  name.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKC');

/** Makes unique names for file systems that ignore case or Unicode composition: repeated ones get a number. */
export function createNames() {
  const taken = new Set<string>();
  /** The next number to try for a name: without it, a thousand hosts of one name would need a thousand tries each. */
  const next = new Map<string, number>();
  return (name: string, extension = ''): string => {
    const stem = cutBytes(device.test(name.split('.')[0]!.trimEnd()) ? `_${name}` : name, longestStem);
    const key = nameKey(stem);
    for (let number = next.get(key) ?? 1; ; number++) {
      const free = `${number === 1 ? stem : `${stem}-${number}`}${extension}`;
      if (taken.has(nameKey(free))) continue;
      taken.add(nameKey(free));
      next.set(key, number + 1);
      return free;
    }
  };
}

/** Characters of a name that a sheet or a report repeats: the limit of STIG Manager. */
const longest = 255;

type Target = Pick<Cklb['target_data'], 'host_name' | 'web_db_site' | 'web_db_instance'>;

/** The name of what a checklist is of (rule D53.5): its host, with site and instance: `db01 (SITE, HR)`. May be empty. */
export function deviceName({ host_name, web_db_site, web_db_instance }: Target): string {
  const [host, ...part] = [host_name, web_db_site, web_db_instance].map((text) => cut(text.trim(), longest));
  const within = part.filter((text) => text !== '').join(', ');
  return within === '' ? host! : `${host} (${within})`.trim();
}

/** The name of a STIG in a checklist: its benchmark id, else its title; may be empty. */
export const nameOf = ({ stig_id, stig_name }: Cklb['stigs'][number]): string =>
  stig_id.trim() || stig_name.trim();

/** The names of the STIGs of a checklist, without duplicates. */
export function stigNames(stigs: Cklb['stigs']): string[] {
  return [...new Set(stigs.map(nameOf))].filter((name) => name !== '');
}

/** `V2R7` of the STIG of a checklist, or null where the checklist does not say. */
export function versionOf({ version, release_info }: CklbStig): string | null {
  const release = /Release:\s*(\d+(?:\.\d+)*)/i.exec(release_info.slice(0, 1000))?.[1];
  return /^\d+$/.test(version.trim()) && release !== undefined ? `V${Number(version)}R${release}` : null;
}

/** The release that a STIG of a checklist names, for the look-up in the catalog. */
export function statedOf(stig: CklbStig): StatedRelease {
  return {
    benchmarkIds: [stig.stig_id.trim()].filter((id) => id !== ''),
    title: stig.stig_name.trim(),
    ruleIds: stig.rules.map(statedId).filter((id) => id !== ''),
    benchmarkDate: dateOf(stig.release_info),
    release: versionOf(stig),
  };
}

/** The rule id, or that of no revision for the V-id where they contradict each other: both have one number now. */
function statedId({ rule_id_src, group_id }: CklbRule): string {
  const [sv, v] = [/^SV-(\d{6,})r/i.exec(rule_id_src)?.[1], /^V-(\d{6,})$/i.exec(group_id.trim())?.[1]];
  return sv !== undefined && v !== undefined && sv !== v && Number(sv) >= oneNumberFrom
    ? `SV-${v}r0`
    : rule_id_src;
}

/** DISA renumbered its rules: from this number on, the SV- and V-id of a rule have the same number. */
export const oneNumberFrom = 200_000;

/** What to say where a file names another STIG than the one found, or fits others equally well; else null. */
export function otherStig(named: string, release: IdentifiedRelease): string | null {
  const differences = [nameDiffers(named, release), equalStigs(release)].filter((each) => each !== null);
  return differences.length === 0 ? null : differences.join('. ');
}

/** What to say where a file fits several STIGs equally well, else null. */
export function equalStigs({ equals = [], target }: IdentifiedRelease): string | null {
  const { title } = target.release;
  return equals.length === 0
    ? null
    : `${shortList(equals)} ${equals.length === 1 ? 'fits' : 'fit'} it as well as ${title}: choose the STIG to be sure`;
}

/** The same for a benchmark id, or else a title, of another STIG. */
function nameDiffers(named: string, { foundBy, otherTitle, target }: IdentifiedRelease): string | null {
  const { title } = target.release;
  if (otherTitle !== null) return `Its title is that of ${otherTitle}, its benchmark id that of ${title}`;
  if (named === '' || foundBy === 'slug' || foundBy === 'benchmarkId') return null;
  const why = foundBy === 'title' ? 'its title is that' : 'most of its rules are those';
  return fold(named) === fold(title)
    ? null
    : `It names ${cut(named)}, which is not in the catalog; ${why} of ${title}`;
}

const places = [
  /^stigs\[(\d+)\](?:\.rules\[(\d+)\])?(?:\.([^ ]+))?(?: of .*)?$/s,
  /^\/CHECKLIST\/STIGS\/iSTIG\[(\d+)\](?:\/VULN\[(\d+)\])?(?:\/(.+))?$/,
];

/** A path into a checklist for people, as `severity of V-257777 in ...`; one that is not within a STIG stays as it is. */
export function placeOf(path: string, stigs: Cklb['stigs']): string {
  for (const [first, pattern] of places.entries()) {
    const [, at, ruleAt, field] = pattern.exec(path) ?? [];
    // A ckl counts from 1.
    const stig = stigs[Number(at) - first];
    if (at === undefined || stig === undefined) continue;
    const rule = ruleAt === undefined ? undefined : stig.rules[Number(ruleAt) - first];
    const named = rule && (rule.group_id || rule.rule_id_src || `rule ${Number(ruleAt) - first + 1}`);
    const title = cut(stig.stig_name.trim() || nameOf(stig)) || `STIG ${Number(at) - first + 1}`;
    const whole = named === undefined ? title : `${cut(named)} in ${title}`;
    return field === undefined ? whole : `${field} of ${whole}`;
  }
  return path;
}

/** Whether a release comes before another, by their numbers. */
export function isOlder(version: string, than: string | null): boolean {
  const numbers = (text: string) => (text.match(/\d+/g) ?? []).map(Number);
  const [a, b] = [numbers(version), numbers(than ?? '')];
  const at = a.findIndex((each, index) => each !== b[index]);
  return than !== null && (at < 0 ? a.length < b.length : a[at]! < (b[at] ?? -1));
}

/** At least one name, up to what a message may echo (rule D2.2), and how many more there are. */
export function shortList(names: string[]): string {
  let shown = 1;
  while (shown < names.length && hasAtMost(names.slice(0, shown + 1).join(', '), 64)) shown++;
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return `${cut(names.slice(0, shown).join(', '))}${more}`;
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
