import { canonicalIdentifier } from '../../src/crosswalk/identifier.ts';

const control = /^\s*([A-Z]{2}-)\s*(\d+)\s*(?:\(\s*(\d+)\s*\))?/;

/**
 * The controls and enhancements that the index of a CCI reference names (FORMATS 4.2), items left off: `AC-2 (3) (d)`
 * gives AC-2(3), `AC-2 d (1)` gives AC-2, `SC-37, SC-37 (1)` gives both. A bracketed number is an enhancement only
 * directly after the control's own. What is not understood gives none.
 */
export function controlsOfIndex(index: string): string[] {
  const controls = index.split(',').map((each) => {
    const match = control.exec(each);
    if (!match) return null;
    const enhancement = match[3] === undefined ? '' : `(${match[3]})`;
    return canonicalIdentifier('nist-800-53', `${match[1]}${match[2]}${enhancement}`);
  });
  return [...new Set(controls.filter((each) => each !== null))];
}
