import { collapseLine } from '../read/source-text.ts';
import type { ParameterSetting } from './control-record.ts';
import type { OscalSetParameter } from './oscal-shape.ts';

/** What a profile states of a parameter, each text on one line. */
export function settingOf(stated: OscalSetParameter): ParameterSetting {
  const lines = (texts: string[]) => [...new Set(texts.map(collapseLine).filter((text) => text !== ''))];
  return {
    parameter: stated['param-id'],
    values: lines(stated.values),
    choices: lines(stated.select?.choice ?? []),
    label: collapseLine(stated.label),
    constraints: lines(stated.constraints.map(({ description }) => description)),
  };
}

/** One setting for each parameter: of several the later values count, and all constraints, as OSCAL says. */
export function mergeSettings(settings: ParameterSetting[]): ParameterSetting[] {
  const merged = new Map<string, ParameterSetting>();
  for (const later of settings) {
    const known = merged.get(later.parameter) ?? later;
    merged.set(later.parameter, {
      parameter: later.parameter,
      values: later.values.length > 0 ? later.values : known.values,
      choices: later.choices.length > 0 ? later.choices : known.choices,
      label: later.label || known.label,
      constraints: [...new Set([...known.constraints, ...later.constraints])],
    });
  }
  return [...merged.values()];
}

/** The entries that a setting is served as (rule D37.1): values, each choice, the label and the constraints. */
export function entriesOf({ values, choices, label, constraints }: ParameterSetting): string[] {
  return [values.join('; '), ...choices, label, constraints.join('; ')].filter((text) => text !== '');
}
