import type { Env, Presence } from '../http/env.ts';
import type { ChecklistZip, MakeChecklists } from './host-zip.ts';
import type { ChecklistsBody } from './hosts-schema.ts';

type User = Env['Variables']['user'];

/** The name and STIGs of a list; `release` is null for a STIG that is no longer in the catalog. */
export interface ListOfStigs {
  name: string;
  stigs: { slug: string; release: { version: string } | null }[];
}

export interface ListChecklists {
  zip: ChecklistZip;
  name: string;
  gone: string[];
}

export type MakeListChecklists = ReturnType<typeof createListChecklists>;

/** Makes the function that makes the checklists of a list. It throws what `listOf` and `make` throw. */
export function createListChecklists(
  make: MakeChecklists,
  listOf: (user: User, id: string) => ListOfStigs,
  classification: string | null,
) {
  return async (
    user: User,
    id: string,
    asked: ChecklistsBody,
    caller: Pick<Presence, 'closed'>,
  ): Promise<ListChecklists> => {
    let list: ListOfStigs = listOf(user, id);
    const wanted = () => {
      list = listOf(user, id);
      return list.stigs.flatMap(({ slug, release }) =>
        release === null ? [] : [{ slug, version: release.version }],
      );
    };
    const zip = await make(wanted, asked, classification, caller);
    const gone = list.stigs.filter(({ release }) => release === null).map(({ slug }) => slug);
    return { zip, name: `${list.name}_checklists.zip`, gone };
  };
}
