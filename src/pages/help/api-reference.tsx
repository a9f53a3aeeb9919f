import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import {
  type DocumentedOperation,
  type DocumentedParameter,
  type DocumentedResponse,
  type OpenApi,
  referenceName,
  type Schema,
} from '../../http/openapi-types.ts';
import { link, path, Table } from '../parts/components.tsx';
import type { View } from '../parts/view.ts';

interface OperationEntry {
  method: string;
  path: string;
  operation: DocumentedOperation;
}

/** The operations of the API by area, in the order of the OpenAPI document. */
export function areasOf(document: OpenApi): Map<string, OperationEntry[]> {
  const entries = Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path: route, operation })),
  );
  return Map.groupBy(entries, ({ operation }) => operation.tags[0] ?? 'Other');
}

/** The name of an area in an address. */
export function areaSlug(area: string): string {
  return area.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

const idOf = ({ method, path: route }: OperationEntry) =>
  `${method}-${route.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')}`;

/** The contents of the API reference, and the titles of other documents by name. */
export function docsPage(document: OpenApi, documents: ReadonlyMap<string, string>): View {
  return {
    title: 'API reference',
    section: 'docs',
    heading: `${document.info.title} API ${document.info.version}`,
    body: (
      <>
        <p class="lead">
          {document.info.description} Responses are JSON, except some downloads. Errors have the form{' '}
          <code>{'{ "error": { "code", "message", "requestId" } }'}</code>, and <code>field</code> where one
          field is wrong. The machine-readable description is <a href="/openapi.json">/openapi.json</a>.
        </p>
        <p>
          Send <code>Authorization: Bearer TOKEN</code> with each request. In this browser, signing in is
          enough.
        </p>
        <ul>
          {[...documents].map(([name, title]) => (
            <li>
              <a href={path('docs', name)}>{title}</a>
            </li>
          ))}
        </ul>
        {[...areasOf(document)].map(([area, entries]) => (
          <>
            <h2>
              <a href={path('docs', areaSlug(area))}>{area}</a>
            </h2>
            <Table
              caption={`Operations of ${area}`}
              head={['Operation', 'What it does', 'Access']}
              rows={entries.map((entry) => [
                <a class="mono" href={`${path('docs', areaSlug(area))}#${idOf(entry)}`}>
                  {entry.method.toUpperCase()} {entry.path}
                </a>,
                entry.operation.summary,
                entry.operation['x-access'],
              ])}
            />
          </>
        ))}
      </>
    ),
  };
}

/** One area of the API reference, with all its operations. `origin` is that of the server in examples. */
export function docsAreaPage(
  document: OpenApi,
  origin: string,
  area: string,
  entries: OperationEntry[],
): View {
  return {
    title: `${area}: API reference`,
    section: 'docs',
    crumbs: [['API reference', '/docs']],
    heading: area,
    body: (
      <>
        <p class="quiet">{count(entries.length, 'operation')}</p>
        {entries.map((entry) => (
          <Operation entry={entry} document={document} origin={origin} />
        ))}
      </>
    ),
  };
}

function Operation(props: { entry: OperationEntry; document: OpenApi; origin: string }): Child {
  const { entry, document, origin } = props;
  const { summary, description, parameters = [], responses } = entry.operation;
  const id = idOf(entry);
  const body = bodyOf(entry);
  return (
    <article class="card" id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} class="mono">
        {entry.method.toUpperCase()} {entry.path}
      </h2>
      <p>
        {summary}
        {description === undefined ? null : <>. {description}</>}
      </p>
      {parameters.length === 0 ? null : <Parameters of={parameters} />}
      {body === undefined ? null : (
        <>
          <h3>Body</h3>
          <Fields of={body} document={document} />
        </>
      )}
      <h3>Responses</h3>
      <ul class="tree">
        {Object.entries(responses).map(([status, response]) => (
          <Response status={status} of={response} document={document} />
        ))}
      </ul>
      <h3>With curl</h3>
      <pre>{curlOf(entry, origin)}</pre>
    </article>
  );
}

const bodyOf = ({ operation }: OperationEntry) => operation.requestBody?.content['application/json']?.schema;

function Parameters({ of }: { of: DocumentedParameter[] }): Child {
  return (
    <Table
      caption="Parameters"
      head={['Parameter', 'In', 'Type', 'Description']}
      rows={of.map(({ name, in: place, required, schema, description = schema.description }) => [
        <>
          <code>{name}</code>
          {required ? <span class="quiet"> required</span> : null}
        </>,
        place,
        typeOf(schema),
        [
          description,
          schema.default === undefined ? undefined : `Default: ${JSON.stringify(schema.default)}.`,
          schema.example === undefined ? undefined : `Example: ${JSON.stringify(schema.example)}.`,
        ]
          .filter((text) => text !== undefined)
          .join(' '),
      ])}
    />
  );
}

function Response(props: { status: string; of: DocumentedResponse; document: OpenApi }): Child {
  const { status, of, document } = props;
  const response = document.components.responses[of.$ref?.split('/').at(-1) ?? ''] ?? of;
  const contents = Number(status) < 300 ? Object.entries(response.content ?? {}) : [];
  return (
    <li>
      <strong>{status}</strong> {response.description}
      {contents.map(([type, { schema }]) => (
        <details>
          <summary>
            {type}: {typeOf(schema)}
          </summary>
          <Fields of={schema} document={document} />
        </details>
      ))}
    </li>
  );
}

/** Levels of a schema on the page; deeper schemas appear by name only. */
const depthShown = 4;

/** The fields of a schema, or its alternatives, as a tree. `within` are the names of the schemas around it. */
function Fields(props: { of: Schema; document: OpenApi; depth?: number; within?: string[] }): Child {
  const { of, document, depth = 0, within = [] } = props;
  const name = referenceName(of);
  if (depth > depthShown || (name !== null && within.includes(name))) return null;
  const below = { document, depth: depth + 1, within: name === null ? within : [...within, name] };
  const schema = name === null ? of : (document.components.schemas[name] ?? {});
  if (schema.items) return <Fields of={schema.items} {...below} />;
  const alternatives = (schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []).map((each) => (
    <li>
      {typeOf(each)}
      <Fields of={each} {...below} />
    </li>
  ));
  const fields = Object.entries(schema.properties ?? {}).map(([property, each]) => (
    <li>
      <code>{property}</code>
      {schema.required?.includes(property) ? null : <span class="quiet"> optional</span>}{' '}
      <span class="quiet">{typeOf(each)}</span> {each.description ?? ''}
      <Fields of={each} {...below} />
    </li>
  ));
  const items = alternatives.length > 0 ? alternatives : fields;
  return items.length === 0 ? null : <ul class="tree">{items}</ul>;
}

/** The type of a schema in a few words. */
function typeOf(schema: Schema): string {
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

/** A command that sends the request, with the examples of its parameters. */
function curlOf(entry: OperationEntry, origin: string): string {
  const { method, path: route, operation } = entry;
  const parameters = operation.parameters ?? [];
  const exampleOf = ({ schema }: DocumentedParameter) => String(schema.example ?? '');
  const target = parameters
    .filter((each) => each.in === 'path' && each.schema.example !== undefined)
    .reduce((text, each) => text.replace(`{${each.name}}`, encodeURIComponent(exampleOf(each))), route);
  const query = parameters
    .filter((each) => each.in === 'query' && each.required)
    .map((each) => [each.name, exampleOf(each)]);
  return [
    'curl',
    ...(method === 'get' ? [] : [`-X ${method.toUpperCase()}`]),
    ...(operation.security.length === 0 ? [] : ["-H 'Authorization: Bearer TOKEN'"]),
    ...(bodyOf(entry) === undefined ? [] : ['-d @body.json']),
    `'${origin}${link(target, Object.fromEntries(query))}'`,
  ].join(' ');
}
