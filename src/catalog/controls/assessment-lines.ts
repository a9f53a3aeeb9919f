import type { Assessment } from './schema.ts';

const lineOf = (...parts: string[]) => parts.filter((part) => part !== '').join(' | ');
const inLines = <T>(of: T[], line: (each: T) => string) => of.map(line).join('\n');

/** What a control asks (rule D37.1) as texts with a line for each objective, parameter and method. */
export function assessmentLines({ objectives, parameters, methods }: Assessment) {
  return {
    objectives: inLines(objectives, ({ id, label, context, text, ccis }) => {
      const joined = ccis.map(({ cci, relation }) => (relation === 'equal' ? cci : `${cci} (${relation})`));
      return lineOf(label || id, context, text, joined.join(', '));
    }),
    parameters: inLines(parameters, ({ id, label, text, values }) =>
      lineOf(label || id, text, ...values.map(({ source, value }) => `${source}: ${value}`)),
    ),
    methods: inLines(methods, ({ method, objects }) => lineOf(method, objects.join('; '))),
  };
}
