import type { Child } from 'hono/jsx';
import type { CollectionControls, ControlCollection } from '../../collections/control-collections-schema.ts';
import { type CollectionForm, CollectionInputs, DeleteForm, Swatch, Tags } from './collection-form.tsx';
import { controlHref, frameworkName } from './frameworks.ts';
import { Downloads, Empty, Facts, link, Moment, PostButton, Problem, path, Table } from './parts.tsx';
import type { View } from './view.ts';

/** The collections of controls that the reader sees, and the form for a new one. */
export function collectionsPage(page: {
  collections: ControlCollection[];
  subject: string;
  form: CollectionForm;
  problem: string | null;
}): View {
  const { collections, subject, form, problem } = page;
  return {
    title: 'Collections',
    section: 'collections',
    body: (
      <>
        <h1>Collections</h1>
        <p class="lead">Collections of controls: your own, and those that your organization shares.</p>
        {collections.length === 0 ? (
          <Empty>No collections yet. Create one below, then add controls from their pages.</Empty>
        ) : (
          <Table
            caption="Collections of controls"
            head={['Name', 'Controls', 'Visibility', 'Created by', 'Created']}
            rows={collections.map((each) => [
              <>
                <Swatch color={each.color} />
                <a href={path('collections', each.id)}>{each.name}</a> <Tags tags={each.tags} />
              </>,
              each.controlCount,
              each.visibility === 'SHARED' ? 'Organization' : 'Private',
              each.createdById === subject ? 'you' : each.createdById,
              <Moment at={each.createdAt} />,
            ])}
          />
        )}
        <h2 id="new">New collection</h2>
        <form class="fields" method="post" action="/collections">
          <CollectionInputs form={form} problem={problem} submit="Create collection" />
        </form>
      </>
    ),
  };
}

export interface CollectionPage {
  collection: Omit<ControlCollection, 'visibility'> & { visibility: string };
  controls: CollectionControls['controls'];
  isOwn: boolean;
  adding: { framework: string; controlIds: string; notes: string; problem: string | null };
}

export function collectionPage({ collection, controls, isOwn, adding }: CollectionPage): View {
  const home = path('collections', collection.id);
  const isShared = collection.visibility.toUpperCase() === 'SHARED';
  return {
    title: collection.name,
    section: 'collections',
    body: (
      <>
        <p class="crumbs">
          <a href="/collections">Collections</a>
        </p>
        <h1>
          <Swatch color={collection.color} />
          {collection.name}
        </h1>
        {collection.description === '' ? null : <p class="lead prose">{collection.description}</p>}
        <Tags tags={collection.tags} />
        <Facts
          of={[
            ['Controls', collection.controlCount],
            ['Visibility', isShared ? 'Organization' : 'Private'],
            ['Created by', isOwn ? 'you' : collection.createdById],
            ['Updated', <Moment at={collection.updatedAt} />],
          ]}
        />
        <div class="actions">
          <Downloads
            href={(format) => link(`/api/v1/control-collections/${collection.id}/export`, { format })}
            formats={['json', 'csv']}
          />
          {isOwn ? (
            <a class="button quiet" href={`${home}/edit`}>
              Edit
            </a>
          ) : null}
        </div>
        <AddControls home={home} adding={adding} />
        {controls.length === 0 ? (
          <Empty>
            This collection is empty. <a href="/controls">Browse controls</a>
          </Empty>
        ) : (
          <Table
            caption={`Controls of ${collection.name}`}
            head={['Control', 'Title', 'Family', 'Notes', ...(isOwn ? ['Actions'] : [])]}
            rows={controls.map((control) => [
              <>
                <a href={controlHref(control.framework, control.identifier)!}>{control.identifier}</a>{' '}
                <span class="quiet">{frameworkName(control.framework)}</span>
              </>,
              control.title,
              control.family,
              control.notes === '' ? '' : <span class="prose">{control.notes}</span>,
              ...(isOwn
                ? [
                    <PostButton
                      action={`${home}/controls/remove`}
                      label="Remove"
                      about={control.identifier}
                      fields={{ framework: control.framework, controlId: control.identifier }}
                      quiet
                    />,
                  ]
                : []),
            ])}
          />
        )}
        {isOwn ? <DeleteForm action={`${home}/delete`} what="collection" /> : null}
      </>
    ),
  };
}

function AddControls({ home, adding }: { home: string; adding: CollectionPage['adding'] }): Child {
  return (
    <details class="more" open={adding.problem !== null}>
      <summary>Add controls by ID</summary>
      <form class="fields" method="post" action={`${home}/controls`}>
        <Problem text={adding.problem} />
        <div>
          <label for="framework">Catalog</label>
          <select id="framework" name="framework">
            {['nist-800-53', 'nist-800-171', 'dod-8500'].map((framework) => (
              <option value={framework} selected={framework === adding.framework}>
                {frameworkName(framework)}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="controlIds">Controls</label>
          <textarea id="controlIds" name="controlIds" class="mono" required aria-describedby="ids-hint">
            {adding.controlIds}
          </textarea>
          <p class="hint" id="ids-hint">
            One per line, such as AC-2(1) or 3.1.1
          </p>
        </div>
        <div>
          <label for="notes">Notes for these controls</label>
          <input id="notes" name="notes" value={adding.notes} maxlength={4000} />
        </div>
        <div>
          <button type="submit">Add controls</button>
        </div>
      </form>
    </details>
  );
}
