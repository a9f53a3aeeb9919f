import { kindOf, type OperationSite, operations } from '../operations.ts';
import type { Published } from '../published.ts';

/** A schema of /openapi.json, as far as it says what a value may look like. */
interface Schema {
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

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  schema: Schema;
  example?: unknown;
}

/** An operation of /openapi.json that is asked in bad shapes: its path with samples, the query that it takes, its bodies. */
export interface Asked {
  name: string;
  method: string;
  /** As OpenAPI has it. */
  template: string;
  path: string;
  query: [name: string, value: string, required: boolean][];
  bodies: [type: string, samples: unknown[]][];
  access: string;
}

/** Values that a schema takes; `files` has those of properties, by their names, that are files of another format. */
function samplesOf(
  schema: Schema,
  schemas: Record<string, Schema>,
  files: Record<string, unknown[]>,
): unknown[] {
  const of = (inner: Schema) => samplesOf(inner, schemas, files);
  if (schema.$ref) return of(schemas[schema.$ref.split('/').at(-1)!]!);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.flatMap(of);
  if (schema.example !== undefined) return [schema.example];
  if (schema.enum) return [schema.enum[0]];
  const type = [schema.type].flat()[0];
  if (type === 'array') return of(schema.items ?? {}).map((item) => [item]);
  if (type === 'integer' || type === 'number') return [schema.minimum ?? 1];
  if (type === 'boolean') return [true];
  if (type !== 'object') return [schema.default || 'a1'];
  const { properties = {}, required = [] } = schema;
  const all = Object.entries(properties).map(
    ([name, inner]) => [name, (files[name] ?? of(inner))[0]] as const,
  );
  const given = Object.keys(properties).filter((name) => name in files);
  if (given.length === 0) return [Object.fromEntries(all)];
  // Of files one at a time, with no more than is required.
  const needed = Object.fromEntries(all.filter(([name]) => required.includes(name)));
  return given.flatMap((name) => files[name]!.map((value) => ({ ...needed, [name]: value })));
}

/** Every operation of the document, with samples from the table of operations and from its own schemas. */
export function askedOf(
  site: OperationSite,
  document: Published,
  files: Record<string, unknown[]> = {},
): Asked[] {
  const schemas = document.components.schemas as Record<string, Schema>;
  return Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods as Record<string, Record<string, unknown>>).map(([named, operation]): Asked => {
      const method = named.toUpperCase();
      const own = operations.find((each) => each.method === method && each.route === template);
      if (own === undefined) throw new Error(`${method} ${template} is not in the table of operations`);
      const id = String(site.names[`${kindOf(own)} PRIVATE`]);
      const textOf = ({ schema, example }: Parameter) =>
        encodeURIComponent(String([example ?? samplesOf(schema, schemas, {})[0]].flat()[0]));
      const { content = {} } = (operation.requestBody ?? {}) as {
        content?: Record<string, { schema: Schema }>;
      };
      return {
        ...{ name: `${method} ${template}`, method, template, access: String(operation['x-access']) },
        path: site.fill(own.path).replace('{id}', id).split('?')[0]!,
        query: ((operation.parameters ?? []) as Parameter[])
          .filter((each) => each.in === 'query')
          .map((each) => [each.name, textOf(each), each.required === true]),
        bodies: Object.entries(content).map(([type, { schema }]) => [
          type,
          type === 'application/json'
            ? samplesOf(schema, schemas, files)
            : Object.values(files)
                .flat(2)
                .filter((file) => String(file).startsWith('<')),
        ]),
      };
    }),
  );
}
