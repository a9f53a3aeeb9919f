import {
  type DocumentedResponse,
  type OpenApi,
  referenceName,
  type Schema,
} from '../../http/openapi-types.ts';

/** The schema that a reference names; any other schema unchanged. */
export function resolve(schema: Schema, document: OpenApi): Schema {
  const name = referenceName(schema);
  return name === null ? schema : (document.components.schemas[name] ?? {});
}

/** The response that a reference names; any other response unchanged. */
export function responseOf(response: DocumentedResponse, document: OpenApi): DocumentedResponse {
  return document.components.responses[response.$ref?.split('/').at(-1) ?? ''] ?? response;
}

/** The type of a schema in a few words. */
export function typeOf(schema: Schema): string {
  const name = referenceName(schema);
  if (name !== null) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const several = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (several) return several.map(typeOf).join(schema.allOf ? ' & ' : ' | ');
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  const types = [schema.type ?? 'any'].flat().join(' | ');
  return schema.format ? `${types} (${schema.format})` : types;
}

/** An example value of a schema, its own examples first. References deeper than `depth` give null. */
export function exampleOf(schema: Schema, document: OpenApi, depth = 6): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (depth === 0) return null;
  const resolved = resolve(schema, document);
  if (resolved !== schema) return exampleOf(resolved, document, depth - 1);
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (first) return exampleOf(first, document, depth - 1);
  if (schema.allOf) {
    return Object.assign({}, ...schema.allOf.map((each) => exampleOf(each, document, depth - 1)));
  }
  if (schema.properties) {
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, each]) => [name, exampleOf(each, document, depth - 1)]),
    );
  }
  if (schema.items) return [exampleOf(schema.items, document, depth - 1)];
  const type = [schema.type ?? 'string'].flat()[0];
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0;
  if (type === 'boolean') return true;
  if (type === 'object') return {};
  return type === 'null' ? null : '';
}
