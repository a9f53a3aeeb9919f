import { canonicalIdentifier } from '../../src/crosswalk/identifier.ts';

const control = /^\s*([a-z]{2})\s*-\s*(\d+)\s*(?:\(\s*(\d+)\s*\))?(.*)$/is;
// Items are `a`, `1`, `(a)` or `(1)`. A dot after the number is none: 800-53A and OSCAL mean other things by it.
const items = /^(?!\s*\.)(?:[\s.]*(?:\([\w ]+\)|[a-z]{1,2}(?![a-z])|\d{1,2}(?!\d)))*[\s.]*$/i;

/** What the index of a CCI reference names, and whether every part of it was understood. */
export interface CciIndex {
  controls: string[];
  isWhole: boolean;
}

/**
 * The controls and enhancements that the index of a CCI reference names (FORMATS 4.2), items left off: `AC-2 (3) (d)`
 * gives AC-2(3), `AC-2 d (1)` gives AC-2, `SC-37, SC-37 (1)` gives both, as does a semicolon; case and blanks do not
 * count. A bracketed number is an enhancement only directly after the control's own. A part that is not understood
 * gives none.
 */
export function readCciIndex(index: string): CciIndex {
  const parts = index.split(/[,;]/).filter((part) => part.trim() !== '');
  const controls = parts.map(controlOfPart);
  return {
    controls: [...new Set(controls.filter((each) => each !== null))],
    isWhole: parts.length > 0 && !controls.includes(null),
  };
}

function controlOfPart(part: string): string | null {
  const match = control.exec(part);
  if (!match || !items.test(match[4]!)) return null;
  const enhancement = match[3] === undefined ? '' : `(${match[3]})`;
  return canonicalIdentifier('nist-800-53', `${match[1]}-${match[2]}${enhancement}`);
}
