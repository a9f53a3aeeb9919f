import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';

const control = /^\s*([a-z]{2})\s*-\s*(\d+)\s*(?:\(\s*(\d+)\s*\))?(.*)$/is;
// Items are `a`, `1`, `(a)` or `(1)`. An index with a dot after the number is not read: 800-53A and OSCAL use it for
// other things.
const items = /^(?!\s*\.)(?:[\s.]*(?:\([\w ]+\)|[a-z]{1,2}(?![a-z])|\d{1,2}(?!\d)))*[\s.]*$/i;

// A word after the control and its items is not an item, but the control before it is still certain.
const word = /^\s*(?:\([\w ]+\)\s*)*[a-z]/i;

/** The controls that an index names, and whether every part of the index was understood. */
export interface CciIndex {
  controls: string[];
  isWhole: boolean;
}

/**
 * The controls and enhancements that the index of a CCI reference names, without items (rule F4.2): `AC-2 (3) (d)`
 * gives AC-2(3), `AC-2 d (1)` gives AC-2, `SC-37, SC-37 (1)` gives both. A number in brackets is an enhancement only
 * directly after the number of the control.
 */
export function readCciIndex(index: string): CciIndex {
  const parts = index.split(/[,;]/).filter((part) => part.trim() !== '');
  const matches = parts.map((part) => control.exec(part));
  const controls = matches.map((match) =>
    match && (isItems(match) || word.test(match[4]!)) ? controlOf(match) : null,
  );
  return {
    controls: [...new Set(controls.filter((each) => each !== null))],
    isWhole: parts.length > 0 && matches.every((match, at) => controls[at] != null && isItems(match!)),
  };
}

const isItems = (match: RegExpExecArray) => items.test(match[4]!);

function controlOf([, family, number, enhancement]: RegExpExecArray): string | null {
  const bracketed = enhancement === undefined ? '' : `(${enhancement})`;
  return canonicalIdentifier('nist-800-53', `${family}-${number}${bracketed}`);
}
