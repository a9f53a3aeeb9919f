import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import {
  type DocumentedOperation,
  type DocumentedParameter,
  type OpenApi,
  referenceName,
  type Schema,
} from '../../http/openapi-types.ts';
import { link, path, Table } from '../parts/components.tsx';
import type { View } from '../parts/view.ts';
import { exampleOf, resolve, responseOf, typeOf } from './schemas.ts';

interface OperationEntry {
  method: string;
  path: string;
  operation: DocumentedOperation;
}

/** The operations of the API by area, in the order of the OpenAPI document. */
export function areasOf(document: OpenApi): Map<string, OperationEntry[]> {
  const areas = new Map<string, OperationEntry[]>();
  for (const [route, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const area = operation.tags?.[0] ?? 'Other';
      areas.set(area, [...(areas.get(area) ?? []), { method, path: route, operation }]);
    }
  }
  return areas;
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
                entry.operation['x-access'] ?? '',
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
    tryIt: true,
    crumbs: [['API reference', '/docs']],
    heading: area,
    body: (
      <>
        <p class="quiet">{count(entries.length, 'operation')}</p>
        {entries.map((entry) => (
          <OperationOf entry={entry} document={document} origin={origin} />
        ))}
      </>
    ),
  };
}

function OperationOf(props: { entry: OperationEntry; document: OpenApi; origin: string }): Child {
  const { entry, document, origin } = props;
  const { method, path: route, operation } = entry;
  const id = idOf(entry);
  const parameters = operation.parameters ?? [];
  const body = operation.requestBody?.content['application/json']?.schema;
  return (
    <article class="card" id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <span class="method">{method.toUpperCase()}</span> {route}
      </h2>
      <p>
        {operation.summary}
        {operation.description === undefined ? null : <>. {operation.description}</>}
      </p>
      {parameters.length === 0 ? null : <Parameters parameters={parameters} />}
      {body === undefined ? null : (
        <>
          <h3>Body</h3>
          <SchemaTree schema={body} document={document} />
        </>
      )}
      <h3>Responses</h3>
      <ul class="tree">
        {Object.entries(operation.responses)
          .map(([status, response]) => [status, responseOf(response, document)] as const)
          .map(([status, response]) => (
            <li>
              <strong>{status}</strong> {response.description}
              {Number(status) < 300 ? <Contents of={response.content ?? {}} document={document} /> : null}
            </li>
          ))}
      </ul>
      <h3>With curl</h3>
      <pre>{curl(entry, document, origin)}</pre>
      <TryIt entry={entry} document={document} id={id} />
    </article>
  );
}

function Parameters({ parameters }: { parameters: DocumentedParameter[] }): Child {
  return (
    <Table
      caption="Parameters"
      head={['Parameter', 'In', 'Type', 'Description']}
      rows={parameters.map(({ name, in: place, required, schema, description }) => [
        <>
          <code>{name}</code>
          {required ? <span class="quiet"> required</span> : null}
        </>,
        place,
        typeOf(schema),
        [
          description ?? schema.description,
          schema.default === undefined ? undefined : `Default: ${JSON.stringify(schema.default)}.`,
          schema.example === undefined ? undefined : `Example: ${JSON.stringify(schema.example)}.`,
        ]
          .filter((text) => text !== undefined)
          .join(' '),
      ])}
    />
  );
}

function Contents({ of, document }: { of: Record<string, { schema: Schema }>; document: OpenApi }): Child {
  return Object.entries(of).map(([type, { schema }]) => (
    <details>
      <summary>
        {type}: {typeOf(schema)}
      </summary>
      <SchemaTree schema={schema} document={document} />
      {type === 'application/json' ? <pre>{JSON.stringify(exampleOf(schema, document), null, 2)}</pre> : null}
    </details>
  ));
}

/** Levels of a schema on the page; deeper schemas appear by name only. */
const depthShown = 4;

function SchemaTree(props: { schema: Schema; document: OpenApi; depth?: number; within?: string[] }): Child {
  const { schema, document, depth = 0, within = [] } = props;
  const name = referenceName(schema);
  if (depth > depthShown || (name !== null && within.includes(name))) return null;
  const inside = name === null ? within : [...within, name];
  const whole = resolve(schema, document);
  const below = { document, depth: depth + 1, within: inside };
  if (whole.items) return <SchemaTree schema={whole.items} {...below} />;
  const several = whole.anyOf ?? whole.oneOf ?? whole.allOf;
  if (several) {
    return (
      <ul class="tree">
        {several.map((each) => (
          <li>
            {typeOf(each)}
            <SchemaTree schema={each} {...below} />
          </li>
        ))}
      </ul>
    );
  }
  if (!whole.properties) return null;
  return (
    <ul class="tree">
      {Object.entries(whole.properties).map(([property, each]) => (
        <li>
          <code>{property}</code>
          {whole.required?.includes(property) ? null : <span class="quiet"> optional</span>}{' '}
          <span class="quiet">{typeOf(each)}</span> {each.description ?? ''}
          <SchemaTree schema={each} {...below} />
        </li>
      ))}
    </ul>
  );
}

function exampleText({ schema }: DocumentedParameter): string {
  return schema.example === undefined ? '' : String(schema.example);
}

function curl({ method, path: route, operation }: OperationEntry, document: OpenApi, origin: string): string {
  const filled = (operation.parameters ?? [])
    .filter((each) => each.in === 'path')
    .reduce((text, each) => {
      const example = exampleText(each);
      return example === '' ? text : text.replace(`{${each.name}}`, encodeURIComponent(example));
    }, route);
  const query = Object.fromEntries(
    (operation.parameters ?? [])
      .filter((each) => each.in === 'query' && each.required)
      .map((each) => [each.name, exampleText(each)]),
  );
  const body = operation.requestBody?.content['application/json']?.schema;
  const parts = [
    'curl',
    ...(method === 'get' ? [] : [`-X ${method.toUpperCase()}`]),
    ...(operation.security?.length ? ["-H 'Authorization: Bearer TOKEN'"] : []),
    ...(body === undefined
      ? []
      : [`-d '${JSON.stringify(exampleOf(body, document)).replaceAll("'", "'\\''")}'`]),
    `'${origin}${link(filled, query)}'`,
  ];
  return parts.join(' ');
}

function TryIt({ entry, document, id }: { entry: OperationEntry; document: OpenApi; id: string }): Child {
  const { method, path: route, operation } = entry;
  const body = operation.requestBody?.content['application/json']?.schema;
  return (
    <details class="more">
      <summary>
        Try it<span class="hidden">: {`${method} ${route}`}</span>
      </summary>
      <noscript>
        <p>This needs JavaScript. The curl command above does the same.</p>
      </noscript>
      <form class="try fields" hidden data-method={method} data-path={route}>
        {(operation.parameters ?? []).map((each) => (
          <div>
            <label for={`${id}-${each.in}-${each.name}`}>
              {each.name} <span class="hint">{each.in}</span>
            </label>
            <input
              id={`${id}-${each.in}-${each.name}`}
              name={`${each.in}:${each.name}`}
              value={each.in === 'path' ? exampleText(each) : ''}
              required={each.required}
            />
          </div>
        ))}
        {body === undefined ? null : (
          <div>
            <label for={`${id}-body`}>Body</label>
            <textarea id={`${id}-body`} name="body" class="mono" rows={6} spellcheck={false}>
              {JSON.stringify(exampleOf(body, document), null, 2)}
            </textarea>
          </div>
        )}
        <div>
          <button type="submit">Send</button>
        </div>
        <output aria-live="polite" />
      </form>
    </details>
  );
}
