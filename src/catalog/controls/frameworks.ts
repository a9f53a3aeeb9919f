import { type AppError, notThere } from '../../base/errors.ts';
import { compareCodePoints, cut } from '../../base/text.ts';

/** The most characters of the name of a framework, and of an identifier of a site's own. */
export const longestFramework = 200;
export const longestIdentifier = 200;

/** The frameworks that GET /controls serves. */
export const catalogFrameworks = ['nist-800-53', 'nist-800-171', 'dod-8500'] as const;
export type CatalogFramework = (typeof catalogFrameworks)[number];

/** The published frameworks, in the order of rule D7.2; a site's own come after them by name. */
export const frameworks = [...catalogFrameworks, 'cci'] as const;

/** The baselines of NIST SP 800-53B, in order; those of other profiles come after them (rule D31). */
export const nistBaselines = ['low', 'moderate', 'high', 'privacy'] as const;

/** The MAC levels of DoDI 8500.2. */
export const macNames = ['MAC I', 'MAC II', 'MAC III'];

/** A MAC level in any spelling of D6.3: `MAC I`, `MACI`, `I`, `1`; undefined for another text. */
export function macLevel(text: string): string | undefined {
  const short = text
    .trim()
    .toUpperCase()
    .replace(/^MAC\s*/, '');
  return macNames.find((name, index) => name === `MAC ${short}` || short === `${index + 1}`);
}

/** The formats of a catalog's export. */
export const exportFormats = ['oscal', 'csv', 'xlsx'] as const;

export function isNistBaseline(name: string): name is (typeof nistBaselines)[number] {
  return (nistBaselines as readonly string[]).includes(name);
}

/** Whether a framework is one of the published; paths of the crosswalk pass through those alone (rule D40.2). */
export function isPublished(framework: string): boolean {
  return (frameworks as readonly string[]).includes(framework);
}

/** The key of a published framework from any case (D3.2); other text unchanged, as a site's own key. */
export function frameworkKey(text: string): string {
  return frameworks.find((each) => each === text.trim().toLowerCase()) ?? text;
}

/** The NOT_FOUND for a framework; `field` names it in the request. */
export const noFramework = (framework: string, field?: string): AppError =>
  notThere(field, `Framework not found: ${cut(framework)}`);

/** Throws that NOT_FOUND for a framework that is neither published nor in the catalog (`isKnown`). */
export function requireFramework(framework: string, isKnown: boolean, field?: string): void {
  if (!isKnown && !isPublished(framework)) throw noFramework(framework, field);
}

/** Compares two framework keys by the order of rule D7.2. */
export function compareFrameworks(a: string, b: string): number {
  const rank = (framework: string) => [...frameworks, framework].indexOf(framework);
  return rank(a) - rank(b) || compareCodePoints(a, b);
}

/** A label for comparison: `Rev 5.1.1`, `Rev 5`, `rev5` and `5` give `5` (D7.4). Only NIST has revisions. */
export function versionKey(framework: string, label: string): string {
  const text = label.trim().toLowerCase();
  if (!framework.startsWith('nist-')) return text;
  return /^(?:rev(?:ision)?\.?\s*|r)?(\d+)(?:\.\d+)*$/.exec(text)?.[1] ?? text;
}

/** A version with the date of its edition, as several editions share a version: `Rev 5.1.1 (2022-01-25)`. */
export function withEdition(version: string, edition: string | null): string {
  return !edition || edition === version ? version : `${version} (${edition})`;
}

/** A label without the zeros at its end: `Rev 5.2.0` gives `Rev 5.2`. */
export function withoutEndingZeros(label: string): string {
  // A pattern would take quadratic time on a label of many zeros.
  const parts = label.split('.');
  while (parts.length > 1 && /^0+$/.test(parts.at(-1)!) && /\d$/.test(parts.at(-2)!)) parts.pop();
  return parts.join('.');
}

/** Compares two labels by the numbers in them, then as text: `Rev 5.1.1` before `Rev 5.2.0`, older dates first. */
export function compareVersions(a: string, b: string): number {
  const numbers = (label: string) =>
    (label.match(/\d+/g) ?? []).map((digits) => digits.padStart(20, '0')).join(' ');
  return compareCodePoints(numbers(a), numbers(b)) || compareCodePoints(a, b);
}

/** The revisions of 800-53 whose CCI references make edges: the newest, and the one carried over (rule D7.1 (a)). */
export const cciRevisions = { verified: 5, carriedOver: 4 };
