import type { CatalogPart, ControlsResult } from './controls/catalog.ts';
import type { ControlsRecord } from './controls/control-record.ts';
import type { DocumentsContent } from './guidance/document-record.ts';
import type { RolesContent } from './guidance/roles/role-record.ts';
import { type Parsed, stored } from './read/parsed.ts';
import type { SynonymsContent } from './stigs/synonyms.ts';
import type { ScapContents, StigContent } from './stigs/xccdf-record.ts';

/** The content of a source: a release of a STIG, or facts about controls, roles, documents, words or machine checks. */
export type Content =
  | StigContent
  | { type: 'controls'; records: ControlsRecord[] }
  | RolesContent
  | DocumentsContent
  | SynonymsContent
  | ScapContents;

/** How sources are read. */
export interface ParseOptions {
  strict?: boolean;
  /** The operator's name for the frameworks of OSCAL catalogs that are none of the published (rule D40.1). */
  framework?: string;
}

/** The result of parsing a source; `part` describes a catalog that was rejected because it is only a part. */
export type ParsedSource = Parsed<Content> & { part?: CatalogPart };

/**
 * Increase it when an importer reads the same bytes differently: stored sources of the kinds that `wholeSince`
 * (`src/db/read-again.ts`) names with it are then read again.
 */
export const importerVersion = 7;

export function fromControls(result: ControlsResult, warnings: string[]): ParsedSource {
  if (result.records !== null)
    return stored(result.kind, { type: 'controls', records: result.records }, warnings, result.warnings);
  const { kind, reason, part } = result;
  return { kind, content: null, reason, warnings, ...(part ? { part } : {}) };
}

/** Advice for a ckl or cklb, which looks like a STIG. */
export const aChecklist =
  ' (a checklist: upgrade it on the page “Upgrade checklists”; it cannot be imported)';
