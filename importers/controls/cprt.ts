import { readShape } from '../read/json-shape.ts';
import { createLosses } from '../read/losses.ts';
import { excerpt } from '../read/source-text.ts';
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

/** Warnings that name what an export states and is not stored, once with its count. A withdrawal has its targets. */
function unreadIn({ elements, relationships }: Cprt): string[] {
  const losses = createLosses();
  const stated = [
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
  ];
  for (const [known, what, type] of stated)
    if (!known!.split(' ').includes(type!)) losses.add(`${what} ${type}`);
  return losses.warnings();
}
