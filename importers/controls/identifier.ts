export { canonicalIdentifier, familyCodeOf, sortKey } from '../../src/crosswalk/identifier.ts';
