import { citation } from '../base/citation.ts';
import type { List } from '../collections/lists-schema.ts';
import type { Services } from '../services.ts';
import { type Answer, brief, type Call, ofList, withRows } from './calls.ts';

export async function myLists(services: Services, call: Call): Promise<Answer> {
  const user = await call.caller.user();
  const { list } = call.args as { list?: string };
  if (list !== undefined) {
    const { stigs } = ofList(() => services.listStigs.exported(user, list));
    const rows = stigs.map(({ slug, title, version, release, findingCount }) => {
      // A STIG that the catalog no longer has has no release to cite.
      const cite = version === '' ? null : citation(slug, version);
      return { id: slug, cite, title: brief(title), pinned: release !== null, findingCount };
    });
    return withRows(call, { found: true, total: rows.length }, 'stigs', rows.slice(call.at), rows.length);
  }
  const { lists } = JSON.parse(services.lists.text(user, false)) as { lists: List[] };
  const rows = lists.map(({ id, name, description, visibility, stigCount, updatedAt }) => {
    return { id, name: brief(name), description: brief(description), visibility, stigCount, updatedAt };
  });
  return withRows(call, { found: true, total: rows.length }, 'lists', rows.slice(call.at), rows.length);
}

/** The frameworks that have a catalog of their own, and the CCIs. */
const shown = ['nist-800-53', 'nist-800-171', 'dod-8500', 'cci'] as const;

export async function catalogInfo(services: Services): Promise<Answer> {
  const { digest: _, ...catalog } = await services.summary.summary();
  return {
    found: true,
    ...catalog,
    frameworks: shown.flatMap((framework) =>
      services.controls
        .versions(framework)
        .map(({ version, isServed }) => ({ framework, version, served: isServed })),
    ),
  };
}
