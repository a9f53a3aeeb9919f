import type { User } from '../auth/viewer.ts';
import type { Page } from '../http/paging.ts';
import type { ControlService } from './controls/queries.ts';
import type { DocumentService, RoleService } from './guidance/queries.ts';
import type { LedgerFilter, LedgerService } from './ledger.ts';
import type { CatalogSummary, CatalogSummaryService } from './summary.ts';

interface ContentServices {
  summary: CatalogSummaryService;
  controls: ControlService;
  ledger: LedgerService;
  documents: DocumentService;
  roles: RoleService;
}

/** The digest of the catalog, and what it holds. */
export const catalogSummary = ({ summary }: Pick<ContentServices, 'summary'>): CatalogSummary =>
  summary.summary();

/**
 * What is loaded, with the last `runs` imports. Documents and roles are counted for those who may read them, and are
 * null for others.
 */
export function loadedContent(
  { summary, controls, ledger, documents, roles }: ContentServices,
  user: User,
  runs: number,
) {
  const first = { page: 1, limit: 1 };
  const { entitlements } = user;
  return {
    summary: summary.summary(),
    catalogs: controls.loaded(),
    documents: entitlements.has('regdoc') ? documents.list(first).pagination.total : null,
    roles: entitlements.has('occ') ? roles.list(first).pagination.total : null,
    runs: ledger.runs(user, runs),
  };
}

/** An import with a page of its sources. Throws NOT_FOUND. */
export function importedSources(
  { ledger }: Pick<ContentServices, 'ledger'>,
  user: User,
  id: number,
  filter: LedgerFilter,
  page: Page,
) {
  const run = ledger.run(user, id);
  return { run, ...ledger.entries(user, { ...filter, run: id }, page) };
}
