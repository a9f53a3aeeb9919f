import { Validator } from '@seriousme/openapi-schema-validator';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import * as assert from 'uvu/assert';
import { routesOf, type TestApp, testApp } from './support/app.ts';
import { ask, type Caller, userCaller } from './support/callers.ts';
import { addControls } from './support/control-rows.ts';
import { suite } from './support/harness.ts';
import { isPage } from './support/pages.ts';
import { createCheck, type Published, publishedDocument, rebased, schemasOf } from './support/published.ts';
import { shipped } from './support/reference.ts';
import type { Seen } from './support/watched.ts';

// What /openapi.json says is true: it is an OpenAPI document, its schemas are schemas, and its limits are those of the code.

interface Parameter {
  name: string;
  in: 'path' | 'query';
  description?: string;
  required?: boolean;
  style?: string;
  explode?: boolean;
  schema: {
    type?: string;
    example?: unknown;
    enum?: string[];
    maxLength?: number;
    pattern?: string;
    minimum?: number;
    items?: { enum?: string[] };
    anyOf?: object[];
  };
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  security: object[];
  requestBody?: { content: { 'application/json': { schema: object } } };
  responses: Record<string, { headers?: object; content?: Record<string, { schema: object }> }>;
}

type Document = Published & {
  info: { license: object };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
};

let document: Document;
let t: TestApp;
let alice: Caller;

const test = suite('/openapi.json');

test.before(async () => {
  document = (await publishedDocument()) as Document;
  t = await testApp([shipped('stigs'), shipped('roles'), shipped('regulatory')]);
  addControls(t.db);
  alice = await userCaller(t, { entitlements: ['regdoc', 'occ'] });
});
test.after(() => t.db.close());

/** Every operation with its method and path. */
function operations(): (Operation & { method: string; path: string })[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  );
}

test('it is an OpenAPI 3.1 document', async () => {
  const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
  assert.ok(valid, JSON.stringify(errors ?? '').slice(0, 2000));
  assert.equal(document.info.license, { name: 'MIT', identifier: 'MIT' });
});

test('every schema in it compiles under the strictest rules, and none that holds a null forbids it', () => {
  const ajv = schemasOf(document);
  let compiled = 0;
  const walk = (value: unknown, isSchema: boolean): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isSchema) {
      ajv.compile(rebased(value) as object);
      compiled++;
      return;
    }
    for (const [key, each] of Object.entries(value)) walk(each, key === 'schema');
  };
  walk(document.paths, false);
  walk(document.components.responses, false);
  for (const schema of Object.values(document.components.schemas)) walk(schema, true);
  assert.ok(compiled > 250, String(compiled));
});

/** Every object below a value, with where it is. */
function* objectsOf(value: unknown, path = '#'): Generator<[object: Record<string, unknown>, path: string]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [value as Record<string, unknown>, path];
  for (const [key, each] of Object.entries(value)) yield* objectsOf(each, `${path}/${key}`);
}

test('every pattern is one of ECMA-262 without flags, and every example and default is of its schema', () => {
  const ajv = schemasOf(document);
  let [patterns, examples] = [0, 0];
  for (const [schema, path] of objectsOf(document)) {
    if (typeof schema.pattern === 'string') {
      assert.ok(new RegExp(schema.pattern, 'u'), path);
      assert.not.match(schema.pattern, /^\/|\/[a-z]*$/, path);
      patterns++;
    }
    for (const given of ['example', 'default'].filter(
      (name) => name in schema && !path.endsWith('/properties'),
    )) {
      const validate = ajv.compile(rebased('schema' in schema ? schema.schema : schema) as object);
      assert.ok(validate(schema[given]), `${path} ${given}: ${ajv.errorsText(validate.errors)}`);
      examples++;
    }
    if (schema.type === 'array') assert.ok(schema.items, path);
  }
  assert.ok(patterns > 5 && examples > 100, `${patterns} ${examples}`);
  const { parameters } = operations().find(({ operationId }) => operationId === 'getStigDiff')!;
  for (const name of ['from', 'to']) {
    const validate = ajv.compile(parameters!.find((each) => each.name === name)!.schema);
    for (const release of ['V1R1', 'v1r1', 'V2R10.1']) assert.ok(validate(release), release);
    assert.not.ok(validate('1R1'));
  }
});

test('the schemas of answers are open at every depth, and none is that of a request', () => {
  const { responses, schemas } = document.components;
  const reached = (from: unknown) => {
    const names = new Set<string>();
    const add = (value: unknown) => {
      for (const [{ $ref }] of objectsOf(value)) {
        const name = String($ref ?? '').split('/schemas/')[1];
        if (name === undefined || names.has(name)) continue;
        names.add(name);
        add(schemas[name]);
      }
    };
    add(from);
    return names;
  };
  const answers = [responses, operations().map((each) => each.responses)];
  const named = reached(answers);
  assert.ok(named.size > 100);
  for (const [schema, path] of objectsOf([answers, [...named].map((name) => schemas[name])]))
    assert.is.not(schema.additionalProperties, false, path);
  for (const name of reached(operations().map(({ parameters, requestBody }) => [parameters, requestBody])))
    assert.not.ok(named.has(name), name);
});

test('it has every route of the application and no other, and each declares what may happen', async () => {
  const listed = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  // The Model Context Protocol describes itself (rule D41.1).
  const mounted = t.app.routes
    .filter((route) => route.method !== 'ALL' && !isPage(route.path) && route.path !== '/mcp')
    .map((route) => `${route.method} ${route.path.replace(/:([A-Za-z]+)/g, '{$1}')}`);
  const declared = routesOf(t.app).map((route) => `${route.method.toUpperCase()} ${route.path}`);
  assert.equal([...new Set(mounted)].sort(), [...listed].sort());
  assert.equal(declared.sort(), [...listed].sort());
  for (const { method, path, responses } of operations()) {
    // The role mapping of a STIG that is not there is an empty one (rule D9.4).
    const mayBeMissing = path.includes('{') && !path.startsWith('/api/v1/role-mapping/');
    if (mayBeMissing) assert.ok('404' in responses && '400' in responses, `${method} ${path}`);
  }
});

test('a binary answer has one media type that generators read as binary', () => {
  let binary = 0;
  for (const { operationId, responses } of operations())
    for (const [type, { schema }] of Object.entries(responses['200']?.content ?? {})) {
      if (/json|text|xml$/.test(type)) continue;
      assert.equal(schema, { type: 'string', format: 'binary' }, `${operationId} ${type}`);
      assert.ok(
        ['zip', 'vnd.openxmlformats-officedocument.spreadsheetml.sheet'].includes(type.split('/')[1]!),
      );
      binary++;
    }
  assert.ok(binary > 15, String(binary));
});

test('no schema joins two that forbid what the other has', () => {
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { allOf } = value as { allOf?: { $ref?: string; properties?: object; type?: unknown }[] };
    // A description beside a reference is all that may be joined to one.
    for (const each of allOf ?? [])
      assert.ok(each.$ref || (each.properties === undefined && each.type === undefined), path);
    for (const [key, each] of Object.entries(value)) walk(each, `${path}/${key}`);
  };
  walk(document, '#');
});

test('every operation has a name of its own, and declares what its path holds', () => {
  const names = operations().map(({ operationId }) => operationId);
  assert.is(new Set(names).size, names.length);
  for (const { operationId, method, path, parameters = [] } of operations()) {
    assert.match(operationId, /^[a-z][A-Za-z0-9]+$/, `${method} ${path}`);
    const held = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
    const declared = parameters.filter((each) => each.in === 'path');
    assert.equal(
      declared.map(({ name, required }) => [name, required]).sort(),
      held.map((name) => [name, true]).sort(),
      operationId,
    );
  }
});

test('every operation declares what may go wrong before it and beneath it', () => {
  for (const { operationId, method, security, responses } of operations()) {
    const statuses = Object.keys(responses);
    const expected = ['400', '405', '408', '431', '500', '503'];
    if (security.length > 0) expected.push('401');
    if (method !== 'get') expected.push('413');
    if (!['getHealth', 'getReadiness', 'getMetrics'].includes(operationId)) expected.push('429');
    for (const status of expected) assert.ok(statuses.includes(status), `${operationId} ${status}`);
    const isKept = '200' in responses && 'ETag' in (responses['200']!.headers ?? {});
    assert.is(statuses.includes('304'), isKept, operationId);
    const files = Object.keys(responses['200']?.content ?? {}).filter((type) => type !== 'application/json');
    const names = 'Content-Disposition' in (responses['200']?.headers ?? {});
    if (files.length > 0 && operationId !== 'getMetrics') assert.ok(names, operationId);
  }
  const unkept = ['getHealth', 'getReadiness', 'getMetrics', 'purgeDeletedListsByGet'];
  assert.equal(
    operations()
      .filter(({ method, responses }) => method === 'get' && !('304' in responses))
      .map(({ operationId }) => operationId),
    unkept,
  );
});

/** The path of an operation with its examples, and a query of what it requires. */
function addressOf(
  operation: Operation & { path: string },
  parameter: Parameter,
  value: string | string[],
): string {
  const { parameters = [], path } = operation;
  const given = (each: Parameter) => String(each.name === parameter.name ? value : each.schema.example);
  const filled = parameters
    .filter((each) => each.in === 'path')
    .reduce((text, each) => text.replace(`{${each.name}}`, encodeURIComponent(given(each))), path);
  const query = new URLSearchParams();
  for (const each of parameters)
    if (each.in === 'query' && each.required && each.name !== parameter.name)
      query.append(each.name, given(each));
  if (parameter.in === 'query') for (const each of [value].flat()) query.append(parameter.name, each);
  // A search requires a question or a filter.
  if (operation.operationId === 'searchRules' && parameter.name !== 'q') query.append('q', 'audit');
  return `${filled}?${query}`;
}

/** The readable operations that take a parameter, with it. */
function* parametersOf(has: (parameter: Parameter) => boolean) {
  for (const operation of operations()) {
    if (operation.method !== 'get') continue;
    for (const parameter of operation.parameters ?? []) if (has(parameter)) yield { operation, parameter };
  }
}

/** The wrong spellings of a parameter, each with the message that it must be refused with, and no other. */
function wrongSpellings({
  name,
  schema,
  in: place,
}: Parameter): [value: string | string[], message: string][] {
  const words = schema.enum ?? schema.items?.enum;
  const known = words?.join(', ');
  if (schema.type === 'integer') {
    const message = `${name} must be a decimal integer of at least 1`;
    return [
      ['0', message],
      ['x', message],
      [['1', '1'], `${name} must be given once`],
    ];
  }
  if (schema.type === 'boolean')
    return ['', '1', ['true', 'true']].map((each) => [each, `${name} must be true or false`]);
  if (schema.type === 'array')
    return words
      ? ['', `${words[0]},zeppelin`].map((each) => [each, `${name} must be one or more of: ${known}`])
      : [['x'.repeat(1001), `${name} must have at most 1000 characters`]];
  if (words && name === 'format')
    return ['', 'pdf', [words[0]!, words[0]!]].map((each) => [
      each,
      `Invalid format. Must be one of: ${known}`,
    ]);
  if (words)
    return ['', 'zeppelin', [words[0]!, words[0]!]].map((each) => [each, `${name} must be one of: ${known}`]);
  if (name === 'since') {
    const message = `since must be a date in the form YYYY-MM-DD${schema.anyOf ? '' : ', added or seen'}`;
    return ['', 'yesterday', ['2024-01-01', '2024-01-01']].map((each) => [each, message]);
  }
  const { maxLength } = schema;
  if (maxLength === undefined) return [];
  const most = `${name} must have at most ${maxLength} characters`;
  const tooLong = name === 'from' ? `cci:${'😀'.repeat(maxLength - 3)}` : '😀'.repeat(maxLength + 1);
  return [
    [tooLong, most],
    ...(place === 'query' ? ([[['a', 'a'], `${name} must be one text`]] as [string[], string][]) : []),
  ];
}

test('a wrong spelling of any parameter is a 400 that names it, before what it asks for is looked up', async () => {
  let tried = 0;
  const untried = new Set<string>();
  const anyObject = /\{(slug|controlId|documentId|code)\}/;
  for (const operation of operations())
    for (const parameter of operation.parameters ?? []) {
      const spellings = wrongSpellings(parameter);
      if (spellings.length === 0) untried.add(parameter.name);
      const unknown = parameter.in === 'path' ? operation.path : operation.path.replace(anyObject, 'nothing');
      for (const path of new Set([operation.path, unknown]))
        for (const [value, message] of spellings) {
          const address = addressOf({ ...operation, path }, parameter, value);
          const answer = await ask(
            t,
            operation.method.toUpperCase(),
            address,
            alice,
            operation.requestBody && {},
          );
          assert.equal([answer.status, answer.json?.error.message], [400, message], address);
          assert.is(answer.json.error.field, parameter.name, address);
          assert.is(answer.headers.get('Content-Disposition'), null, address);
          tried++;
        }
    }
  assert.ok(tried > 250, String(tried));
  assert.equal(
    [...untried].sort(),
    ['If-Match', 'benchmarkId', 'id', 'stigSlug'],
    'an id of another form is an unknown one',
  );
});

test('the greatest length of every parameter is accepted', async () => {
  const isLong = ({ schema }: Parameter) => schema.maxLength !== undefined && schema.pattern === undefined;
  for (const { operation, parameter } of parametersOf(isLong)) {
    const { maxLength } = parameter.schema;
    const longest =
      ({ from: 'cci:', ref: 'a@' } as Record<string, string>)[parameter.name]?.concat(
        '😀'.repeat(maxLength! - 4),
      ) ?? '😀'.repeat(maxLength!);
    // Some have a form besides, so that the longest is refused as well, for that.
    const isLengthAlone =
      !['getStigDiff', 'listBenchmarkRoles', 'exportControls', 'downloadStig'].includes(
        operation.operationId,
      ) && !/(Coverage|Worksheet)$/.test(operation.operationId);
    if (!isLengthAlone && parameter.name !== 'slug') continue;
    if (['cci', 'control'].includes(parameter.name)) continue;
    const answer = await ask(t, 'GET', addressOf(operation, parameter, longest), alice);
    const where = `${operation.operationId} ${parameter.name}`;
    assert.ok([200, 404].includes(answer.status), `${where}: ${answer.text.slice(0, 200)}`);
  }
});

test('integers begin at one, and words are known in any case', async () => {
  for (const { parameter } of parametersOf(({ schema }) => schema.type === 'integer'))
    assert.is(parameter.schema.minimum, 1);
  for (const { operation, parameter } of parametersOf(({ schema }) => schema.enum !== undefined)) {
    for (const word of [...parameter.schema.enum!, parameter.schema.enum![0]!.toUpperCase()]) {
      const answer = await ask(t, 'GET', addressOf(operation, parameter, word), alice);
      assert.ok([200, 404].includes(answer.status), `${operation.operationId} ${word}`);
    }
  }
});

test('arrays may be repeated, separated by commas, and in any case', async () => {
  const seen = new Set<string>();
  // Slugs are any texts, and repeated alone.
  const hasWords = ({ name, schema }: Parameter) => schema.type === 'array' && name !== 'stig';
  for (const { operation, parameter } of parametersOf(hasWords)) {
    // A checklist cannot be narrowed; test/routes/downloads.test.ts narrows the other files.
    if (operation.operationId === 'downloadStig') continue;
    const where = `${operation.operationId} ${parameter.name}`;
    seen.add(parameter.name);
    assert.equal([parameter.style, parameter.explode], ['form', true], where);
    // Baselines are the catalog's to name: NIST's are the example.
    const words = parameter.schema.items!.enum ?? (parameter.schema.example as unknown as string[]);
    const [first, ...others] = words;
    const repeated = addressOf(operation, parameter, first!);
    const more = others.map((word) => `&${parameter.name}=${encodeURIComponent(word)}`).join('');
    const expected = await ask(t, 'GET', repeated + more, alice);
    assert.ok([200, 404].includes(expected.status), `${where}: ${expected.text.slice(0, 200)}`);
    for (const text of [words.join(','), words.join(' , ').toUpperCase(), [...words].reverse().join()]) {
      const answer = await ask(t, 'GET', addressOf(operation, parameter, text), alice);
      const { error: _, ...body } = answer.json;
      const { error: __, ...same } = expected.json;
      assert.equal([answer.status, body], [expected.status, same], `${where} ${text}`);
    }
  }
  const names = 'baseline class framework impact include kind mac severity status type'.split(' ');
  assert.equal([...seen].sort(), names);
});

/** Bodies at their limits and just beyond, by operation; `{id}` is a list or collection of the caller. */
function* bodies(): Generator<[operationId: string, good: object, bad: object[]]> {
  const text = (length: number) => '😀'.repeat(length);
  const fields = (more: object) => ({ name: 'N', ...more });
  const common = [
    fields({ name: '' }),
    fields({ name: text(201) }),
    fields({ description: text(2001) }),
    fields({ tags: Array(21).fill('a') }),
    fields({ tags: [text(51)] }),
    fields({ color: 'red' }),
    fields({ visibility: 'PUBLIC' }),
    { name: 7 },
  ];
  const most = {
    name: text(200),
    description: text(2000),
    tags: Array.from({ length: 20 }, (_, at) => text(49) + String.fromCharCode(97 + at)),
    color: '#a1B2c3',
    visibility: 'SHARED',
  };
  for (const what of ['List', 'ControlCollection']) {
    yield [`create${what}`, most, [...common, {}]];
    yield [`update${what}`, most, common];
  }
  yield ['createList', { ...most, icon: text(50) }, [fields({ icon: text(51) })]];
  const slugs = [{ slugs: [] }, { slugs: 'a' }, { slugs: [text(1001)] }, {}];
  for (const id of ['addListStigs', 'removeListStigs', 'addFavoriteStigs', 'removeFavoriteStigs'])
    yield [id, { slugs: [text(1000)] }, slugs];
  yield ['getStigBatch', { slugs: Array(50).fill(text(1000)) }, [...slugs, { slugs: Array(51).fill('a') }]];
  const control = { controlId: text(200), framework: 'nist-800-53' };
  const badControls = [
    { ...control, controlId: '' },
    { ...control, controlId: text(201) },
    { ...control, framework: 'cci' },
    { framework: 'dod-8500' },
    { controlId: 'AC-2' },
  ];
  yield ['removeFavoriteControl', control, badControls];
  const noted = { ...control, notes: text(4000) };
  const entries = [...badControls, { ...noted, notes: text(4001) }].map((each) => ({ controls: [each] }));
  yield ['addControlCollectionControls', { controls: [noted] }, [...entries, { controls: [] }, {}]];
  const from = [{ framework: text(200), identifier: text(300), version: text(100) }];
  const to = [text(200)];
  yield [
    'resolveCrosswalkBatch',
    { from, to: Array(250).fill(text(200)), status: ['auto'], maxHops: 1 },
    [
      { from: [], to },
      { from, to: [] },
      { from, to: [''] },
      { from, to: [text(201)] },
      { from, to: Array(251).fill('cci') },
      { from: [{ ...from[0], framework: text(201) }], to },
      { from: [{ ...from[0], identifier: text(301) }], to },
      { from: [{ ...from[0], identifier: '' }], to },
      { from, to, status: ['none'] },
      { from, to, maxHops: 0 },
      { from, to, maxHops: 1.5 },
      { to },
    ],
  ];
  const ccis = Array(250).fill(text(100));
  yield [
    'resolveCrosswalkBatch',
    { ccis },
    [{ ccis: [] }, { ccis: [...ccis, 'x'] }, { ccis: [text(101)] }, { ccis, to: '' }, { ccis, maxHops: -1 }],
  ];
  const host = { hostName: text(255), ipAddress: '10.0.0.1', role: 'None' };
  const hosts = { hosts: [host, { hostName: 'b', stigs: ['harbor_linux_3'] }] };
  yield [
    'setListHosts',
    hosts,
    [{}, { hosts: 'a' }, { hosts: Array(501).fill(host) }, { hosts: [{ hostName: '' }] }],
  ];
  yield [
    'updateListStig',
    { notes: text(4000), position: 2 ** 31 - 1 },
    [
      { notes: text(4001) },
      ...[0, -1, 1.5, '2', null, 2 ** 31, 1e300, true].map((position) => ({ position })),
    ],
  ];
  yield ['markListSeen', { at: '2026-01-31T12:00:00+02:00' }, [{}, { at: 7 }, { at: 'today' }]];
  yield [
    'makeListChecklists',
    { hosts: [host], format: 'ckl', layout: 'host' },
    [
      { hosts: [] },
      { hosts: Array(501).fill(host) },
      { hosts: [{ ...host, hostName: text(256) }] },
      { hosts: [{ ...host, role: 'King' }] },
      { hosts: [{ ipAddress: 'x' }] },
      { hosts: [host], layout: 'x' },
      { hosts: [host], format: 'json' },
    ],
  ];
  const checklist = { stigs: [{ stig_id: 'A', rules: [{ rule_id: 'SV-1r1', severity: 'low' }] }] };
  const sheet = { checklists: [checklist], sheet: 'poam', columns: `Status\n${text(99_993)}` };
  yield [
    'emassSheet',
    { ...sheet, testedBy: text(1000), format: 'json' },
    [
      { ...sheet, checklists: [] },
      { ...sheet, checklists: Array(501).fill('') },
      { ...sheet, checklists: [5] },
      { ...sheet, checklists: '' },
      { ...sheet, sheet: 'x' },
      { ...sheet, template: 'x' },
      { ...sheet, columns: text(100_001) },
      { ...sheet, revision: text(101) },
      { ...sheet, dateTested: text(1001) },
      { sheet: 'poam' },
    ],
  ];
  yield [
    'createPlant',
    { name: 'fern', id: 2 ** 53 - 1 },
    [{ name: 'fern' }, { name: 'fern', id: 1.5 }, { name: 'fern', id: '1' }, { id: 1 }],
  ];
}

/** Where a body breaks its published schema, as JSON pointers: a second opinion on `error.field`. */
function wrongIn({ errors }: ValidateFunction): Set<string> {
  const pointers = (errors ?? []).map(({ instancePath, params }) =>
    'missingProperty' in params ? `${instancePath}/${params.missingProperty}` : instancePath,
  );
  return new Set(pointers.filter((each) => each !== ''));
}

test('the limits of every body are those of the code', async () => {
  const ajv = schemasOf(document);
  const made: Record<string, string> = {};
  for (const what of ['List', 'ControlCollection']) {
    const path = operations().find(({ operationId }) => operationId === `create${what}`)!.path;
    made[path] = (await ask(t, 'POST', path, alice, { name: 'N' })).json.id;
  }
  await ask(t, 'POST', `/api/v1/lists/${made['/api/v1/lists']}/stigs`, alice, { slugs: ['harbor_linux_3'] });
  const validators = new Map<string, ValidateFunction>();
  for (const [operationId, good, bad] of bodies()) {
    const { method, path, requestBody } = operations().find((each) => each.operationId === operationId)!;
    const schema = rebased(requestBody!.content['application/json'].schema) as object;
    const validate = validators.get(operationId) ?? ajv.compile(schema);
    validators.set(operationId, validate);
    const address = path
      .replace(/^(.*?)\/\{id\}/, (_, before: string) => `${before}/${made[before]}`)
      .replace('{stigSlug}', 'harbor_linux_3');
    const members = Object.entries(
      (schema as { properties?: Record<string, { type?: string }> }).properties ?? {},
    );
    for (const [name, { type }] of operationId === 'createPlant' ? [] : members) {
      const wrong = type === 'object' ? [] : {};
      const answer = await ask(t, method.toUpperCase(), address, alice, { ...good, [name]: wrong });
      assert.equal([answer.status, answer.json.error.field], [400, `/${name}`], `${operationId} ${name}`);
    }
    for (const body of [good, ...bad]) {
      const where = `${operationId} ${JSON.stringify(body).slice(0, 200)}`;
      const answer = await ask(t, method.toUpperCase(), address, alice, body);
      assert.is(answer.status >= 300, body !== good, `${where}: ${answer.text.slice(0, 200)}`);
      assert.is(validate(body), body === good, where);
      if (body === good) continue;
      assert.is(answer.status, 400, where);
      // The sample endpoint has errors of its own form.
      if (operationId !== 'createPlant')
        assert.ok(wrongIn(validate).has(answer.json.error.field), `${answer.json.error.field} ${where}`);
    }
  }
  const limited = operations().filter(({ requestBody }) => requestBody);
  const tried = [...validators.keys()];
  // The checklists have tests of their own, as has each of these bodies under another operation.
  const others = [
    // It wants a session.
    'createOwnToken',
    'upgradeChecklist',
    'checklistFromResults',
    'inspectChecklist',
    'addFavoriteControl',
    'removeControlCollectionControls',
    // Sent as text, as here, its body is the text: test/references/references.test.ts.
    'findReferences',
  ];
  assert.equal(limited.map(({ operationId }) => operationId).sort(), [...tried, ...others].sort());
});

test('what watches the answers of all tests finds each that is not allowed', () => {
  const check = createCheck(document);
  const error = (code: string) => JSON.stringify({ error: { code, message: 'm', requestId: 'r' } });
  const json = { 'Content-Type': 'application/json' };
  const seen = (
    status: number,
    body: string | null,
    headers: object = {},
    more: Partial<Seen> = {},
  ): Seen => ({
    method: 'GET',
    target: '/api/v1/stigs?limit=1',
    status,
    headers: new Headers({ ...json, ...headers }),
    body,
    ...more,
  });
  const pagination = { page: 1, limit: 1, total: 0, totalPages: 0 };
  const good = JSON.stringify({ stigs: [], pagination });
  const tag = { ETag: '"x"' };
  const allowed: Seen[] = [
    seen(200, good, tag),
    seen(200, null, tag, { method: 'HEAD' }),
    { ...seen(304, ''), headers: new Headers(tag) },
    seen(404, error('NOT_FOUND'), {}, { target: '/api/v1/nothing' }),
    seen(405, error('METHOD_NOT_ALLOWED'), { Allow: 'GET' }, { method: 'DELETE' }),
    seen(
      405,
      error('METHOD_NOT_ALLOWED'),
      { Allow: 'POST' },
      { method: 'PUT', target: '/api/v1/stigs/batch' },
    ),
    seen(429, error('TOO_MANY_REQUESTS'), { 'Retry-After': '1' }),
    seen(200, '<p>', {}, { target: '/stigs' }),
  ];
  for (const each of allowed) assert.is(check(each), null, JSON.stringify(each));
  const refused: [Seen, RegExp][] = [
    [seen(200, good), /it has no ETag/],
    [seen(200, '{"stigs":[]}', tag), /pagination/],
    [seen(200, good.replace('"stigs"', '"more":1,"stigs"'), tag), /additional properties/],
    [seen(200, good.replace('"page":1', '"page":1.5'), tag), /integer/],
    [seen(200, good, { ...tag, 'Retry-After': '1' }), /Retry-After is not declared/],
    [seen(200, good, { ...tag, 'Content-Type': 'text/csv' }), /content type is "text\/csv"/],
    [seen(201, good, tag), /not declared/],
    [seen(404, error('NOT_FOUND')), /not declared/],
    [seen(304, good, tag), /it has a body/],
    [seen(400, error('WRONG')), /code/],
    [seen(400, '{"error":"no"}'), /object/],
    [seen(429, error('TOO_MANY_REQUESTS'), { 'Retry-After': 'soon' }), /Retry-After/],
    [seen(405, error('METHOD_NOT_ALLOWED'), {}, { method: 'DELETE' }), /it has no Allow/],
    [seen(401, error('UNAUTHORIZED')), /it has no WWW-Authenticate/],
    [seen(200, '{}', {}, { target: '/api/v1/nothing' }), /no such path/],
    [seen(404, '{}', {}, { target: '/api/v1/nothing' }), /error/],
    [seen(200, '{"x":1}', tag, { target: '/api/v1/controls/nist-800-53/AC-2' }), /required property/],
  ];
  for (const [each, words] of refused) {
    const said = check(each) ?? 'it was let pass';
    assert.match(said, words, `${JSON.stringify(each)}: ${said}`);
  }
});

test.run();
