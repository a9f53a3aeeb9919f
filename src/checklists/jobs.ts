import type { FoundId } from '../catalog/controls/id-grammar.ts';
import type { createIdentify, StatedRelease } from '../catalog/stigs/identify.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { StigService } from '../catalog/stigs/queries.ts';
import type { MakeListChecklists } from './host-zip.ts';
import type { ReferenceLookup } from './reference-lookup.ts';

/** What the catalog says of CCIs and of their controls, in document order. */
export interface CciFacts {
  ccis: Map<string, { definition: string; controls: string[] }>;
  controls: Map<string, string>;
}

/** The checklists of a list for hosts. Throws as `createListChecklists` says. */
export const listChecklists = (
  { listChecklists }: { listChecklists: MakeListChecklists },
  ...query: Parameters<MakeListChecklists>
) => listChecklists(...query);

/** What the reader of an upload, which has no database, asks about the catalog. */
export const uploadJobs = {
  /** A release, and which of some names are names of its STIG. Throws a 404 for an unknown STIG or release. */
  releaseOfSlug: (
    { stigs, stigNames }: { stigs: StigService; stigNames: StigNameIndex },
    slug: string,
    version: string | undefined,
    names: string[],
  ) => ({ target: stigs.ofBody(slug, version), names: stigNames.namesOf(slug, names) }),

  /** The release that a file states; null for none. */
  identifiedRelease: ({ identify }: { identify: ReturnType<typeof createIdentify> }, stated: StatedRelease) =>
    identify(stated),

  factsOfCcis: (
    { cciFacts }: { cciFacts: (ccis: string[], revision: string | undefined) => CciFacts },
    ccis: string[],
    revision: string | undefined,
  ) => cciFacts(ccis, revision),

  vocabularyOfIds: ({ references }: { references: ReferenceLookup }) => references.vocabulary(),

  factsOfReferences: ({ references }: { references: ReferenceLookup }, ids: FoundId[]) =>
    references.facts(ids),
};
