import { badRequest } from '../base/errors.ts';
import { type ChecklistHost, requireSlugs, stigsAmong, unusualNames } from '../catalog/stigs/host-schema.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { Env } from '../http/env.ts';
import type { ChecklistZip, MakeChecklists } from './host-zip.ts';
import type { ChecklistsBody } from './list-checklists-schema.ts';

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
  /** Words about the names of hosts. */
  warnings: string[];
}

export type MakeListChecklists = ReturnType<typeof createListChecklists>;

/** What is kept about lists: both throw for a list that the user may not see. */
interface KeptLists {
  releases(user: User, id: string): ListOfStigs;
  hosts(user: User, id: string): ChecklistHost[];
}

/**
 * Makes the function that makes the checklists of a list, for the hosts that are named, or that are kept with it. It throws
 * what `kept` and `make` throw, 400 for no host and for a STIG that the list lacks.
 */
export function createListChecklists(
  make: MakeChecklists,
  stigNames: StigNameIndex,
  kept: KeptLists,
  classification: string | null,
) {
  return (user: User, id: string, asked: ChecklistsBody): ListChecklists => {
    const list = kept.releases(user, id);
    const among = stigsAmong(stigNames, list.stigs);
    const hosts = asked.hosts ? requireSlugs(asked.hosts, among) : kept.hosts(user, id);
    if (hosts.length === 0) throw badRequest('The list has no hosts: name some', '/hosts');
    const wanted = list.stigs.flatMap(({ slug, release }) =>
      release === null ? [] : [{ slug, version: release.version }],
    );
    const zip = make(wanted, { ...asked, hosts }, classification);
    const gone = list.stigs.filter(({ release }) => release === null).map(({ slug }) => slug);
    return { zip, name: `${list.name}_checklists.zip`, gone, warnings: unusualNames(hosts) };
  };
}
