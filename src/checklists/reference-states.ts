/** What became of a cited id (rule D39.1). Apart from the schemas, which the command line does not load. */
export const referenceStates = [
  'current',
  'changed',
  'removed',
  'withdrawn',
  'deprecated',
  'unknown',
] as const;

export type ReferenceState = (typeof referenceStates)[number];
