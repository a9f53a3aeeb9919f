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

/** A release, and the benchmark ids under which its STIG is known. */
export interface Release {
  target: FullRelease;
  benchmarkIds: string[];
}

/** What an upload became: the bytes of the answer, and the name and marking of a file where it is one. */
export interface Upgraded {
  bytes: Uint8Array<ArrayBuffer>;
  file: { name: string; type: FileType; marking: string | null } | null;
}

/**
 * What an upload asks of the catalog: the release of a STIG, of the one of those that its checklist names, of one that may
 * be there under a name (`maybe`), or that a file seems to be about, which may be none; or what some CCIs are.
 */
export type Wanted =
  | ({ version?: string } & ({ slug: string } | { named: string[] }))
  | { maybe: string }
  | { stated: StatedRelease }
  | { ccis: string[]; revision: string | undefined };

/** What the API does with a body, and what its query says. */
export type ApiTask = { from: 'api' } & (
  | { task: 'upgrade'; download: boolean }
  | { task: 'fromResults'; query: FromResultsOptions & { download: boolean; banner: string | null } }
  | { task: 'inspect' }
  | { task: 'emass'; banner: string | null }
);

/** What is found for it: for `stated` a release with what else is known of it, or null. */
export type Found = Release | IdentifiedRelease | CciFacts | null;

/** An upload that is worked on: it asks for what it needs of the catalog and gives its answer. May throw a 400. */
export type Work = Generator<Wanted, Upgraded | Promise<Upgraded>, Found>;

/** What stands in a header is as long as a banner may be. */
export const longestMarking = 200;

/** Reads the body of a request to the API: the answer is the checklist with its report, or the checklist alone. Throws a 400. */
export function* upgradeWork(bytes: Uint8Array, download: boolean): Work {
  const { checklist, ...asked } = check(upgradeBody, parseBody(utf8Body(bytes)));
  const { upgrade, target } = yield* upgradeOf(readChecklist(checklist), asked);
  if (download) return fileOf(upgrade, asked.format, target);
  return answerOf({ ...upgrade, checklist: written(upgrade.checklist, asked.format, [target.release]) });
}

/** The value of a JSON body, bounded before it is parsed. Throws a 400. */
export function parseBody(text: string): unknown {
  refuseHeavyJson(text, 'The request body');
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('The request body is not valid JSON');
  }
}

/** Upgrades a checklist that was read to the release that is asked for. */
export function* upgradeOf(
  old: OldChecklist,
  { slug, version, ...options }: Omit<UpgradeBody, 'checklist' | 'slug'> & { slug?: string | undefined },
): Generator<Wanted, { upgrade: Upgrade; target: FullRelease }, Found> {
  const which = slug === undefined ? { named: stigNames(old.checklist.stigs) } : { slug };
  const { target, benchmarkIds } = (yield version === undefined ? which : { ...which, version }) as Release;
  return { upgrade: upgradeChecklist(old, target, benchmarkIds, options), target };
}

/** A checklist in a format: the object of a cklb, or the text of a ckl. */
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

/** A checklist as a file of some name. */
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

/** An answer as JSON. */
export function answerOf(value: object): Upgraded {
  return { bytes: bytesOf(JSON.stringify(value)), file: null };
}

/** A text as bytes that can be handed from thread to thread. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
