import type { Ask } from '../base/ask.ts';
import { AppError, badRequest } from '../base/errors.ts';
import { isObject, refuseHeavyJson, utf8Body } from '../base/json.ts';
import { count } from '../base/text.ts';
import { textsBeyondXml, toCkl } from '../catalog/stigs/ckl-writer.ts';
import type { Cklb, CklbStig } from '../catalog/stigs/cklb-schema.ts';
import type { FullRelease, StigRelease } from '../catalog/stigs/queries.ts';
import type { FileType } from '../http/answer.ts';
import { check } from '../http/schema.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { uploadJobs } from './jobs.ts';
import { nameOf, otherStig, shortList, statedOf, stigNames } from './names.ts';
import { isXml, readChecklist } from './read-checklist.ts';
import type { FromResultsOptions } from './results-schema.ts';
import { type ChecklistFormat, type UpgradeOptions, type UpgradeReport, upgradeBody } from './schema.ts';
import { upgradeChecklist } from './upgrade.ts';

/** The result of an upload: the bytes of the answer; name and marking where it is a file. */
export interface Upgraded {
  bytes: Uint8Array<ArrayBuffer>;
  file: { name: string; type: FileType; marking: string | null } | null;
  /** 400 for a refused form, which the page shows again. */
  status?: 400;
}

/** A checklist that was made, with its report, its release and the name of its file without ending. */
export interface Made<Report> {
  checklist: Cklb;
  report: Report;
  target: FullRelease;
  name: string;
}

export type ApiTask = { from: 'api' } & (
  | { task: 'upgrade'; query: UpgradeOptions & { download: boolean } }
  | { task: 'fromResults'; query: FromResultsOptions & { download: boolean; banner: string | null } }
  | { task: 'inspect' }
  | { task: 'emass'; banner: string | null }
  | { task: 'references'; isText: boolean }
);

/** The limit of a banner, because a marking becomes a header. */
export const longestMarking = 200;

/** Upgrades the checklist of a body: the answer is a checklist with its report, or alone. Throws a 400. */
export async function upgradeWork(
  ask: Ask,
  bytes: Uint8Array,
  { download, ...query }: UpgradeOptions & { download: boolean },
): Promise<Upgraded> {
  const body = readBody(bytes);
  const { checklist, ...options } =
    'file' in body ? { checklist: body.file, ...query } : check(upgradeBody, body.envelope);
  const made = await locatedAt('file' in body ? '' : '/checklist', () =>
    upgradeOf(ask, readChecklist(checklist), options),
  );
  return answerMade(made, options.format, download);
}

/**
 * Work on the part of a body at a JSON pointer, `''` for a body that is a file, with its options in the query: its errors
 * name it (rule D42.1).
 */
export async function locatedAt<T>(pointer: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const named = pointer === '' ? error.field?.replace(/^\/(slug|version)$/, '$1') : error.field;
    const field = named?.replace(/^\/(?:checklist|results)/, pointer);
    throw new AppError(error.code, error.message, error.headers, field || undefined);
  }
}

/** A body that is a file itself (XML, or JSON with `stigs`), or JSON around one (rule D42.4). Throws a 400. */
export function readBody(bytes: Uint8Array): { file: Uint8Array | object } | { envelope: unknown } {
  if (isXml(bytes)) return { file: bytes };
  const body = parseBody(utf8Body(bytes));
  return isObject(body) && 'stigs' in body && !('checklist' in body) ? { file: body } : { envelope: body };
}

/** Parses a JSON body after a check of its size and depth. Throws a 400. */
export function parseBody(text: string): unknown {
  refuseHeavyJson(text, 'The request body');
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('The request body is not valid JSON');
  }
}

/** Upgrades a checklist to the requested release; without a slug the one of its STIGs that the catalog has. */
export async function upgradeOf(
  ask: Ask,
  old: OldChecklist,
  { slug, version, allowOlder = false, ...options }: UpgradeOptions,
): Promise<Made<UpgradeReport>> {
  const { stigs } = old.checklist;
  const own = slug === undefined ? await onlyStig(ask, stigs) : { slug, warning: null };
  const { target, names } = await ask(uploadJobs.releaseOfSlug, own.slug, version, stigNames(stigs));
  const mayGo = allowOlder || version !== undefined;
  const upgrade = upgradeChecklist(old, target, names, { ...options, allowOlder: mayGo });
  if (own.warning !== null) upgrade.report.warnings.push(own.warning);
  upgrade.report.warnings.push(...lostIn(options.format, upgrade.checklist));
  const name = `U_${target.release.benchmarkId}_${upgrade.report.to.version}`;
  return { ...upgrade, target, name };
}

/** The one STIG of a checklist in the catalog, by name before by rules. Throws a 400 for none and for several. */
async function onlyStig(ask: Ask, stigs: CklbStig[]): Promise<{ slug: string; warning: string | null }> {
  const all: { slug: string; title: string; isByRules: boolean; warning: string | null }[] = [];
  for (const stig of stigs) {
    const found = await ask(uploadJobs.identifiedRelease, statedOf(stig));
    if (found === null) continue;
    const { slug, title } = found.target.release;
    all.push({ slug, title, isByRules: found.foundBy === 'rules', warning: otherStig(nameOf(stig), found) });
  }
  const named = all.filter(({ isByRules }) => !isByRules);
  const known = [...new Map((named.length > 0 ? named : all).map((each) => [each.slug, each])).values()];
  if (known.length === 1) return known[0]!;
  if (known.length > 1)
    throw badRequest(
      `The checklist names more than one STIG in the catalog: ${shortList(known.map(({ title }) => title))}. Choose the one to upgrade`,
      '/checklist',
    );
  const stated = stigNames(stigs);
  throw badRequest(
    stated.length === 0
      ? 'The checklist does not name its STIG: choose the STIG'
      : `The checklist names ${shortList(stated)}, which is not in the catalog. Choose its STIG, or import that STIG first`,
    '/checklist',
  );
}

/** The text of a checklist in a format. */
export function textIn(format: ChecklistFormat, checklist: Cklb, releases: StigRelease[]): string {
  return format === 'ckl' ? toCkl(checklist, releases) : JSON.stringify(checklist);
}

/** What the characters of a checklist lose in a format. */
export function lostIn(format: ChecklistFormat, checklist: Cklb): string[] {
  const places = format === 'ckl' ? textsBeyondXml(checklist) : [];
  return places.length === 0
    ? []
    : [
        `A ckl cannot hold control characters: they are left out of ${count(places.length, 'text')} (${shortList([...new Set(places)])})`,
      ];
}

/** A made checklist alone, as a file. */
export function fileOf({ checklist, target, name }: Made<unknown>, format: ChecklistFormat): Upgraded {
  const marking = checklist.target_data.classification?.slice(0, longestMarking).toWellFormed() ?? null;
  return {
    bytes: bytesOf(textIn(format, checklist, [target.release])),
    file: { name: `${name}.${format}`, type: format, marking },
  };
}

/** A made checklist with its report, or alone as a file. */
export function answerMade(made: Made<unknown>, format: ChecklistFormat, download: boolean): Upgraded {
  if (download) return fileOf(made, format);
  const { checklist, report, target } = made;
  return answerOf({ checklist: format === 'ckl' ? toCkl(checklist, [target.release]) : checklist, report });
}

export function answerOf(value: object): Upgraded {
  return { bytes: bytesOf(JSON.stringify(value)), file: null };
}

/** A text as bytes that a thread can transfer. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
