import { z } from 'zod';
import { describeIssue } from '../http/schema.ts';

// Schemas as a library of a protocol takes them: what checks a value, and what is published of it.

/** A Standard Schema (https://standardschema.dev) that says what it publishes. */
interface Schema {
  '~standard': {
    version: 1;
    vendor: string;
    validate(value: unknown): { value: unknown } | { issues: { message: string }[] };
    jsonSchema: { input(): Record<string, unknown>; output(): Record<string, unknown> };
  };
}

/** A schema with what it publishes, which the library asks for with each message: without members that say nothing. */
function published(schema: z.ZodType, io: 'input' | 'output'): Schema['~standard'] {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties !== false) delete jsonSchema.additionalProperties;
    },
  });
  const validate = (value: unknown) => ({ value });
  return { version: 1, vendor: 'zod', validate, jsonSchema: { input: () => json, output: () => json } };
}

/** Answers: published, and held against in the tests. To check each again would copy all of it. */
export const openSchema = (shape: z.ZodRawShape): Schema => ({
  '~standard': published(z.looseObject(shape), 'output'),
});

/** Arguments: no others, and one short message for what is wrong. */
export function closedSchema(shape: z.ZodRawShape): Schema {
  const schema = z.strictObject(shape);
  const validate: Schema['~standard']['validate'] = (value) => {
    const { data, error } = schema.safeParse(value ?? {});
    return error ? { issues: [{ message: describeIssue(error.issues[0]!).slice(0, 200) }] } : { value: data };
  };
  return { '~standard': { ...published(schema, 'input'), validate } };
}
