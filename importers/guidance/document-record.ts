import {
  type DocumentStatus,
  RegulatoryDocument,
  type Signpost,
} from '../../src/catalog/guidance/document-schema.ts';

/** A category of the Cybersecurity Framework 2.0 in a signpost. */
export type CsfReference = Signpost['nistCsf'][number];

const counted = { id: true, status: true, signpostCount: true, actionableItemCount: true } as const;

/**
 * A document as its source states it; `text` identifies the whole text, of which the record has sentences. An active
 * document is stored without a status, as all were before documents had one.
 */
export type DocumentRecord = Omit<RegulatoryDocument, keyof typeof counted> & {
  text?: string;
  status?: Exclude<DocumentStatus, 'active'>;
};

/** The field of a record for a status. */
export const statusField = (status: DocumentStatus): Pick<DocumentRecord, 'status'> =>
  status === 'active' ? {} : { status };

export const recordShape = RegulatoryDocument.omit(counted).shape;

/** The values of a shape's members, in its order. */
export function inOrder<K extends string, T extends Record<K, unknown>>(
  shape: Record<K, unknown>,
  values: T,
): Pick<T, K> {
  return Object.fromEntries(Object.keys(shape).map((key) => [key, values[key as K]])) as Pick<T, K>;
}

/** The content of a source of documents. */
export interface DocumentsContent {
  type: 'documents';
  documents: DocumentRecord[];
}
