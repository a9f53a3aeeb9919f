/** The kinds of sources in the ledger (rule D20). */
export type Kind =
  | 'xccdf'
  | 'scap'
  | 'oscal-catalog'
  | 'oscal-profile'
  | 'cprt'
  | 'cci-list'
  | 'dod-8500'
  | 'diacap-map'
  | 'controls-csv'
  | 'mappings-csv'
  | 'onet'
  | 'nice'
  | 'regdoc'
  | 'regdoc-markdown'
  | 'role-mapping-csv'
  | 'archive'
  | 'other';
