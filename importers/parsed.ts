import type { Kind } from '../src/read/kind.ts';
import type { CatalogPart, ControlsResult } from './controls/catalog.ts';
import type { ControlsRecord } from './controls/control-record.ts';
import type { DocumentRecord } from './guidance/document-record.ts';
import type { RolesRecord } from './guidance/roles/role-record.ts';
import type { XccdfRelease } from './stigs/xccdf-record.ts';

/** What a source holds: a release of a STIG, or what it states of controls, of roles or of documents. */
export type Content =
  | { type: 'stig'; release: XccdfRelease }
  | { type: 'controls'; records: ControlsRecord[] }
  | { type: 'roles'; record: RolesRecord }
  | { type: 'documents'; documents: DocumentRecord[] };

/**
 * What the bytes of one source turned out to be: content to store, or what is not stored and why; `part` where it is refused
 * as a part of a catalog, rather than passed by.
 */
export type Parsed =
  | { kind: Kind; content: Content; warnings: string[] }
  | { kind: Kind; content: null; reason: string; warnings: string[]; part?: CatalogPart };

/** Raised when what an importer makes of the same bytes changes, so that stored sources are read again. */
export const importerVersion = 4;

/** A source that is not stored, for it is none of ours. */
export function skipped(reason: string, warnings: string[] = []): Parsed {
  return { kind: 'other', content: null, reason, warnings };
}

export function fromControls(result: ControlsResult, warnings: string[]): Parsed {
  if (result.records === null) {
    const { kind, reason, part } = result;
    return { kind, content: null, reason, warnings, ...(part ? { part } : {}) };
  }
  const content = { type: 'controls' as const, records: result.records };
  return { kind: result.kind, content, warnings: [...warnings, ...result.warnings] };
}

/** Said of a ckl or cklb, which lies beside STIGs and looks like one. */
export const aChecklist =
  ' (a checklist: upgrade it on the page “Upgrade a checklist”; it cannot be imported)';
