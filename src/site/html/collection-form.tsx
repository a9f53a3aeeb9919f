import type { Child } from 'hono/jsx';
import { Downloads, Empty, link, Problem, path, Table } from './parts.tsx';
import type { View } from './view.ts';

/** What a form for a list or a collection holds, as it is typed. */
export interface CollectionForm {
  name: string;
  description: string;
  /** Divided by commas. */
  tags: string;
  color: string;
  /** Lists alone have one. */
  icon?: string;
  visibility: string;
}

export const emptyForm: CollectionForm = {
  name: '',
  description: '',
  tags: '',
  color: '',
  visibility: 'PRIVATE',
};

/** The fields that a creator sets (rule D8.2). */
export function CollectionInputs({
  form,
  problem,
  submit,
}: {
  form: CollectionForm;
  problem: string | null;
  submit: string;
}): Child {
  return (
    <>
      <Problem text={problem} />
      <div>
        <label for="name">Name</label>
        <input id="name" name="name" value={form.name} required maxlength={200} />
      </div>
      <div>
        <label for="description">Description</label>
        <textarea id="description" name="description" maxlength={2000}>
          {form.description}
        </textarea>
      </div>
      <div>
        <label for="tags">Tags</label>
        <input id="tags" name="tags" value={form.tags} aria-describedby="tags-hint" />
        <p class="hint" id="tags-hint">
          Separated by commas, at most 20
        </p>
      </div>
      <div>
        <label for="color">Color</label>
        <input
          id="color"
          name="color"
          value={form.color}
          pattern="#[0-9A-Fa-f]{6}"
          aria-describedby="color-hint"
        />
        <p class="hint" id="color-hint">
          Optional, such as #2a6fdb
        </p>
      </div>
      {form.icon === undefined ? null : (
        <div>
          <label for="icon">Icon key</label>
          <input id="icon" name="icon" value={form.icon} maxlength={50} />
        </div>
      )}
      <div>
        <label for="visibility">Visibility</label>
        <select id="visibility" name="visibility">
          <option value="PRIVATE" selected={form.visibility !== 'SHARED'}>
            Private
          </option>
          <option value="SHARED" selected={form.visibility === 'SHARED'}>
            Organization
          </option>
        </select>
      </div>
      <div>
        <button type="submit">{submit}</button>
      </div>
    </>
  );
}

const kinds = {
  lists: { name: 'Lists', one: 'list' },
  collections: { name: 'Collections', one: 'collection' },
};

/** Changing what a list or a collection is called and who sees it. */
export function editCollectionPage(page: {
  kind: keyof typeof kinds;
  id: string;
  form: CollectionForm;
  problem: string | null;
}): View {
  const { kind, id, form, problem } = page;
  const { name, one } = kinds[kind];
  const home = path(kind, id);
  return {
    title: `Edit ${one}`,
    section: kind,
    body: (
      <>
        <p class="crumbs">
          <a href={path(kind)}>{name}</a> / <a href={home}>{form.name}</a>
        </p>
        <h1>Edit {one}</h1>
        <form class="fields" method="post" action={`${home}/edit`}>
          <CollectionInputs form={form} problem={problem} submit="Save" />
        </form>
      </>
    ),
  };
}

/** The collections of documents or of roles that the reader sees: made on the command line, only read here (rule D8.6). */
export function ReadCollections(props: {
  /** What they are of, as a heading has it. */
  of: 'Documents' | 'Roles';
  api: 'regdoc-collections' | 'role-collections';
  collections: { id: string; name: string; count: number }[];
}): Child {
  const { of, api, collections } = props;
  const things = of.toLowerCase();
  return (
    <>
      <h2>Collections</h2>
      {collections.length === 0 ? (
        <Empty>
          No collections of {things} yet. An administrator creates them on the server with{' '}
          <code>gapstone collection create</code>.
        </Empty>
      ) : (
        <Table
          caption={`Collections of ${things}`}
          head={['Name', of, 'Download']}
          rows={collections.map(({ id, name, count }) => [
            name,
            count,
            <Downloads
              href={(format) => link(`/api/v1/${api}/${id}/export`, { format })}
              formats={['json', 'csv', 'xml']}
            />,
          ])}
        />
      )}
    </>
  );
}

/** The color that a list was given, as a sign beside its name. */
export function Swatch({ color }: { color: string }): Child {
  if (color === '') return null;
  return (
    <svg class="swatch" width="14" height="14" aria-hidden="true">
      <rect width="14" height="14" rx="3" fill={color} />
    </svg>
  );
}

export function Tags({ tags }: { tags: string[] }): Child {
  return tags.map((tag) => <span class="tag">{tag}</span>);
}

/** Deleting asks twice, with or without script: the button is behind a line that has to be opened. */
export function DeleteForm({ action, what }: { action: string; what: string }): Child {
  return (
    <details class="more">
      <summary>Delete this {what}</summary>
      <form class="actions" method="post" action={action}>
        <button type="submit" class="danger">
          Delete {what}
        </button>
      </form>
    </details>
  );
}
