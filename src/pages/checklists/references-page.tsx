import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { FileReference, ReferenceState } from '../../checklists/reference-schema.ts';
import { Empty, link, path, Table, Totals } from '../parts/components.tsx';
import { Labelled, Problem, TextArea } from '../parts/forms.tsx';
import { ruleHref } from '../parts/rule-links.tsx';
import type { View } from '../parts/view.ts';
import { SendAgain, storedFor, toolView } from './upgrade-form.tsx';

/** The form that finds ids in a text or in files (rule D39.2). */
export function referencesPage({ text, problem }: { text: string; problem: string | null }): View {
  return toolView({
    tool: 'references',
    title: 'Check the IDs in a text',
    body: (
      <>
        <p class="lead">
          Paste a report, a playbook or a profile, or choose files. Gapstone finds every id of a rule,
          control, CCI and SRG requirement, and says whether it is current, changed, removed, withdrawn, or in
          no source. {storedFor}
        </p>
        <form class="fields" method="post" action="/references" enctype="multipart/form-data">
          <Problem text={problem} />
          <TextArea name="text" label="Text" text={text} rows={12} />
          <Labelled id="file" label="Files" hint="Text files, at most 100 and 8 MiB together.">
            <input id="file" name="file" type="file" multiple aria-describedby="file-hint" />
          </Labelled>
          <div class="actions">
            <button type="submit">Check IDs</button>
          </div>
        </form>
      </>
    ),
  });
}

const meanings: Record<ReferenceState, string> = {
  unknown: 'In no source',
  removed: 'Removed',
  changed: 'Changed since',
  withdrawn: 'Withdrawn',
  deprecated: 'Deprecated',
  current: 'Current',
};

/** What needs work stands first. */
const order = Object.keys(meanings) as ReferenceState[];

/** Lines of a table: more are in the csv. */
const mostShown = 500;

/** What became of each id of the texts that the server stores under an id. */
export function foundReferencesPage(page: { found: FileReference[]; skipped: string[]; id: string }): View {
  const { found, skipped, id } = page;
  const byState = Map.groupBy(found, ({ state }) => state);
  const shown = order.flatMap((state) => {
    const references = byState.get(state);
    return references === undefined ? [] : [{ state, references }];
  });
  return toolView({
    tool: 'references',
    title: 'The IDs of a text',
    heading: `${count(found.length, 'id')} found`,
    body: (
      <>
        {skipped.length === 0 ? null : (
          <p class="warning">Skipped, because not text: {skipped.join(', ')}.</p>
        )}
        {found.length === 0 ? (
          <Empty>
            No id of a rule, control, CCI or SRG requirement. <a href="/references">Try another text</a>
          </Empty>
        ) : (
          <>
            <Totals
              of={shown.map(({ state, references }) => [references.length, meanings[state], `#${state}`])}
            />
            <SendAgain to="references" id={id} fields={{ as: 'csv' }} submit="Download CSV" isQuiet />
            {shown.map((each) => (
              <Group {...each} />
            ))}
          </>
        )}
      </>
    ),
  });
}

function Group({ state, references }: { state: ReferenceState; references: FileReference[] }): Child {
  return (
    <details class="more" id={state} open={state !== 'current'}>
      <summary>
        {meanings[state]}: {count(references.length, 'id')}
      </summary>
      {state === 'unknown' ? (
        <p class="quiet">Invented or misspelt, or of a STIG that is not imported here.</p>
      ) : null}
      <Table
        class="cited"
        caption={meanings[state]}
        head={['Id in the text', 'Place', 'What it names', 'Advice']}
        rows={references.slice(0, mostShown).map(row)}
      />
      {references.length > mostShown ? (
        <p class="quiet">{(references.length - mostShown).toLocaleString('en-US')} more are in the CSV.</p>
      ) : null}
    </details>
  );
}

function row({ text, file, line, column, kind, id, title, slug, advice }: FileReference): Child[] {
  // A search for one control opens its page; one for a requirement finds its rules.
  const href =
    kind === 'cci'
      ? path('ccis', id)
      : kind !== 'rule'
        ? link('/search', { q: id })
        : slug === null
          ? null
          : ruleHref(slug, { groupId: id });
  return [
    <span class="ids">{text}</span>,
    <span class="mono">
      {file === '' ? '' : `${file}:`}
      {line}:{column}
    </span>,
    title === null ? '' : href === null ? title : <a href={href}>{title}</a>,
    advice ?? '',
  ];
}
