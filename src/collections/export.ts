import type { Column } from '../http/columns.ts';
import type { CollectionExport } from './control-collections-schema.ts';
import type { ListExport } from './lists-schema.ts';

/** The columns of the csv export of a list: the JSON names in their order (rule D5.4). */
export const listColumns: Column<ListExport['stigs'][number]>[] = [
  { name: 'slug', value: (row) => row.slug },
  { name: 'title', value: (row) => row.title },
  { name: 'version', value: (row) => row.version },
  { name: 'status', value: (row) => row.status },
  { name: 'statusDate', value: (row) => row.statusDate },
  { name: 'findingCount', value: (row) => row.findingCount },
  { name: 'catI', value: (row) => row.catI },
  { name: 'catII', value: (row) => row.catII },
  { name: 'catIII', value: (row) => row.catIII },
  { name: 'addedAt', value: (row) => row.addedAt },
  { name: 'position', value: (row) => row.position },
];

/** The columns of the csv export of a control collection. */
export const collectionColumns: Column<CollectionExport['controls'][number]>[] = [
  { name: 'controlId', value: (row) => row.controlId },
  { name: 'framework', value: (row) => row.framework },
  { name: 'identifier', value: (row) => row.identifier },
  { name: 'title', value: (row) => row.title },
  { name: 'family', value: (row) => row.family },
  { name: 'statement', value: (row) => row.statement },
  { name: 'notes', value: (row) => row.notes },
];
