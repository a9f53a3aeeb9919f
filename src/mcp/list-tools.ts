import { citation } from '../base/citation.ts';
import { pick } from '../base/objects.ts';
import { brief } from '../base/text.ts';
import type { Services } from '../services.ts';
import { type Answer, type Call, ofList, withRows } from './calls.ts';

export function myLists(services: Services, call: Call): Answer {
  const { list } = call.args;
  if (list !== undefined) return stigsOfList(services, call, list);
  const all = services.lists.all(call.user!);
  const rows = all.slice(call.at).map(({ id, name, description, visibility, stigCount, updatedAt }) => {
    return { id, name: brief(name), description: brief(description), visibility, stigCount, updatedAt };
  });
  return withRows(call, { found: true, total: all.length }, 'lists', rows, all.length);
}

function stigsOfList({ listStigs }: Services, call: Call, list: string): Answer {
  const { stigs } = ofList(() => listStigs.exported(call.user!, list));
  const rows = stigs.map((entry) => ({
    id: entry.slug,
    // A STIG or release that the catalog no longer has has nothing to cite.
    cite: entry.version === '' ? null : citation(entry.slug, entry.version),
    title: brief(entry.title),
    ...pick(entry, 'version', 'release', 'newest', 'state', 'findingCount', 'catI', 'catII', 'catIII'),
  }));
  return withRows(call, { found: true, total: rows.length }, 'stigs', rows.slice(call.at), rows.length);
}

/** What narrows an answer to a list of the caller's: its slugs, and the entries that are pinned (rule D35.2). */
export function inList({ listStigs }: Services, call: Call) {
  const { list } = call.args;
  if (list === undefined) return {};
  const pinned = ofList(() => listStigs.pinned(call.user!, list)).slice(0, 50);
  const cites = pinned.map(({ slug, version }) => citation(slug, version));
  return { among: listStigs.slugs(call.user!, list), pinned: cites };
}

/** What the catalog has and no tool answers (rule D54.4). */
const notServed = ['roles', 'documents'];

export function catalogInfo({ summary, controls }: Services, call: Call): Answer {
  const { digest: _, ...catalog } = summary.summary();
  const frameworks = controls
    .imported()
    .flatMap((framework) =>
      controls.versions(framework).map(({ version, isServed }) => ({ framework, version, served: isServed })),
    );
  const head = { found: true, ...catalog, notServed };
  return withRows(call, head, 'frameworks', frameworks.slice(call.at), frameworks.length);
}
