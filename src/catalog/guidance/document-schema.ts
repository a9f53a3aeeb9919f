import { z } from '@hono/zod-openapi';
import {
  counts,
  DateOrNull,
  named,
  oneWord,
  Pagination,
  paging,
  requestText,
  search,
  texts,
} from '../../http/schema.ts';

export const documentStatuses = ['active', 'revoked', 'superseded'] as const;
export type DocumentStatus = (typeof documentStatuses)[number];

const summary = {
  id: z.uuid(),
  documentId: z.string().openapi({ example: 'harbor-basic-directive' }),
  title: z.string(),
  status: z.enum(documentStatuses).describe('Withdrawn and rescinded documents are revoked.'),
  publisher: z.string().describe('`""` when unknown.'),
  publisherId: z.string(),
  doctype: z.string().openapi({ example: 'directive' }),
  published: DateOrNull,
  cyberScore: z.number().nullable(),
  jurisdiction: z.string(),
  ...counts('signpostCount', 'actionableItemCount'),
};

export const RegulatoryDocumentSummary = named('RegulatoryDocumentSummary', summary);
export type RegulatoryDocumentSummary = z.infer<typeof RegulatoryDocumentSummary>;

export const Signpost = named('Signpost', {
  tag: z.string(),
  page: z.int().describe('The number of the section when the source has no pages.'),
  inferenceText: z.string(),
  nistCsf: z.array(
    z.strictObject({
      csfFunction: z.string().openapi({ example: 'GV' }),
      csfCategory: z.string().openapi({ example: 'GV.OC' }),
      csfCategoryName: z.string().openapi({ example: 'Organizational Context' }),
    }),
  ),
});
export type Signpost = z.infer<typeof Signpost>;

export const ActionableItem = named('ActionableItem', {
  ...texts('actionId', 'text', 'originText', 'sourceReference'),
  pageIndex: z.int(),
  obligation: z.boolean(),
  psc: z.boolean(),
  specification: z.boolean(),
  timingOrTrigger: z.boolean(),
  ...texts('applicationConditions', 'exemptConditions'),
});
export type ActionableItem = z.infer<typeof ActionableItem>;

const sector = z.string().nullable();
const content = { signposts: z.array(Signpost), actionableItems: z.array(ActionableItem) };

export const RegulatoryDocument = named('RegulatoryDocument', {
  ...summary,
  ...{ sectorLevel1: sector, sectorLevel2: sector, sectorLevel3: sector, sectorLevel4: sector },
  authoritative: z.boolean(),
  sourceUrl: z.string(),
  restriction: z.string().nullable(),
  ...content,
});
export type RegulatoryDocument = z.infer<typeof RegulatoryDocument>;

export const RegulatoryDocuments = named('RegulatoryDocuments', {
  documents: z.array(RegulatoryDocumentSummary),
  pagination: Pagination,
});
export type RegulatoryDocuments = z.infer<typeof RegulatoryDocuments>;

export const RegulatoryDocumentFile = named('RegulatoryDocumentFile', {
  ...texts('documentId', 'title'),
  ...content,
});

export const documentParam = z.object({
  documentId: requestText('documentId', 1000).openapi({ example: 'harbor-basic-directive' }),
});

export const documentsQuery = z.object({
  search,
  publisher: requestText('publisher', 200).optional().describe('The whole name or id. Case is ignored.'),
  doctype: requestText('doctype', 200).optional().describe('The whole value. Case is ignored.'),
  status: oneWord('status', documentStatuses)
    .optional()
    .describe('Only documents with this status. Case is ignored.'),
  ...paging(100, 150),
});
export type DocumentsQuery = z.infer<typeof documentsQuery>;
