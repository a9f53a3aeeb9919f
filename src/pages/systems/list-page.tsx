import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import { changedRules } from '../../catalog/stigs/changes.ts';
import type { StigChanges } from '../../catalog/stigs/changes-schema.ts';
import type { LaterStig } from '../../catalog/stigs/name-index.ts';
import type { Overview } from '../../collections/list-entries.ts';
import type { ListRow, ListRowSort } from '../../collections/list-rows.ts';
import type { List } from '../../collections/lists-schema.ts';
import type { Unclear } from '../../collections/pasted.ts';
import type { Pagination } from '../../http/schema.ts';
import { FactsOf, Tags } from '../collections/collection-pages.tsx';
import { age, daysSince, SeverityBar } from '../parts/bars.tsx';
import { Downloads, link, NamedStig, path, SeverityCounts, StigLink } from '../parts/components.tsx';
import { FieldsForm, Hidden, Labelled, PostButton, TextArea } from '../parts/forms.tsx';
import { diffHref } from '../parts/links.tsx';
import { listView, type ShownList } from '../parts/list-frame.tsx';
import { type Column, listing } from '../parts/listing.tsx';
import type { View } from '../parts/view.ts';

/** A STIG with the release to which it is pinned, if any, as `readPasted` reads it. */
export function pinnedName(slug: string, release: string | null): string {
  return release === null ? slug : `${slug} ${release}`;
}

/** A name and its notes, in the form that `readPasted` reads. */
export function pastedLine(name: string, notes: string): string {
  return notes === '' ? name : `${name}\t${notes}`;
}

export interface ListOverview extends ShownList<List> {
  entries: ListRow[];
  totals: Overview['totals'];
  pagination: Pagination;
  sort: ListRowSort | undefined;
  /** What changed after the release to which an entry is pinned, by slug. */
  newsOf: Map<string, StigChanges>;
  /** The STIG that comes after each, by its title. */
  laterOf: Map<string, LaterStig | null>;
  adding: { text: string; problem: string | null; unclear: Unclear[] };
  now: Date;
}

/** The overview of a list: its STIGs with their rules by severity, their age and their notes. */
export function listOverviewPage(page: ListOverview): View {
  const { list, isOwn, entries, totals, pagination, sort, adding } = page;
  const home = path('systems', list.id);
  return listView({
    list,
    isOwn,
    part: 'overview',
    actions: <Downloads of={path('systems', list.id, 'export')} formats={['csv', 'xlsx', 'json']} />,
    body: (
      <>
        {list.description === '' ? null : <p class="lead prose">{list.description}</p>}
        <Tags tags={list.tags} />
        <FactsOf shown={list} isOwn={isOwn} first={['STIGs', totals.stigs]} />
        <Totals of={totals} now={page.now} />
        {isOwn ? <AddStigs home={home} adding={adding} isOpen={totals.stigs === 0} /> : null}
        {listing({
          caption: `STIGs of ${list.name}`,
          columns: columnsOf(page, home),
          rows: entries,
          home,
          query: { sort },
          sort: sort ?? 'position',
          pagination,
          empty: (
            <>
              This list is empty. <a href="/stigs">Browse STIGs</a>
              {isOwn ? ' and check them, or paste their names above.' : null}
            </>
          ),
        })}
      </>
    ),
  });
}

function Totals({ of, now }: { of: Overview['totals']; now: Date }): Child {
  if (of.stigs === 0) return null;
  const oldest = daysSince(of.oldest, now);
  const sentences = [
    `${count(of.findingCount, 'rule')} in all.`,
    oldest === null ? '' : `The oldest release is ${age(oldest)} old.`,
    of.newer === 0 ? '' : `${count(of.newer, 'STIG')} with a newer release than added or pinned.`,
    of.gone === 0 ? '' : `${count(of.gone, 'STIG')} whose release is no longer in the catalog.`,
  ];
  return (
    <p>
      {sentences.filter((each) => each !== '').join(' ')}{' '}
      <SeverityCounts counts={{ high: of.catI, medium: of.catII, low: of.catIII }} />
    </p>
  );
}

const daysOfYear = 365;
/** DISA publishes quarterly: what had no release for two years is hardly kept. */
const daysOfNoRelease = 2 * daysOfYear;

const anchorOf = (slug: string) => `stig-${slug}`;

function columnsOf(overview: ListOverview, home: string): Column<ListRow>[] {
  const { isOwn, totals, sort, pagination } = overview;
  const here = link(home, { sort, page: pagination.page === 1 ? undefined : pagination.page });
  const nextOf = ({ slug }: ListRow) => `${here}#${anchorOf(slug)}`;
  return [
    [
      'STIG',
      (entry) => (
        <span id={anchorOf(entry.slug)}>
          <NamedStig of={entry} isGone={entry.newest === ''} />
        </span>
      ),
      'title',
    ],
    [
      'Release',
      (entry) => <Release overview={overview} entry={entry} home={home} next={nextOf(entry)} />,
      'date',
    ],
    ['Rules', (entry) => (entry.state === 'gone' ? '' : <Rules of={entry} most={totals.most} />), 'rules'],
    [
      'Notes',
      (entry) => (
        <>
          {entry.notes === '' ? null : <span class="prose">{entry.notes}</span>}
          {isOwn ? <EntryFields entry={entry} home={home} next={nextOf(entry)} /> : null}
        </>
      ),
      'notes',
    ],
    ['Position', ({ position }) => position, 'position'],
    isOwn && [
      'Actions',
      ({ slug, title, notes }) => (
        <PostButton
          action={`${home}/stigs/remove`}
          label="Remove"
          about={title}
          fields={{ slug }}
          loses={notes === '' ? null : 'Its note'}
        />
      ),
    ],
  ];
}

function Rules({ of, most }: { of: ListRow; most: number }): Child {
  const counts = { high: of.catI, medium: of.catII, low: of.catIII };
  return (
    <span class="bar-line">
      <SeverityBar counts={counts} of={most} />
      <b>{of.findingCount}</b> <SeverityCounts counts={counts} />
    </span>
  );
}

/** The form of the note and the position of an entry, in its row. */
function EntryFields(props: { entry: ListRow; home: string; next: string }): Child {
  const { slug, title, notes, position } = props.entry;
  return (
    <details class="note">
      <summary>
        {notes === '' ? 'Add a note' : 'Edit'}
        <span class="hidden"> for {title}</span>
      </summary>
      <form class="fields" method="post" action={`${props.home}${path('stigs', slug)}`}>
        <Hidden fields={{ next: props.next }} />
        <Labelled id={`notes-${slug}`} label="Notes">
          <textarea id={`notes-${slug}`} name="notes" maxlength={4000}>
            {notes}
          </textarea>
        </Labelled>
        <Labelled id={`position-${slug}`} label="Position">
          <input
            id={`position-${slug}`}
            name="position"
            inputmode="numeric"
            value={position}
            size={6}
            required
          />
        </Labelled>
        <div>
          <button type="submit">
            Save<span class="hidden"> the note for {title}</span>
          </button>
        </div>
      </form>
    </details>
  );
}

interface EntryProps {
  overview: ListOverview;
  entry: ListRow;
  /** The address of the system. */
  home: string;
  /** Where the forms of the entry lead. */
  next: string;
}

/** The release that counts, its age, and what is newer. */
function Release(props: EntryProps): Child {
  const { overview, entry } = props;
  const { slug, title, version, release, newest, state } = entry;
  if (newest === '') return null;
  const later = overview.laterOf.get(slug);
  const days = daysSince(entry.releaseDate, overview.now);
  const old = days === null ? 'no date' : age(days);
  return (
    <>
      {state === 'gone' ? (
        <p class="medium">Pinned to {release}, which is not in the catalog.</p>
      ) : (
        `${version}${release === null ? '' : ' (pinned)'}, ${old}`
      )}
      {overview.isOwn ? (
        <>
          {' '}
          <a class="quiet" href={`${props.home}${path('stigs', slug)}`}>
            Change<span class="hidden"> the release of {title}</span>
          </a>
        </>
      ) : null}
      {days !== null && days > daysOfNoRelease && version === newest ? (
        <p class="quiet">No release for {Math.floor(days / daysOfYear)} years</p>
      ) : null}
      {later ? (
        <p class="quiet">
          By its title, <StigLink of={later} /> comes after it
        </p>
      ) : null}
      {release === null ? <Newer entry={entry} /> : <AfterPinned {...props} />}
    </>
  );
}

/** What the newest release changes after the pinned one, and the button that takes it. */
function AfterPinned({ overview, entry, home, next }: EntryProps): Child {
  const { slug, title, version, newest, state } = entry;
  const news = overview.newsOf.get(slug);
  if (state === 'current') return null;
  return (
    <div class="medium">
      <span aria-hidden="true">↑</span> {newest} is out
      {news === undefined ? null : (
        <>
          : {pinnedNews(news)},{' '}
          <a href={diffHref(slug, version, newest)}>
            what changed<span class="hidden"> in {title}</span>
          </a>{' '}
        </>
      )}
      {overview.isOwn ? (
        <PostButton
          action={`${home}${path('stigs', slug)}`}
          label={`Update to ${newest}`}
          about={title}
          fields={{ release: newest, next }}
        />
      ) : null}
    </div>
  );
}

/** `3 raised to CAT I, 24 changed, 2 added, 1 removed`, without what is none. */
function pinnedNews({ severityRaised, changed, added, removed }: StigChanges): string {
  const numbers: [number, string][] = [
    [severityRaised.filter(({ to }) => to === 'high').length, 'raised to CAT I'],
    [changedRules(changed), 'changed'],
    [added, 'added'],
    [removed, 'removed'],
  ];
  const texts = numbers.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  return texts.length === 0 ? 'no rule changed' : texts.join(', ');
}

/** Shown when a STIG has a newer release than when it was added; links the changes where both are retained. */
function Newer({ entry }: { entry: ListRow }): Child {
  const { slug, version, addedVersion, isNewer, isAddedRetained } = entry;
  if (!isNewer) return null;
  return (
    <p class="medium">
      <span aria-hidden="true">↑</span> Updated: {addedVersion} to {version}
      {isAddedRetained ? (
        <>
          {', '}
          <a href={diffHref(slug, addedVersion, version)}>
            what changed<span class="hidden"> in {entry.title}</span>
          </a>
        </>
      ) : (
        `; the catalog no longer has ${addedVersion}`
      )}
    </p>
  );
}

function AddStigs(props: { home: string; adding: ListOverview['adding']; isOpen: boolean }): Child {
  const { home, adding, isOpen } = props;
  const { unclear } = adding;
  return (
    <details class="more" open={isOpen || adding.problem !== null}>
      <summary>Add STIGs</summary>
      <FieldsForm action={`${home}/stigs`} problem={adding.problem} submit="Add STIGs">
        {unclear.length === 0 ? null : (
          <ul>
            {unclear.map(({ name, notes, candidates }) => (
              <li>
                <q>{name}</q>{' '}
                {candidates.length === 0
                  ? 'is not in the catalog.'
                  : 'needs your confirmation. Did you mean:'}
                {candidates.map(({ slug, title, release }) => (
                  <label class="check">
                    <input
                      type="checkbox"
                      name="slugs"
                      value={pastedLine(pinnedName(slug, release), notes)}
                    />{' '}
                    {title} <span class="ids">{slug}</span> {release ?? 'the newest release'}
                  </label>
                ))}
              </li>
            ))}
          </ul>
        )}
        <TextArea
          name="slugs"
          label="Titles, slugs, benchmark IDs or file names"
          text={adding.text}
          class="mono"
          required={unclear.length === 0}
          hint="One per line, as copied from a column of a sheet. A release at the end (V2R7) pins the STIG to it. A second column, after a tab, becomes the notes."
        />
      </FieldsForm>
    </details>
  );
}
