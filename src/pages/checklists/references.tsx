import type { Child } from 'hono/jsx';
import type { Ask } from '../../base/ask.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { count } from '../../base/text.ts';
import { fileText, largestText, mostReferences } from '../../checklists/reference-lookup.ts';
import {
  type FileReference,
  type ReferenceState,
  referenceColumns,
} from '../../checklists/reference-schema.ts';
import { referencesIn } from '../../checklists/references.ts';
import type { NamedFile } from '../../checklists/upgrade-several.ts';
import { bytesOf, type Upgraded } from '../../checklists/upload.ts';
import { toCsv } from '../../http/columns.ts';
import type { Form } from '../../http/env.ts';
import { Empty, link, path, Table, Totals } from '../parts/components.tsx';
import { Labelled, Problem, TextArea } from '../parts/forms.tsx';
import { renderPage } from '../parts/layout.tsx';
import { ruleHref } from '../parts/links.tsx';
import type { PageFrame, View } from '../parts/view.ts';
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
function foundReferencesPage(page: { found: FileReference[]; skipped: string[]; id: string }): View {
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

const mostFiles = 100;

/** The texts of a form, of which a pasted one has no name. Throws a 400 for too many files, a 413 for more than 8 MiB. */
export function citingTexts(form: Form): NamedFile[] {
  const text = form.get('text');
  const files = form.files('file').map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }));
  if (files.length > mostFiles) throw badRequest(`Choose at most ${mostFiles} files at once`, 'file');
  const texts = text.trim() === '' ? files : [{ name: '', bytes: Buffer.from(text) }, ...files];
  const size = texts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (size > largestText)
    throw new AppError('PAYLOAD_TOO_LARGE', `The texts are larger than ${largestText} bytes together`);
  return texts;
}

/**
 * Finds the ids of texts (rule D39.2): the answer is a csv, or a page whose forms name the texts by `id`. Throws a 400
 * for no text and for more than 50,000 ids.
 */
export async function citedWork(
  ask: Ask,
  texts: NamedFile[],
  id: string,
  form: Form,
  frame: PageFrame,
): Promise<Upgraded> {
  const found: FileReference[] = [];
  const skipped: string[] = [];
  if (texts.length === 0) throw badRequest('Paste a text, or choose files', 'text');
  for (const { name, bytes } of texts) {
    const text = name === '' ? bytes.toString() : fileText(bytes);
    if (text === null) skipped.push(name);
    else {
      const { references } = await referencesIn(ask, text, mostReferences - found.length);
      for (const each of references) found.push({ file: name, ...each });
    }
  }
  if (form.get('as') === 'csv')
    return {
      bytes: bytesOf(toCsv(referenceColumns, found)),
      file: { name: 'references.csv', type: 'csv', marking: null },
    };
  return { bytes: bytesOf(renderPage(foundReferencesPage({ found, skipped, id }), frame)), file: null };
}
