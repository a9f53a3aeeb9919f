import { ImportError } from '../../src/read/import-error.ts';
import type { Kind } from '../../src/read/kind.ts';
import { excerpt } from '../read/source-text.ts';
import type { OscalMetadata } from './oscal-shape.ts';

/** The label of a version, and a text that orders its editions. */
export interface OscalRelease {
  version: string;
  edition: string;
  warnings: string[];
}

/** True for metadata with a title of SP 800-53 or 800-53B (the baselines). */
export function is80053(metadata: { title: string }): boolean {
  return /\b(?:SP|Special Publication) ?800-53B?\b/i.test(metadata.title);
}

/**
 * The release of an 800-53 file (rule F5.1): `Rev 5.1.1` from `5.1.1` or `5.1.1+u4`, and from the title if the version
 * is a date, as in Rev 4. Throws `ImportError` without a revision or a time.
 */
export function releaseOf(metadata: OscalMetadata, kind: Kind): OscalRelease {
  const stated = /^(?:rev\.? ?)?([5-9](?:\.\d{1,3}){0,3})(?:\+\w+)?(-\w+)?$/i.exec(metadata.version.trim());
  const titled = /\bRev(?:ision|\.)? ?(\d(?:\.\d{1,3}){0,3})\b/i.exec(metadata.title);
  const number = stated?.[1] ?? titled?.[1];
  if (number === undefined) {
    throw new ImportError(
      `neither the version "${excerpt(metadata.version)}" nor the title names a revision of 800-53`,
      kind,
    );
  }
  const warnings = stated?.[2] ? [`the version is ${stated[0]}, which is not a final release`] : [];
  return { version: `Rev ${number}`, edition: editionOf(metadata, kind), warnings };
}

/** The time of a file's last change in UTC. Throws `ImportError` for an invalid time. */
export function editionOf({ 'last-modified': changed }: OscalMetadata, kind: Kind): string {
  const time = new Date(changed);
  if (Number.isNaN(time.getTime()))
    throw new ImportError(`last-modified "${excerpt(changed)}" is not a time`, kind);
  return time.toISOString();
}
