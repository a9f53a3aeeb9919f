/** A schema of /openapi.json, as far as it says what a value may look like. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  example?: unknown;
  default?: unknown;
  minimum?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
}

/** Values that a schema takes; `known` has those of properties, by their names, that are files of another format. */
export function samplesOf(
  schema: Schema,
  schemas: Record<string, Schema>,
  known: Record<string, unknown[]> = {},
): unknown[] {
  const of = (inner: Schema) => samplesOf(inner, schemas, known);
  if (schema.$ref) return of(schemas[schema.$ref.split('/').at(-1)!]!);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.flatMap(of);
  if (schema.example !== undefined) return [schema.example];
  if (schema.enum) return [schema.enum[0]];
  switch ([schema.type].flat()[0]) {
    case 'object':
      return objects(schema, of, known);
    case 'array':
      return of(schema.items ?? {}).map((item) => [item]);
    case 'integer':
    case 'number':
      return [schema.minimum ?? 1];
    case 'boolean':
      return [true];
    default:
      return [schema.default || 'a1'];
  }
}

/** One with all of its properties; where some are files, one for each of these with no more than is required, too. */
function objects(
  { properties = {}, required = [] }: Schema,
  of: (schema: Schema) => unknown[],
  known: Record<string, unknown[]>,
): object[] {
  const all = Object.entries(properties).map(([name, inner]) => [name, (known[name] ?? of(inner))[0]]);
  const given = Object.keys(properties).filter((name) => Object.hasOwn(known, name));
  const whole = Object.fromEntries(all) as object;
  if (given.length === 0) return [whole];
  const needed = Object.fromEntries(all.filter(([name]) => required.includes(name as string)));
  return [whole, ...given.flatMap((name) => known[name]!.map((value) => ({ ...needed, [name]: value })))];
}
