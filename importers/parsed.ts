import type { Kind } from '../src/read/import-error.ts';
import type { CatalogPart, ControlsResult } from './controls/catalog.ts';
import type { ControlsRecord } from './controls/control-record.ts';
import type { DocumentRecord } from './guidance/document-record.ts';
import type { RolesRecord } from './guidance/roles/role-record.ts';
import type { ScapContent, XccdfRelease } from './stigs/xccdf-record.ts';

/** Words and phrases that stand for each other in a search (rule D35.1), each as `indexedWords` joined by blanks. */
export interface SynonymGroup {
  row: number;
  words: string[];
  reason: string;
}

/** The content of a source: a release of a STIG, or facts about controls, roles, documents, words or machine checks. */
export type Content =
  | { type: 'stig'; release: XccdfRelease }
  | { type: 'controls'; records: ControlsRecord[] }
  | { type: 'roles'; record: RolesRecord }
  | { type: 'documents'; documents: DocumentRecord[] }
  | { type: 'synonyms'; groups: SynonymGroup[] }
  | { type: 'scap'; contents: ScapContent[] };

/** How sources are read. */
export interface ParseOptions {
  strict?: boolean;
  /** The operator's name for the frameworks of OSCAL catalogs that are none of the published (rule D40.1). */
  framework?: string;
}

/** What reading a source gives: content, or why there is none, with `part` for a catalog refused as a part. */
export type Parsed =
  | { kind: Kind; content: Content; warnings: string[] }
  | { kind: Kind; content: null; reason: string; warnings: string[]; part?: CatalogPart };

/**
 * Increase it when an importer reads the same bytes differently: stored sources of the kinds that `wholeSince`
 * (`src/db/read-again.ts`) names with it are then read again.
 */
export const importerVersion = 7;

/** A source of an unknown kind. */
export function skipped(reason: string, warnings: string[] = []): Parsed {
  return { kind: 'other', content: null, reason, warnings };
}

/** A source with content; warnings of decoding come first. */
export function stored(kind: Kind, content: Content, ...warnings: string[][]): Parsed {
  return { kind, content, warnings: warnings.flat() };
}

export function fromControls(result: ControlsResult, warnings: string[]): Parsed {
  if (result.records !== null)
    return stored(result.kind, { type: 'controls', records: result.records }, warnings, result.warnings);
  const { kind, reason, part } = result;
  return { kind, content: null, reason, warnings, ...(part ? { part } : {}) };
}

/** Advice for a ckl or cklb, which looks like a STIG. */
export const aChecklist =
  ' (a checklist: upgrade it on the page “Upgrade checklists”; it cannot be imported)';
