import { createControlService } from './catalog/controls/queries.ts';
import { createCciService } from './catalog/crosswalk/cci.ts';
import { createControlRulesService } from './catalog/crosswalk/control-rules.ts';
import { createCoverageService } from './catalog/crosswalk/coverage.ts';
import { createExplainService } from './catalog/crosswalk/explain.ts';
import { createMappingExport } from './catalog/crosswalk/export.ts';
import { createCrosswalkService } from './catalog/crosswalk/queries.ts';
import {
  createDocumentService,
  createRoleMappingService,
  createRoleService,
} from './catalog/guidance/queries.ts';
import { createLedgerService } from './catalog/ledger.ts';
import { createCitations } from './catalog/search/citations.ts';
import { createAnswers } from './catalog/search/id-answers.ts';
import { createSearchService } from './catalog/search/queries.ts';
import { createStigChangesService } from './catalog/stigs/changes.ts';
import { createStigDiffService } from './catalog/stigs/diff.ts';
import { createRuleHistoryService } from './catalog/stigs/history.ts';
import { createIdentify } from './catalog/stigs/identify.ts';
import { createStigNameIndex } from './catalog/stigs/name-index.ts';
import { createStigNewsService } from './catalog/stigs/news.ts';
import { createStigService } from './catalog/stigs/queries.ts';
import { createReadingService } from './catalog/stigs/reading.ts';
import { createRuleAutomation } from './catalog/stigs/rule-automation.ts';
import { createCatalogSummaryService, createOnlySamples } from './catalog/summary.ts';
import { createListChecklists } from './checklists/host-zip.ts';
import { createReferenceLookup } from './checklists/reference-lookup.ts';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from './collections/catalog-collections.ts';
import { createControlCollectionService } from './collections/control-collections.ts';
import { createFavoriteService } from './collections/favorites.ts';
import { createListServices } from './collections/list-services.ts';
import { createPurgeService } from './collections/retention.ts';
import type { Database } from './db/database.ts';

/** Every service by name: routes and pages take what they need (`Pick<Services, 'stigs' | 'lists'>`). */
export type Services = ReturnType<typeof createServices>;

export function createServices({
  catalog,
  users,
  now,
  newId,
  banner,
}: {
  catalog: Database;
  users: Database;
  now: () => Date;
  newId: () => string;
  banner: string | null;
}) {
  const stigNames = createStigNameIndex(catalog);
  const stigs = createStigService(catalog, stigNames);
  const changes = createStigChangesService(catalog);
  const ruleHistory = createRuleHistoryService(catalog);
  const crosswalk = createCrosswalkService(catalog);
  const controls = createControlService(catalog);
  const cciLookup = createCciService(catalog, crosswalk);
  const ofLists = createListServices(users, now, newId, stigNames);
  const { listStigs, listHosts } = ofLists;
  const ruleAutomation = createRuleAutomation(catalog);
  const controlRules = createControlRulesService(catalog, cciLookup, stigNames, ruleAutomation);
  const coverage = createCoverageService(catalog, controls, cciLookup);
  const references = createReferenceLookup(catalog, ruleHistory);
  const reading = createReadingService(catalog, stigs);
  return {
    stigs,
    stigNames,
    changes,
    news: createStigNewsService(catalog, stigNames),
    stigDiff: createStigDiffService(stigs),
    ruleHistory,
    references,
    reading,
    identify: createIdentify(catalog, stigs, stigNames),
    summary: createCatalogSummaryService(catalog),
    ledger: createLedgerService(catalog),
    onlySamples: createOnlySamples(catalog),
    search: createSearchService(catalog, cciLookup, stigNames),
    answers: createAnswers({
      citedIn: references.citedIn,
      stigNames,
      controlRules,
      ownControl: cciLookup.ownControl,
    }),
    citations: createCitations({ stigs, stigNames, ruleHistory, reading, controls }),

    controls,
    crosswalk,
    cciLookup,
    addressed: cciLookup.addressed,
    cciFacts: cciLookup.facts,
    explainer: createExplainService(catalog, crosswalk),
    mappings: createMappingExport(catalog, crosswalk),
    deprecatedCcis: cciLookup.deprecated,
    ruleChain: cciLookup.chain,
    controlRules,
    coverage,
    ruleAutomation,

    documents: createDocumentService(catalog),
    roles: createRoleService(catalog),
    roleMapping: createRoleMappingService(catalog, stigNames.slugOf),

    ...ofLists,
    listChecklists: createListChecklists(
      stigs,
      stigNames,
      { releases: listStigs.releases, hosts: (user, id) => listHosts.get(user, id).hosts },
      banner,
    ),
    collections: createControlCollectionService(users, now, newId),
    favorites: createFavoriteService(users, now, newId, stigNames),
    documentCollections: createDocumentCollectionService(users, now, newId),
    roleCollections: createRoleCollectionService(users, now, newId),
    purge: createPurgeService(users, now),
  };
}
