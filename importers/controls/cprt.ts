import { readShape } from '../read/json-shape.ts';
import { excerpt, firstOf } from '../read/source-text.ts';
import type { ControlsResult } from './catalog.ts';
import { readRev2 } from './cprt-rev2.ts';
import { readRev3 } from './cprt-rev3.ts';
import { type Cprt, cprtBody, cprtBodyOf, cprtDocument } from './cprt-shape.ts';

const kind = 'cprt';

/**
 * Reads SP 800-171 from its CPRT export (rule F6): Rev 2 as a catalog, Rev 3 with its mapping to 800-53. Returns only a
 * reason for other publications. Throws `ImportError` for a broken export of 800-171.
 */
export function parseCprt(value: unknown): ControlsResult {
  const revision = /^SP_800_171_([23])_\d+_\d+$/.exec(cprtDocument(value) ?? '')?.[1];
  if (revision === undefined) {
    const name = excerpt(String(cprtDocument(value)));
    return { kind, records: null, reason: `a CPRT export of another publication: ${name}` };
  }
  const data = readShape(cprtBody, cprtBodyOf(value), kind);
  return { kind, records: revision === '2' ? [readRev2(data)] : readRev3(data), warnings: unreadIn(data) };
}

const elementTypes =
  'family requirement requirement_type security_requirement discussion determination examine interview test odp odp_statement odp_type';
const relationTypes = 'projection incorporated_into addressed_by external_reference';

/** A warning that names once, with its count, what an export states and is not stored. A withdrawal has its targets. */
function unreadIn({ elements, relationships }: Cprt): string[] {
  const unread = [
    ...elements.map(({ element_type: type }) => [elementTypes, 'element', type]),
    ...relationships.map((each) => [
      // Of the references to other documents those to 800-53 make pairs.
      /^external_reference$/.test(each.relationship_identifier) &&
      !/^SP_800_53_/.test(each.dest_doc_identifier)
        ? ''
        : relationTypes,
      'relationship',
      each.relationship_identifier,
    ]),
  ].filter(([known, , type]) => !known!.split(' ').includes(type!));
  const counts = Map.groupBy(unread, ([, what, type]) => `${what} ${type}`);
  const found = [...counts].map(([what, all]) => `${what} (${all.length})`);
  return found.length === 0 ? [] : [`not stored, with its count: ${firstOf(found, 100)}`];
}
