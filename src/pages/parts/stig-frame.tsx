import type { Child } from 'hono/jsx';
import { link, path, shortTitle, Tabs } from './components.tsx';
import { Hidden } from './forms.tsx';
import type { View } from './view.ts';

/** The tabs of a STIG's page, in order. Each name is the end of an address; the first tab has none. */
const parts = [
  ['rules', 'Rules'],
  ['releases', 'Releases'],
  ['automation', 'Automation'],
  ['coverage', 'Coverage'],
  ['worksheet', 'Worksheet'],
  ['roles', 'Who is responsible'],
  ['about', 'About'],
] as const;
type StigPart = (typeof parts)[number][0];

interface ShownStig {
  slug: string;
  title: string;
  /** The release of the page. */
  version: string;
  versions: { version: string; releaseDate: string | null; current: boolean }[];
}

/** The headings of the guide for parts that have one. */
const helps: Partial<Record<StigPart, string>> = {
  releases: 'compare-two-releases',
  automation: 'plan-the-work',
  coverage: 'what-does-a-list-cover',
  worksheet: 'plan-the-work',
  roles: 'roles-and-regulations',
};

/** The address of a tab of a STIG's page. */
export function stigPath(slug: string, part: StigPart): string {
  return part === 'rules' ? path('stigs', slug) : path('stigs', slug, part);
}

/** Empty for the latest release: addresses name no other way. */
export function pinnedOf({ version, versions }: ShownStig): string {
  return versions.find((each) => each.version === version)?.current ? '' : version;
}

/** One tab of a STIG's page: its title, the switch to other releases, the tabs, and the body. */
export function stigView(page: {
  stig: ShownStig;
  part: StigPart;
  /** Beside the switch. */
  facts?: Child;
  actions: Child;
  /** What else the switch keeps of the address. */
  keep?: Record<string, string | undefined>;
  body: Child;
}): View {
  const { stig, part, facts, actions, keep = {}, body } = page;
  const { slug, title, version, versions } = stig;
  const pinned = pinnedOf(stig);
  const label = parts.find(([each]) => each === part)![1];
  return {
    title:
      part === 'rules' ? `${shortTitle(title)} ${version}` : `${label} · ${shortTitle(title)} ${version}`,
    section: 'stigs',
    help: helps[part],
    crumbs: [['STIGs', '/stigs']],
    printed: `${title} ${version}, ${versions.find((each) => each.version === version)?.releaseDate ?? 'no date'}`,
    heading: <span title={title}>{shortTitle(title)}</span>,
    actions,
    body: (
      <>
        <div class="stig-head">
          <form action={stigPath(slug, part)}>
            <Hidden fields={keep} />
            <label class="hidden" for="version">
              Release
            </label>
            <select id="version" name="version">
              {versions.map((each) => (
                <option value={each.current ? '' : each.version} selected={each.version === version}>
                  {each.version} · {each.releaseDate ?? 'no date'}
                  {each.current ? ' · latest' : ''}
                </option>
              ))}
            </select>{' '}
            <button type="submit" class="quiet">
              Show
            </button>
          </form>
          {facts}
        </div>
        {pinned === '' ? null : (
          <p class="warning">
            This is not the latest release. <a href={stigPath(slug, part)}>Show the latest release</a>
          </p>
        )}
        <Tabs
          label="Parts of this STIG"
          of={parts.map(([each, name]) => [
            each === 'releases' ? `${name} ${versions.length}` : name,
            link(stigPath(slug, each), { version: pinned }),
            each === part,
          ])}
        />
        {part === 'rules' ? null : <h2 class="hidden">{label}</h2>}
        {body}
      </>
    ),
  };
}
