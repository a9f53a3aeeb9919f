import type { CatalogPart } from './controls/catalog.ts';
import type { ControlsRecord } from './controls/record.ts';
import type { DocumentRecord } from './guidance/document-record.ts';
import type { RolesRecord } from './guidance/roles/role-record.ts';
import type { Kind } from './ledger.ts';
import type { ReleaseRows } from './stigs/xccdf-rows.ts';

/** What a source holds: a release of a STIG, or what it states of controls, of roles or of documents. */
export type Content =
  | { type: 'stig'; release: ReleaseRows }
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
