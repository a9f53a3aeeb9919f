/** The parts of an OpenAPI 3.1 document that are used here and on the reference page. */
export interface OpenApi {
  info: { title: string; version: string; description?: string };
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, DocumentedResponse> };
}

export interface DocumentedOperation {
  summary: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  'x-access': string;
  'x-unlimited'?: boolean;
  parameters?: DocumentedParameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, DocumentedResponse>;
}

export interface DocumentedResponse {
  $ref?: string;
  description?: string;
  headers?: Record<string, object>;
  content?: Record<string, { schema: Schema }>;
}

export interface DocumentedParameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  description?: string;
  example?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

/** The name of a reference to a component, or null. */
export function referenceName(schema: Schema): string | null {
  return schema.$ref?.startsWith('#/components/schemas/') ? schema.$ref.slice(21) : null;
}
