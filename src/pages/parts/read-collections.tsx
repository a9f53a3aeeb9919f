import type { Child } from 'hono/jsx';
import { Downloads, path, Table } from './components.tsx';

/** The collections that the reader may see: pages only read what the command line creates (rule D8.6). */
export function ReadCollections(props: {
  of: 'Documents' | 'Roles';
  api: 'regdoc-collections' | 'role-collections';
  collections: { id: string; name: string; count: number }[];
}): Child {
  const { of, api, collections } = props;
  const things = of.toLowerCase();
  return (
    <>
      <h2>Collections</h2>
      <Table
        caption={`Collections of ${things}`}
        head={['Name', of, 'Download']}
        rows={collections.map(({ id, name, count }) => [
          name,
          count,
          <Downloads of={path(api, id, 'export')} formats={['json', 'csv', 'xml', 'xlsx']} />,
        ])}
      >
        No collections of {things} yet. An administrator creates them on the server with{' '}
        <code>gapstone collection create</code>.
      </Table>
    </>
  );
}
