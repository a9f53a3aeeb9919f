import { type SectionRow, sectionColumns, sectionRows } from '../../http/sections.ts';
import { ActionableItem, type RegulatoryDocument, type RegulatoryDocumentFile } from './document-schema.ts';

/** The json download of a document. */
export function toDocumentFile(document: RegulatoryDocument): RegulatoryDocumentFile {
  const { documentId, title, signposts, actionableItems } = document;
  return { documentId, title, signposts, actionableItems };
}

/** The columns of the csv and xml downloads of a document. */
export const documentColumns = sectionColumns([
  'documentId',
  'title',
  'tag',
  'page',
  'inferenceText',
  'csfFunction',
  'csfCategory',
  'csfCategoryName',
  ...Object.keys(ActionableItem.shape),
]);

/** The rows: the document, each signpost (once for each of its categories), each actionable item. */
export function documentRows({
  documentId,
  title,
  signposts,
  actionableItems,
}: RegulatoryDocumentFile): SectionRow[] {
  const places = signposts.flatMap(({ nistCsf, ...signpost }, index) =>
    (nistCsf.length === 0 ? [{}] : nistCsf).map((category) => ({
      section: 'signposts',
      ordinal: index + 1,
      values: { ...signpost, ...category },
    })),
  );
  return [
    ...sectionRows('document', [{ documentId, title }]),
    ...places,
    ...sectionRows('actionableItems', actionableItems),
  ];
}
