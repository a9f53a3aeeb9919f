import type { Hono } from 'hono';
import type { Env } from '../../../src/http/env.ts';
import { isPage } from '../pages.ts';
import { boundary, type PageForm, worstFields, worstParts } from './forms.ts';
import { fillers, type Shape, worstJson } from './json.ts';
import { type Schema, samplesOf } from './schema.ts';
import { worstXml } from './xml.ts';

/** A request in a bad shape, as it is sent. */
export interface WorstRequest {
  name: string;
  /** The method and the path with its parameters' names. */
  operation: string;
  method: string;
  /** The path and the query. */
  target: string;
  type: string | null;
  /** The rule of access of the operation; of a page null. */
  access: string | null;
  /** Whether its body holds a file in a bad shape, which only uploads read. */
  isFile?: boolean;
  /** Makes a body of so many bytes at most; without one there is none. */
  body: Shape['make'] | null;
}

interface Parameter {
  in: string;
  name: string;
  schema: Schema;
  example?: unknown;
}

/** `/openapi.json`, as far as it says what may be sent. */
export interface Requested {
  paths: Record<
    string,
    Record<
      string,
      {
        'x-access': string;
        parameters?: Parameter[];
        requestBody?: { content: Record<string, { schema: Schema }> };
      }
    >
  >;
  components: { schemas: Record<string, Schema> };
}

/** What stands in a place of a path, as `{slug}` or `:slug`, of the given path. */
export type Samples = (path: string, parameter: string) => string;

/** Files that are sent: as values of the body's members of a name, and as bodies. */
export interface SampleFiles {
  members: Record<string, unknown[]>;
  files: string[];
}

/** Less than what Node takes for a request line with its headers, by what else there is. */
const longestTarget = 15_000;
const parameters = /\{(\w+)\}|:(\w+)/g;
const inTarget = ['a', '%20', '1%2C', '%F0%9F%98%80'];

const filled = (path: string, samples: Samples) =>
  path.replace(parameters, (_, a, b) => encodeURIComponent(samples(path, a ?? b)));

const repeat = (text: string, room: number) => text.repeat(Math.max(1, Math.floor(room / text.length)));

/** A path with each of its parameters long, and with each of some query parameters long or repeated. */
function* worstTargets(
  path: string,
  samples: Samples,
  query: [name: string, value: string][],
  needed: string,
): Generator<[name: string, target: string]> {
  const plain = filled(path, samples);
  const start = `${plain}?${needed}`;
  yield ['plain', start];
  for (const [, a, b] of path.matchAll(parameters)) {
    const long = (filler: string) =>
      filled(path.replace(`{${a}}`, '@').replace(`:${b}`, '@'), samples).replace(
        '@',
        repeat(filler, longestTarget - plain.length),
      );
    for (const filler of inTarget) yield [`long ${filler} ${a ?? b}`, long(filler)];
  }
  for (const [name, value] of [...query, ['unknown', '']] as [string, string][]) {
    const room = longestTarget - start.length;
    for (const filler of inTarget)
      yield [
        `long ${filler} ${name}`,
        `${start}${name}=${value}${repeat(filler, room - name.length - value.length)}`,
      ];
    yield [`many ${name}`, start + repeat(`${name}=${value}&`, room)];
    yield [`many in ${name}`, `${start}${name}=${repeat(`${value || 'a'},`, room)}`];
  }
  yield ['wide', start + Array.from({ length: 1500 }, (_, index) => `p${index}`).join('&')];
}

const textOf = ({ schema, example }: Parameter, schemas: Record<string, Schema>) =>
  encodeURIComponent(String([example ?? samplesOf(schema, schemas)[0]].flat()[0]));

/** The shapes of bodies: of one with files the first has all fields, and the others a file each. */
function bodies(samples: unknown[], members: string[]): Shape[] {
  const isUpload = Object.keys(samples[0] as object).some((name) => members.includes(name));
  if (!isUpload) return samples.flatMap((sample) => [...worstJson(sample, fillers)]);
  return samples.flatMap((sample, index) => [...worstJson(sample, ['a'], index === 0 ? members : [])]);
}

/** Every operation of `/openapi.json` in every bad shape of its path, its query and its body. */
export function* worstOperations(
  { paths, components }: Requested,
  samples: Samples,
  { members, files }: SampleFiles,
): Generator<WorstRequest> {
  for (const [path, operations] of Object.entries(paths))
    for (const [named, { parameters: given = [], requestBody, 'x-access': access }] of Object.entries(
      operations,
    )) {
      const method = named.toUpperCase();
      const query = given
        .filter((each) => each.in === 'query')
        .map((each): [string, string, boolean] => [
          each.name,
          textOf(each, components.schemas),
          (each as { required?: boolean }).required === true,
        ]);
      const needed = query
        .filter(([, , required]) => required)
        .map(([name, value]) => `${name}=${value}&`)
        .join('');
      const pairs = query.map(([name, value]): [string, string] => [name, value]);
      const request = { operation: `${method} ${path}`, method, access, type: null, body: null };
      for (const [name, target] of worstTargets(path, samples, pairs, needed))
        yield { ...request, name, target };
      const target = filled(path, samples);
      for (const [type, { schema }] of Object.entries(requestBody?.content ?? {})) {
        const shapes =
          type === 'application/json'
            ? bodies(samplesOf(schema, components.schemas, members), Object.keys(members))
            : files.filter((file) => file.startsWith('<')).flatMap((file) => [...worstXml(file)]);
        for (const { name, make } of shapes) yield { ...request, name, target, type, body: make };
      }
    }
}

/** The pages of an application: the paths of its routes that are no part of the API. */
export function pagesOf(app: Hono<Env>, method: 'GET' | 'POST'): string[] {
  const paths = app.routes.filter((route) => route.method === method).map((route) => route.path);
  return [...new Set(paths)].filter((path) => isPage(path) && !path.includes('*'));
}

/** Every page in every bad shape of its path and of the query that forms on pages send to it. */
export function* worstPages(paths: string[], samples: Samples, forms: PageForm[]): Generator<WorstRequest> {
  for (const path of paths) {
    const query = forms
      .filter(({ method, action }) => method === 'get' && isOf(path, action))
      .flatMap(({ fields }) => fields);
    const pairs = [...new Map(query)].map(([name, value]): [string, string] => [
      name,
      encodeURIComponent(value),
    ]);
    for (const [name, target] of worstTargets(path, samples, pairs, ''))
      yield { name, operation: `GET ${path}`, method: 'GET', target, type: null, access: null, body: null };
  }
}

/** Every form of a page in every bad shape. Throws for one that stands on no page: then its fields are not known. */
export function* worstForms(
  paths: string[],
  samples: Samples,
  forms: PageForm[],
  files: string[],
): Generator<WorstRequest> {
  for (const path of paths) {
    const found = forms.filter(({ method, action }) => method === 'post' && isOf(path, action));
    if (found.length === 0)
      throw new Error(`no page has a form for POST ${path}: give the walk a page that has`);
    const fields = [...new Map(found.flatMap((form) => form.fields))];
    const request = {
      operation: `POST ${path}`,
      method: 'POST',
      target: filled(path, samples),
      access: null,
    };
    const type = 'application/x-www-form-urlencoded';
    for (const { name, make } of worstFields(fields)) yield { ...request, name, type, body: make };
    const parts = `multipart/form-data; boundary=${boundary}`;
    for (const { make, ...shape } of worstParts(fields, files))
      yield { ...request, ...shape, type: parts, body: make };
  }
}

/** Whether an address is one of a path with parameters. */
function isOf(path: string, address: string): boolean {
  const pattern = path.replace(/[.*+?^$()|[\]\\{}]/g, '\\$&').replace(/:\w+/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(address.split(/[?#]/)[0]!);
}
