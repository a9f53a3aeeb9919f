import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { publishedSchema } from '../../src/mcp/published-schema.ts';
import { common, tools } from '../../src/mcp/tools.ts';
import type { TestApp } from './app.ts';
import type { Caller } from './callers.ts';

/** An answer to a call of a tool. */
export interface ToolAnswer {
  status: number;
  /** The text that a model reads. */
  text: string;
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The headers of a message, as the newest protocol wants them. */
export const messageHeaders = (method: string, name?: string): Record<string, string> => ({
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': method,
  ...(name === undefined ? {} : { 'Mcp-Name': name }),
});

/** A message of the newest protocol. */
export const message = (method: string, params: object, id: unknown = 1) => ({
  ...{ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } },
});

/** Sends a message to `/mcp`; nobody's without headers. */
export function send(t: TestApp, method: string, params: object, caller: Caller = {}): Promise<Response> {
  const { name, uri } = params as { name?: string; uri?: string };
  const headers = { ...messageHeaders(method, name ?? uri), ...caller };
  const body = JSON.stringify(message(method, params));
  return Promise.resolve(t.app.request('/mcp', { method: 'POST', headers, body }));
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export const reply = async (response: Promise<Response>): Promise<any> => (await response).json();

const validator = new AjvJsonSchemaValidator();
/** For each tool what the official client does with its answers. */
const checkOf = new Map(
  tools.map(({ name, output }) => {
    const schema = publishedSchema(z.looseObject({ ...common, ...output }), 'output')[
      '~standard'
    ].jsonSchema.output();
    return [name, validator.getValidator(schema)];
  }),
);

/** Calls a tool, and holds its answer against its published schema and what every answer has (rule D41.3). */
export async function callTool(
  t: TestApp,
  name: string,
  args: object,
  caller: Caller = {},
): Promise<ToolAnswer> {
  const response = await send(t, 'tools/call', { name, arguments: args }, caller);
  const { result, error } = (await response.json()) as {
    result?: { content: { type: string; text: string }[]; structuredContent?: object; isError?: boolean };
    error?: { message: string };
  };
  if (result === undefined)
    return { status: response.status, text: error!.message, isError: true, json: null };
  assert.is(result.content.length, 1);
  const { text } = result.content[0]!;
  const isError = result.isError === true;
  if (!isError) {
    assert.equal(JSON.parse(text), result.structuredContent);
    const { valid, errorMessage } = checkOf.get(name)!(result.structuredContent);
    assert.ok(valid, `${name}: ${errorMessage}`);
    assert.match((result.structuredContent as { digest: string }).digest, /^[0-9a-f]{64}$/);
  }
  return { status: response.status, text, isError, json: result.structuredContent ?? null };
}

/** Follows `next` to the end; gives each part. */
export async function allParts(
  t: TestApp,
  name: string,
  args: object,
  caller: Caller,
): Promise<ToolAnswer[]> {
  const parts: ToolAnswer[] = [];
  for (let next: { tool: string; arguments: object } | undefined = { tool: name, arguments: args }; next; ) {
    const part = await callTool(t, next.tool, next.arguments, caller);
    assert.not.ok(part.isError, part.text);
    parts.push(part);
    assert.is(part.json.truncated ?? false, part.json.next !== undefined && part.json.found);
    next = part.json.truncated ? part.json.next : undefined;
    assert.ok(parts.length < 2000, 'it never ends');
  }
  return parts;
}
