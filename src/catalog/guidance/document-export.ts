import { type SectionRow, sectionColumns, sectionRows } from '../../http/columns.ts';
import type { FlatFile } from '../../http/downloads.ts';
import { ActionableItem, type RegulatoryDocument, type RegulatoryDocumentFile } from './document-schema.ts';

const columns = sectionColumns([
  ...['documentId', 'title', 'tag', 'page', 'inferenceText', 'csfFunction', 'csfCategory', 'csfCategoryName'],
  ...Object.keys(ActionableItem.shape),
]);

/** The download of a document; its rows are the document, each signpost in each category, each actionable item. */
export function documentFile(document: RegulatoryDocument): FlatFile<SectionRow> {
  const { documentId, title, signposts, actionableItems } = document;
  const json: RegulatoryDocumentFile = { documentId, title, signposts, actionableItems };
  const places = signposts.flatMap(({ nistCsf, ...signpost }, index) =>
    (nistCsf.length === 0 ? [{}] : nistCsf).map((category) => ({
      section: 'signposts',
      ordinal: index + 1,
      values: { ...signpost, ...category },
    })),
  );
  const rows = [
    ...sectionRows('document', [{ documentId, title }]),
    ...places,
    ...sectionRows('actionableItems', actionableItems),
  ];
  return { json, root: 'regdoc', element: 'row', columns, rows };
}
