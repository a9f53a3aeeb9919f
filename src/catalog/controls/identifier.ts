import { isPublished } from './frameworks.ts';

const control53 = /^([a-z]{2})-(\d{1,3})(?: *\( *(\d{1,3}) *\)|\.(\d{1,3}))?$/i;
const requirement171 = /^(?:3\.[1-9]\d?\.[1-9]\d?|03\.(?!00)\d\d\.(?!00)\d\d)$/;

/**
 * The published form of an identifier in any of its spellings (rule D6.1): `ac-2.1`, `AC-02(01)` and `AC-2 (1)`
 * give `AC-2(1)`, `cci-15` gives `CCI-000015`. 800-171 Rev 2 (`3.1.1`) and Rev 3 (`03.01.01`) differ, so mixed padding
 * (`3.01.1`) is not valid. Null for a text that is not an identifier; a site's own framework admits every text.
 */
export function canonicalIdentifier(framework: string, text: string): string | null {
  const spelling = text.trim();
  switch (framework) {
    case 'nist-800-53':
      return canonical53(spelling);
    case 'nist-800-171':
      return requirement171.test(spelling) ? spelling : null;
    case 'dod-8500':
      return /^[a-z]{4}-[1-3]$/i.test(spelling) ? spelling.toUpperCase() : null;
    case 'cci':
      return /^CCI-?\d{1,6}$/i.test(spelling) ? `CCI-${spelling.replace(/\D+/, '').padStart(6, '0')}` : null;
    default:
      return spelling === '' ? null : spelling;
  }
}

function canonical53(text: string): string | null {
  const [, family, number, bracketed, dotted] = control53.exec(text) ?? [];
  const enhancement = bracketed ?? dotted;
  if (family === undefined || Number(number) === 0 || Number(enhancement) === 0) return null;
  const control = `${family.toUpperCase()}-${Number(number)}`;
  return enhancement === undefined ? control : `${control}(${Number(enhancement)})`;
}

/**
 * A text that sorts by code point in catalog order: AC-2, AC-2(1), AC-10; all of 800-171 Rev 2 before Rev 3; of a site's
 * own framework A.5.2 before A.5.10. Needs an identifier in its published form.
 */
export function sortKey(framework: string, identifier: string): string {
  const numbers = (identifier.match(/\d+/g) ?? []).map((digits) => digits.padStart(4, '0')).join(' ');
  if (framework === 'nist-800-53') return `${identifier.slice(0, 2)} ${numbers}`;
  if (framework === 'nist-800-171') return `${identifier.startsWith('0') ? 3 : 2} ${numbers}`;
  if (isPublished(framework)) return identifier;
  // A.5 and A.05 are two identifiers.
  return `${identifier.replace(/\d+/g, (digits) => digits.padStart(9, '0'))} ${identifier}`;
}

/** The family code at the beginning of an identifier: `AC`, `3.1`, `03.01`, `EC`; `""` for other frameworks. */
export function familyCodeOf(framework: string, identifier: string): string {
  switch (framework) {
    case 'nist-800-53':
    case 'dod-8500':
      return identifier.slice(0, 2);
    case 'nist-800-171':
      return identifier.slice(0, identifier.lastIndexOf('.'));
    default:
      return '';
  }
}

/**
 * The id of a control in OSCAL: `ac-2.1`, `cci-000015`, `SP_800_171_03.01.01` as NIST has it, `r2-3.1.1`. In identifiers
 * of a site's own framework an escape such as `_x28_` replaces each invalid character, so that all ids differ.
 */
export function oscalId(framework: string, identifier: string): string {
  switch (framework) {
    case 'nist-800-53':
      return identifier.toLowerCase().replace('(', '.').replace(')', '');
    case 'nist-800-171':
      return identifier.startsWith('0') ? `SP_800_171_${identifier}` : `r2-${identifier}`;
    case 'dod-8500':
    case 'cci':
      return identifier.toLowerCase();
    default:
      return identifier.replace(
        /^[^\p{L}_]|[^\p{L}\p{N}.\-_]|_(?=x)/gu,
        (each) => `_x${each.codePointAt(0)!.toString(16)}_`,
      );
  }
}

/** The identifier with an id that `oscalId` gives; null for another id. */
export function identifierOfOscalId(framework: string, id: string): string | null {
  if (framework === 'nist-800-171')
    return canonicalIdentifier(framework, id.replace(/^(SP_800_171_|r2-)/, ''));
  if (isPublished(framework)) return canonicalIdentifier(framework, id);
  return id.replace(/_x([0-9a-f]{1,6})_/g, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  );
}
