import { citation } from '../base/citation.ts';
import { pick } from '../base/objects.ts';
import { brief } from '../base/text.ts';
import type { List } from '../collections/lists-schema.ts';
import type { Services } from '../services.ts';
import { type Answer, type Call, ofList, withRows } from './calls.ts';

export async function myLists(services: Services, call: Call): Promise<Answer> {
  const user = await call.caller.user();
  const { list } = call.args;
  if (list !== undefined) {
    const { stigs } = ofList(() => services.listStigs.exported(user, list));
    const rows = stigs.map((entry) => {
      const { slug, version, title } = entry;
      // A STIG or release that the catalog no longer has has nothing to cite.
      const cite = version === '' ? null : citation(slug, version);
      const counts = pick(entry, 'findingCount', 'catI', 'catII', 'catIII');
      const releases = pick(entry, 'version', 'release', 'newest', 'state');
      return { id: slug, cite, title: brief(title), ...releases, ...counts };
    });
    return withRows(call, { found: true, total: rows.length }, 'stigs', rows.slice(call.at), rows.length);
  }
  const texts = services.lists.texts(user, false);
  const rows = texts.slice(call.at).map((text) => {
    const { id, name, description, visibility, stigCount, updatedAt } = JSON.parse(text) as List;
    return { id, name: brief(name), description: brief(description), visibility, stigCount, updatedAt };
  });
  return withRows(call, { found: true, total: texts.length }, 'lists', rows, texts.length);
}

/** What narrows an answer to a list of the caller's: its slugs, and the entries that are pinned (rule D35.2). */
export async function inList({ listStigs }: Services, call: Call) {
  const { list } = call.args;
  if (list === undefined) return {};
  const user = await call.caller.user();
  const pinned = ofList(() => listStigs.pinned(user, list)).slice(0, 50);
  const cites = pinned.map(({ slug, version }) => citation(slug, version));
  return { among: listStigs.slugs(user, list), pinned: cites };
}

/** What the catalog has and no tool answers (rule D54.4). */
const notServed = ['roles', 'documents'];

export async function catalogInfo({ summary, controls }: Services, call: Call): Promise<Answer> {
  const { digest: _, ...catalog } = await summary.summary();
  const frameworks = controls
    .imported()
    .flatMap((framework) =>
      controls.versions(framework).map(({ version, isServed }) => ({ framework, version, served: isServed })),
    );
  const head = { found: true, ...catalog, notServed };
  return withRows(call, head, 'frameworks', frameworks.slice(call.at), frameworks.length);
}
