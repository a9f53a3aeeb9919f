import type { TestApp } from './app.ts';
import type { Caller } from './callers.ts';

/** Whether a path is one of the pages, which are no part of the API and of /openapi.json. */
export function isPage(path: string): boolean {
  return !/^\/(?:api\/|mcp$|plants$|healthz$|readyz$|metrics$|openapi\.json$)/.test(path);
}

/** The answer to a request for a page. */
export interface PageAnswer {
  status: number;
  headers: Headers;
  html: string;
  /** Where it leads on to, without what the notice is made from. */
  location: string | null;
}

/** Loads a page, or sends a form to one as a browser does from another page of ours. */
export async function loadPage(
  t: TestApp,
  path: string,
  caller: Caller = {},
  form?: Record<string, string | string[]> | FormData,
): Promise<PageAnswer> {
  const body = form === undefined || form instanceof FormData ? form : encoded(form);
  const init = form === undefined ? {} : { method: 'POST', body: body! };
  const response = await t.app.request(`http://here.example${path}`, { ...init, headers: caller });
  const location = response.headers.get('Location');
  return {
    status: response.status,
    headers: response.headers,
    html: await response.text(),
    location: location === null ? null : location.replace(/[?&]done=[\w-]+(&count=\d+)?/, ''),
  };
}

function encoded(form: Record<string, string | string[]>): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, values] of Object.entries(form))
    for (const value of [values].flat()) fields.append(name, value);
  return fields;
}

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** The texts between tags, entities read: what a page says. */
export function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name) => entities[name]!)
    .replace(/\s+/g, ' ')
    .trim();
}

/** The values of an attribute in the order of a page, entities read. */
export function attributesOf(html: string, name: string): string[] {
  return [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map((match) =>
    match[1]!.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"'),
  );
}

/** The form of a page that sends its files again, as a browser does. */
export function formOnPage(html: string): FormData {
  const form = new FormData();
  const own = html.match(/<form .*?<\/form>/gs)!.find((each) => each.includes(' name="as" '))!;
  const hidden = own.match(/<input type="hidden"[^>]*>/g)!.join('');
  const [names, values] = [attributesOf(hidden, 'name'), attributesOf(hidden, 'value')];
  for (const [index, name] of names.entries()) form.append(name, textOf(values[index]!));
  return form;
}

/** The path in the API of what a page of a system shows: there it is a list. */
export const listOf = (path: string): string => path.replace(/^\/systems\b/, '/lists');
