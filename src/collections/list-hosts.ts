import type { User } from '../auth/viewer.ts';
import { type ChecklistHost, requireSlugs, stigsAmong, unusualNames } from '../catalog/stigs/host-schema.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { Database } from '../db/database.ts';
import type { Match } from '../http/if-match.ts';
import { createCollectionWriter } from './collection-writer.ts';
import { createVisible } from './collections.ts';
import { createListRows } from './list-rows.ts';
import type { ListHosts } from './lists-schema.ts';

/** The hosts that are kept with lists (rule D36.6). All throw the one 404 for a list that the user may not see. */
export function createListHostService(db: Database, now: () => Date, stigNames: StigNameIndex) {
  const visible = createVisible(db, 'list');
  const lists = createCollectionWriter(db, 'list', now);
  const rows = createListRows(db);
  const hostsOf = db.sqlite
    .prepare<[string], string>('SELECT hosts_json FROM list_hosts WHERE list_id = ?')
    .pluck();
  const remove = db.sqlite.prepare('DELETE FROM list_hosts WHERE list_id = ?');
  const insert = db.sqlite.prepare('INSERT INTO list_hosts (list_id, hosts_json) VALUES (?, ?)');
  const stored = (list: string) => JSON.parse(hostsOf.get(list) ?? '[]') as ChecklistHost[];
  const releasesOf = (id: string) =>
    rows.entries(id).map(({ slug, version }) => ({ slug, release: { version } }));

  /** The table, with a STIG that has left the list since in `missing` of its host. */
  function shown(id: string): ListHosts['hosts'] {
    const among = new Set(releasesOf(id).map(({ slug }) => slug));
    return stored(id).map(({ stigs, ...host }) => {
      if (stigs === undefined) return host;
      const slugs = stigs.map(stigNames.slugOf);
      const missing = slugs.filter((slug) => !among.has(slug));
      const own = slugs.filter((slug) => among.has(slug));
      return { ...host, stigs: own, ...(missing.length === 0 ? {} : { missing }) };
    });
  }

  const answer = (id: string): ListHosts => {
    const hosts = shown(id);
    return { hosts, warnings: unusualNames(hosts) };
  };

  /** Replaces the table by what `change` makes of it. Throws 403 for another's list, 412, and what `change` throws. */
  function edit(
    user: User,
    id: string,
    change: (hosts: ChecklistHost[]) => ChecklistHost[],
    match: Match = null,
  ): Promise<ListHosts> {
    return db.write(() => {
      lists.own(user, id, match);
      const hosts = change(stored(id));
      remove.run(id);
      if (hosts.length > 0) insert.run(id, JSON.stringify(hosts));
      lists.change(id, {});
      return answer(id);
    });
  }

  return {
    edit,

    get: (user: User, id: string): ListHosts => db.read(() => answer(visible.find(user, id).id)),

    /** Replaces the whole table. Throws as `edit`, and 400 for a STIG that the list lacks. */
    put: (user: User, id: string, hosts: ChecklistHost[], match: Match = null) =>
      edit(user, id, () => requireSlugs(hosts, stigsAmong(stigNames, releasesOf(id))), match),
  };
}
