import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Ask } from '../base/ask.ts';
import { catalogRoutes } from '../catalog/api.ts';
import { controlRoutes } from '../catalog/controls/api.ts';
import { controlRulesRoutes, crosswalkRoutes, reportRoutes } from '../catalog/crosswalk/api.ts';
import { documentRoutes, roleMappingRoutes, roleRoutes } from '../catalog/guidance/api.ts';
import { citationRoutes, searchRoutes } from '../catalog/search/api.ts';
import { stigRoutes } from '../catalog/stigs/api.ts';
import { checklistRoutes } from '../checklists/api.ts';
import { listChecklistRoutes } from '../checklists/list-api.ts';
import { referenceRoutes } from '../checklists/references.ts';
import { documentCollectionRoutes, roleCollectionRoutes } from '../collections/catalog-collections-api.ts';
import { controlCollectionRoutes } from '../collections/control-collections-api.ts';
import { favoriteRoutes } from '../collections/favorites-api.ts';
import { listChangesRoutes, listRoutes } from '../collections/lists-api.ts';
import type { Access } from '../http/access.ts';
import type { Env } from '../http/env.ts';
import type { UploadWork } from '../pages/checklists/uploads.ts';
import type { Services } from '../services.ts';

/** The routes of the API, in the order in which `/openapi.json` lists them. */
export function apiRoutes(
  access: Access,
  services: Services,
  ask: Ask,
  workOnUpload: UploadWork['ofApi'],
): OpenAPIHono<Env>[] {
  // The cache keeps the GET answers of these routes until their data changes.
  const ofCatalog = access.with({ cached: 'catalog' });
  const ofUsers = access.with({ cached: 'users' });
  const { stigs, listStigs } = services;
  return [
    catalogRoutes(access.with({ expensive: true }), ask),
    citationRoutes(access, ask, services.citations),
    stigRoutes(ofCatalog, ask, stigs, services.news),
    checklistRoutes(access, workOnUpload),
    referenceRoutes(access, workOnUpload),
    controlRoutes(ofCatalog, ask, services.controls),
    crosswalkRoutes(ofCatalog, ask),
    // With `list`, these answers depend on a user's list.
    searchRoutes(ofUsers, ask),
    controlRulesRoutes(ofUsers, ask),
    listRoutes(ofUsers, ask, services),
    listChecklistRoutes(access, ask),
    ...reportRoutes(access, ask),
    listChangesRoutes(ofUsers, ask, listStigs),
    controlCollectionRoutes(ofUsers, ask, services.collections),
    favoriteRoutes(ofUsers, services.favorites),
    documentRoutes(ofUsers, ask, services.documents),
    documentCollectionRoutes(ofUsers, services.documentCollections),
    roleRoutes(ofUsers, ask, services.roles),
    roleCollectionRoutes(ofUsers, services.roleCollections),
    roleMappingRoutes(access, services.roleMapping),
  ];
}
