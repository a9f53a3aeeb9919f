import { badRequest } from '../base/errors.ts';
import { refuseHeavyJson, utf8Body } from '../base/json.ts';
import { toCkl } from '../catalog/stigs/ckl-writer.ts';
import type { Cklb } from '../catalog/stigs/cklb-schema.ts';
import type { IdentifiedRelease, StatedRelease } from '../catalog/stigs/identify.ts';
import type { FullRelease, StigRelease } from '../catalog/stigs/queries.ts';
import type { FileType } from '../http/answer.ts';
import { check } from '../http/schema.ts';
import type { OldChecklist } from './cklb-reader.ts';
import type { CciFacts } from './emass.ts';
import { readChecklist } from './read-checklist.ts';
import type { FromResultsOptions } from './results-schema.ts';
import { type ChecklistFormat, type Upgrade, type UpgradeBody, upgradeBody } from './schema.ts';
import { stigNames } from './stig-names.ts';
import { upgradeChecklist } from './upgrade.ts';

/** A release, and which of the names in the request are names of its STIG. */
export interface Release {
  target: FullRelease;
  names: string[];
}

/** The result of an upload: the bytes of the answer; name and marking where it is a file. */
export interface Upgraded {
  bytes: Uint8Array<ArrayBuffer>;
  file: { name: string; type: FileType; marking: string | null } | null;
}

/** A request to the catalog: a release by slug or names, by one name that may be missing, or as a file says; CCI facts. */
export type Wanted =
  | { slug?: string | undefined; version?: string | undefined; names: string[] }
  | { maybe: string }
  | { stated: StatedRelease }
  | { ccis: string[]; revision: string | undefined };

export type ApiTask = { from: 'api' } & (
  | { task: 'upgrade'; download: boolean }
  | { task: 'fromResults'; query: FromResultsOptions & { download: boolean; banner: string | null } }
  | { task: 'inspect' }
  | { task: 'emass'; banner: string | null }
);

/** The catalog's reply: for `stated`, a release with its context, or null. */
export type CatalogAnswer = Release | IdentifiedRelease | CciFacts | null;

/** The work on an upload: yields what it needs of the catalog and returns its answer. May throw a 400. */
export type Work = Generator<Wanted, Upgraded | Promise<Upgraded>, CatalogAnswer>;

/** The limit of a banner, because a marking becomes a header. */
export const longestMarking = 200;

/** Upgrades the checklist of a body: the answer is a checklist with its report, or alone. Throws a 400. */
export function* upgradeWork(bytes: Uint8Array, download: boolean): Work {
  const { checklist, ...asked } = check(upgradeBody, parseBody(utf8Body(bytes)));
  const { upgrade, target } = yield* upgradeOf(readChecklist(checklist), asked);
  if (download) return fileOf(upgrade, asked.format, target);
  return answerOf({ ...upgrade, checklist: written(upgrade.checklist, asked.format, [target.release]) });
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

/** Upgrades a checklist to the requested release. */
export function* upgradeOf(
  old: OldChecklist,
  { slug, version, ...options }: Omit<UpgradeBody, 'checklist' | 'slug'> & { slug?: string | undefined },
): Generator<Wanted, { upgrade: Upgrade; target: FullRelease }, CatalogAnswer> {
  const { target, names } = (yield { slug, version, names: stigNames(old.checklist.stigs) }) as Release;
  return { upgrade: upgradeChecklist(old, target, names, options), target };
}

/** Writes a checklist in a format: a cklb as an object, or a ckl as text. */
export function written(checklist: Cklb, format: ChecklistFormat, releases: StigRelease[]): Cklb | string {
  return format === 'ckl' ? toCkl(checklist, releases) : checklist;
}

/** The upgraded checklist alone, as a file. */
export function fileOf(
  { checklist, report }: Upgrade,
  format: ChecklistFormat,
  target: FullRelease,
): Upgraded {
  const { benchmarkId, version } = report.to;
  return checklistFile(checklist, format, target, `U_${benchmarkId}_${version}`);
}

export function checklistFile(
  checklist: Cklb,
  format: ChecklistFormat,
  target: FullRelease,
  name: string,
): Upgraded {
  const marking = checklist.target_data.classification?.slice(0, longestMarking).toWellFormed() ?? null;
  const made = written(checklist, format, [target.release]);
  return {
    bytes: bytesOf(typeof made === 'string' ? made : JSON.stringify(made)),
    file: { name: `${name}.${format}`, type: format, marking },
  };
}

export function answerOf(value: object): Upgraded {
  return { bytes: bytesOf(JSON.stringify(value)), file: null };
}

/** A text as bytes that a thread can transfer. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
