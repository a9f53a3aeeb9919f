import { readShape } from '../read/json-shape.ts';
import { createLosses } from '../read/losses.ts';
import { excerpt } from '../read/source-text.ts';
import { type ControlsResult, withKind } from './catalog.ts';
import { readRev2 } from './cprt-rev2.ts';
import { readRev3 } from './cprt-rev3.ts';
import { type Cprt, cprtBody, cprtBodyOf, cprtDocument } from './cprt-shape.ts';

const kind = 'cprt';

/**
 * Reads SP 800-171 from its CPRT export (rule F6): Rev 2 as a catalog, Rev 3 with its mapping to 800-53. Returns only a
 * reason for other publications. Throws `ImportError` for a broken export of 800-171.
 */
export function parseCprt(value: unknown): ControlsResult {
  const name = cprtDocument(value) ?? '';
  const revision = /^SP_800_171_([23])_\d+_\d+$/.exec(name)?.[1];
  if (revision === undefined)
    return { kind, records: null, reason: `a CPRT export of another publication: ${excerpt(name)}` };
  return withKind(kind, () => {
    const data = readShape(cprtBody, cprtBodyOf(value), kind);
    const { records, warnings } =
      revision === '2' ? { records: [readRev2(data)], warnings: [] } : readRev3(data);
    return { kind, records, warnings: [...warnings, ...unreadIn(data)] };
  });
}

const elementTypes = [
  'family',
  'requirement',
  'requirement_type',
  'security_requirement',
  'discussion',
  'determination',
  'examine',
  'interview',
  'test',
  'odp',
  'odp_statement',
  'odp_type',
];
const relationTypes = ['projection', 'incorporated_into', 'addressed_by', 'external_reference'];

/** Warnings that name what an export states and is not stored, once with its count. A withdrawal has its targets. */
function unreadIn({ elements, relationships }: Cprt): string[] {
  const losses = createLosses();
  for (const { type } of elements) if (!elementTypes.includes(type)) losses.add(`element ${type}`);
  for (const { type, document } of relationships) {
    // Of the references to other documents those to 800-53 make pairs.
    const isForeign = type === 'external_reference' && !document.startsWith('SP_800_53_');
    if (isForeign || !relationTypes.includes(type)) losses.add(`relationship ${type}`);
  }
  return losses.warnings();
}
