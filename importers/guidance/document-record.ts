/** A category of the Cybersecurity Framework 2.0 that a signpost leads to. */
export interface CsfReference {
  /** `GV`. */
  csfFunction: string;
  /** `GV.OC`. */
  csfCategory: string;
  csfCategoryName: string;
}

/** A place in a document, and what it is about. */
export interface Signpost {
  tag: string;
  page: number;
  inferenceText: string;
  nistCsf: CsfReference[];
}

/** Something that a document asks for. */
export interface ActionableItem {
  actionId: string;
  text: string;
  originText: string;
  sourceReference: string;
  pageIndex: number;
  obligation: boolean;
  psc: boolean;
  specification: boolean;
  timingOrTrigger: boolean;
  applicationConditions: string;
  exemptConditions: string;
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
