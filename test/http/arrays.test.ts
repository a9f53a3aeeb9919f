import { z } from '@hono/zod-openapi';
import * as assert from 'uvu/assert';
import { boundedArray, mostValues } from '../../src/http/arrays.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { type Published, publishedDocument } from '../support/published.ts';

// Arrays of requests have a bound, which is checked before their items (rule D2.6; threat H5).
const arrays = suite('Arrays of requests');

/** An array whose items count how often they are looked at. */
function watchedItems(length: number) {
  const seen = { items: 0 };
  const items = new Proxy(Array(length).fill('a'), {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) seen.items++;
      return Reflect.get(target, key);
    },
  });
  return { items, seen };
}

arrays('too many items are refused before one is looked at, with one problem', () => {
  let checked = 0;
  const item = z.string().refine(() => ++checked > 0);
  const schema = z.object({ slugs: boundedArray(item, 'slugs', 'slugs', { least: 1, most: 5000 }) });
  const { items, seen } = watchedItems(5001);
  const { error } = schema.safeParse({ slugs: items });
  assert.equal([seen.items, checked], [0, 0]);
  assert.equal(
    error?.issues.map(({ message }) => message),
    ['slugs must contain 1 to 5,000 slugs'],
  );
  const fit = watchedItems(5000);
  assert.is(schema.safeParse({ slugs: fit.items }).success, true);
  assert.ok(fit.seen.items >= 5000 && checked === 5000);
  // As many wrong items as a body holds were a stack overflow once.
  assert.is(schema.safeParse({ slugs: Array(520_000).fill(0) }).error?.issues.length, 1);
});

interface Schema {
  $ref?: string;
  type?: string | string[];
  items?: Schema;
  maxItems?: number;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  [key: string]: unknown;
}

type Document = Published & {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Operation>>;
};

interface Operation {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

let document: Document;
let t: TestApp;
let alice: Caller;

arrays.before(async () => {
  document = (await publishedDocument()) as unknown as Document;
  t = await testApp([]);
  alice = await userCaller(t, { entitlements: ['regdoc', 'occ'] });
});
arrays.after(() => t?.db.close());

/** Every schema within a schema, references followed, with the names that lead to it. */
function* within(schema: Schema, path: string[] = []): Generator<{ schema: Schema; path: string[] }> {
  const named = schema.$ref?.replace('#/components/schemas/', '');
  if (named !== undefined) return yield* within(document.components.schemas[named]!, path);
  yield { schema, path };
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    yield* within(property, [...path, name]);
  if (schema.items) yield* within(schema.items, [...path, '0']);
  for (const word of ['anyOf', 'oneOf', 'allOf'])
    for (const each of (schema[word] ?? []) as Schema[]) yield* within(each, path);
}

function* operations() {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const schemas = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema);
      yield { name: `${method.toUpperCase()} ${path}`, method, path, operation, schemas };
    }
}

const isArray = ({ type, items }: Schema) => items !== undefined || [type].flat().includes('array');

arrays('every array that a request may hold is published with its bound, and no record has any keys', () => {
  let found = 0;
  for (const { name, operation, schemas } of operations()) {
    for (const { schema, path } of [
      ...schemas.flatMap((each) => [...within(each)]),
      ...(operation.parameters ?? []).flatMap((each) => [...within(each.schema, [each.name])]),
    ]) {
      const where = `${name} ${path.join('.')}`;
      const keys = schema.additionalProperties;
      assert.ok(keys === undefined || keys === false || Number(schema.maxProperties) > 0, `${where}: record`);
      if (!isArray(schema)) continue;
      found++;
      assert.ok(Number(schema.maxItems) > 0 && Number(schema.maxItems) <= 5000, `${where}: no maxItems`);
    }
  }
  assert.ok(found >= 25, `${found} arrays`);
});

arrays('one item more than is published is a 400 that names the bound, whatever the items are', async () => {
  let refused = 0;
  for (const { name, method, path, operation, schemas } of operations()) {
    const at = path.replace(/\{[^}]*\}/g, '00000000-0000-4000-8000-000000000001');
    const tops = schemas.flatMap((each) => [...within(each)]).filter((each) => each.path.length === 1);
    for (const {
      schema,
      path: [field],
    } of tops.filter((each) => isArray(each.schema))) {
      const isPairs = field === 'from' || field === 'to';
      const pairs = { from: [{ framework: 'cci', identifier: 'CCI-1' }], to: ['cci'] };
      const others = !path.includes('/crosswalk/') ? { name: 'N' } : isPairs ? pairs : { ccis: ['CCI-1'] };
      const wrong = { ...others, [field!]: Array(schema.maxItems! + 1).fill(0) };
      const answer = await ask(t, method.toUpperCase(), at, alice, wrong);
      assert.is(answer.status, 400, `${name} ${field}: ${answer.text.slice(0, 200)}`);
      const bound = schema.maxItems!.toLocaleString('en-US');
      const { message } = answer.json.error;
      assert.match(
        message,
        new RegExp(`^${field} must contain (1 to|at most) ${bound} `),
        `${name}: ${message}`,
      );
      refused++;
    }
    for (const { name: parameter, schema } of operation.parameters ?? []) {
      if (!isArray(schema)) continue;
      const needed = (operation.parameters ?? [])
        .filter((each) => each.in === 'query' && each.name !== parameter && 'example' in each.schema)
        .map((each) => `${each.name}=${encodeURIComponent(String([each.schema.example].flat()[0]))}&`);
      const query = `${needed.join('')}${`${parameter}=x&`.repeat(schema.maxItems! + 1)}`;
      const answer = await ask(t, method.toUpperCase(), `${at}?${query}`, alice);
      assert.is(answer.status, 400, `${name} ${parameter}: ${answer.text.slice(0, 200)}`);
      assert.match(answer.json.error.message, `${parameter} must have at most ${mostValues} values`, name);
      refused++;
    }
  }
  assert.ok(refused >= 25, `${refused} refused`);
});

arrays.run();
