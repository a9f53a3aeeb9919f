import type { ActionableItem, Signpost } from '../../src/catalog/guidance/document-schema.ts';

/** A category of the Cybersecurity Framework 2.0 that a signpost leads to. */
export interface CsfReference {
  /** `GV`. */
  csfFunction: string;
  /** `GV.OC`. */
  csfCategory: string;
  csfCategoryName: string;
}

/** A regulatory or standards document as its source states it. */
export interface DocumentRecord {
  documentId: string;
  title: string;
  publisher: string;
  publisherId: string;
  doctype: string;
  published: string | null;
  cyberScore: number | null;
  jurisdiction: string;
  sectorLevel1: string | null;
  sectorLevel2: string | null;
  sectorLevel3: string | null;
  sectorLevel4: string | null;
  authoritative: boolean;
  sourceUrl: string;
  restriction: string | null;
  signposts: Signpost[];
  actionableItems: ActionableItem[];
}
