import { collapseLine } from '../read/source-text.ts';
import type { ParameterValue } from './control-record.ts';
import type { OscalSetParameter } from './oscal-shape.ts';

/** The values of a profile, or the constraints where it sets none: one for each parameter, `;` between several. */
export function readParameterValues(settings: OscalSetParameter[]): ParameterValue[] {
  const values = new Map<string, Set<string>>();
  for (const { 'param-id': parameter, values: set, constraints } of settings) {
    const stated = set.length > 0 ? set : constraints.map(({ description }) => description);
    const texts = values.get(parameter) ?? new Set<string>();
    for (const text of stated.map(collapseLine)) if (text !== '') texts.add(text);
    values.set(parameter, texts);
  }
  return [...values].flatMap(([parameter, texts]) =>
    texts.size === 0 ? [] : [{ parameter, value: [...texts].join('; ') }],
  );
}
