import type { createIdentify } from '../catalog/stigs/identify.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { StigService } from '../catalog/stigs/queries.ts';
import type { CciFacts } from './emass.ts';
import type { ListChecklists, MakeListChecklists } from './list-checklists.ts';
import type { ReferenceLookup } from './reference-lookup.ts';
import type { CatalogAnswer, Wanted } from './upload.ts';

export interface UploadServices {
  stigs: StigService;
  stigNames: StigNameIndex;
  identify: ReturnType<typeof createIdentify>;
  cciFacts: (ccis: string[], revision: string | undefined) => CciFacts;
  references: ReferenceLookup;
}

/** The checklists of a list for hosts. Throws as `createListChecklists` says. */
export const listChecklists = (
  { listChecklists }: { listChecklists: MakeListChecklists },
  ...asked: Parameters<MakeListChecklists>
): ListChecklists => listChecklists(...asked);

/** What an upload needs of the catalog. Throws 404 for a STIG or release that is not there. */
export function uploadAnswer(
  { stigs, stigNames, identify, cciFacts, references }: UploadServices,
  wanted: Wanted,
): CatalogAnswer {
  if ('stated' in wanted) return identify(wanted.stated);
  if ('ccis' in wanted) return cciFacts(wanted.ccis, wanted.revision);
  if ('vocabulary' in wanted) return references.vocabulary();
  if ('references' in wanted) return references.facts(wanted.references);
  const { slug, names, version } = wanted;
  return { target: stigs.ofBody(slug, version), names: stigNames.namesOf(slug, names) };
}
