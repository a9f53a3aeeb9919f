import { badRequest } from '../base/errors.ts';
import { refuseHeavyJson, utf8Body } from '../base/json.ts';
import { toCkl } from '../catalog/stigs/ckl.ts';
import type { FullRelease } from '../catalog/stigs/queries.ts';
import type { FileType } from '../http/answer.ts';
import { check } from '../http/schema.ts';
import type { OldChecklist } from './cklb.ts';
import { stigNames } from './names.ts';
import { readChecklist } from './read.ts';
import { type ChecklistFormat, type Upgrade, type UpgradeBody, upgradeBody } from './schema.ts';
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

/** The release that an upload asks for: of a STIG, or of the one of those that its checklist names. */
export type Wanted = { version?: string } & ({ slug: string } | { named: string[] });

/** An upload that was read: the release that it asks for, and what makes its answer with that. `make` may throw a 400. */
export interface ReadUpload {
  wanted: Wanted;
  make(release: Release): Upgraded;
}

/** What stands in a header is as long as a banner may be. */
const longestMarking = 200;

/** Reads the body of a request to the API: the answer is the checklist with its report, or the checklist alone. Throws a 400. */
export function readBody(bytes: Uint8Array, download: boolean): ReadUpload {
  const { checklist, ...asked } = check(upgradeBody, parseBody(utf8Body(bytes)));
  return readUpload(readChecklist(checklist), asked, (upgrade, target) => {
    if (download) return fileOf(upgrade, asked.format, target);
    const checklist = asked.format === 'ckl' ? toCkl(upgrade.checklist, [target.release]) : upgrade.checklist;
    return { bytes: bytesOf(JSON.stringify({ ...upgrade, checklist })), file: null };
  });
}

function parseBody(text: string): unknown {
  refuseHeavyJson(text, 'The request body');
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('The request body is not valid JSON');
  }
}

/** An upload of a checklist that was read; `shape` makes the answer of what becomes of it. */
export function readUpload(
  old: OldChecklist,
  { slug, version, ...options }: Omit<UpgradeBody, 'checklist' | 'slug'> & { slug?: string | undefined },
  shape: (upgrade: Upgrade, target: FullRelease) => Upgraded,
): ReadUpload {
  const which = slug === undefined ? { named: stigNames(old.checklist.stigs) } : { slug };
  return {
    wanted: version === undefined ? which : { ...which, version },
    make: ({ target, benchmarkIds }) => shape(upgradeChecklist(old, target, benchmarkIds, options), target),
  };
}

/** The upgraded checklist alone, as a file. */
export function fileOf(
  { checklist, report }: Upgrade,
  format: ChecklistFormat,
  target: FullRelease,
): Upgraded {
  const { benchmarkId, version } = report.to;
  const marking = checklist.target_data.classification?.slice(0, longestMarking).toWellFormed() ?? null;
  return {
    bytes: bytesOf(format === 'ckl' ? toCkl(checklist, [target.release]) : JSON.stringify(checklist)),
    file: { name: `U_${benchmarkId}_${version}.${format}`, type: format, marking },
  };
}

/** A text as bytes that can be handed from thread to thread. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
