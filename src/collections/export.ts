import type { Column } from '../http/columns.ts';
import type { DocumentCollectionExport, RoleCollectionExport } from './catalog-collections-schema.ts';
import type { CollectionExport } from './control-collections-schema.ts';
import type { ListExport } from './lists-schema.ts';

/** The columns of the csv export of a list: the JSON names in the specification's order (DECISIONS D5.4). */
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

/** The columns of the exports of a collection of documents. */
export const documentCollectionColumns: Column<DocumentCollectionExport['documents'][number]>[] = [
  { name: 'documentId', value: (row) => row.documentId },
  { name: 'title', value: (row) => row.title },
  { name: 'publisher', value: (row) => row.publisher },
  { name: 'doctype', value: (row) => row.doctype },
  { name: 'published', value: (row) => row.published },
  { name: 'cyberScore', value: (row) => row.cyberScore },
  { name: 'jurisdiction', value: (row) => row.jurisdiction },
  { name: 'addedAt', value: (row) => row.addedAt },
];

/** The columns of the exports of a collection of roles. */
export const roleCollectionColumns: Column<RoleCollectionExport['roles'][number]>[] = [
  { name: 'occupationCode', value: (row) => row.occupationCode },
  { name: 'title', value: (row) => row.title },
  { name: 'occupationFamily', value: (row) => row.occupationFamily },
  { name: 'jobZone', value: (row) => row.jobZone },
  { name: 'taskCount', value: (row) => row.taskCount },
  { name: 'technologySkillCount', value: (row) => row.technologySkillCount },
  { name: 'stigMappingCount', value: (row) => row.stigMappingCount },
  { name: 'addedAt', value: (row) => row.addedAt },
];
