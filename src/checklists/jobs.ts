import type { FoundId } from '../catalog/controls/id-grammar.ts';
import type { createIdentify, IdentifiedRelease, StatedRelease } from '../catalog/stigs/identify.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { FullRelease, StigService } from '../catalog/stigs/queries.ts';
import type { ListChecklists, MakeListChecklists } from './host-zip.ts';
import type { ReferenceLookup, Vocabulary } from './reference-lookup.ts';
import type { ReferenceFact } from './reference-schema.ts';

/** What the catalog says of CCIs and of their controls, in document order. */
export interface CciFacts {
  ccis: Map<string, { definition: string; controls: string[] }>;
  controls: Map<string, string>;
}

/** The checklists of a list for hosts. Throws as `createListChecklists` says. */
export const listChecklists = (
  { listChecklists }: { listChecklists: MakeListChecklists },
  ...query: Parameters<MakeListChecklists>
): ListChecklists => listChecklists(...query);

/** A release, and which of some names are names of its STIG. Throws a 404 for an unknown STIG or release. */
function releaseOfSlug(
  { stigs, stigNames }: { stigs: StigService; stigNames: StigNameIndex },
  slug: string,
  version: string | undefined,
  names: string[],
): { target: FullRelease; names: string[] } {
  return { target: stigs.ofBody(slug, version), names: stigNames.namesOf(slug, names) };
}

/** The release that a file states; null for none. */
const identifiedRelease = (
  { identify }: { identify: ReturnType<typeof createIdentify> },
  stated: StatedRelease,
): IdentifiedRelease | null => identify(stated);

const factsOfCcis = (
  { cciFacts }: { cciFacts: (ccis: string[], revision: string | undefined) => CciFacts },
  ccis: string[],
  revision: string | undefined,
): CciFacts => cciFacts(ccis, revision);

const vocabularyOfIds = ({ references }: { references: ReferenceLookup }): Vocabulary =>
  references.vocabulary();

const factsOfReferences = (
  { references }: { references: ReferenceLookup },
  ids: FoundId[],
): Map<string, ReferenceFact> => references.facts(ids);

/** What the reader of an upload, which has no database, asks about the catalog. */
export const uploadJobs = {
  releaseOfSlug,
  identifiedRelease,
  factsOfCcis,
  vocabularyOfIds,
  factsOfReferences,
};
