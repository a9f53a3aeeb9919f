import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// One table of all pages and forms (page-operations.txt): who may see them, with a sample of each.

/**
 * `rule | method path | form | status`: a place of a path has its sample behind `=`; `{id}` alone is each list or collection.
 * A status is that of who may see it, which nobody else learns, where it is not 200 for a page and 303 for a form.
 */
const table = readFileSync(join(import.meta.dirname, 'page-operations.txt'), 'utf8');

export interface PageOperation {
  /** The rule, and of which list or collection. */
  rule: string;
  /** As the application has it. */
  route: string;
  path: string;
  form?: Record<string, string>;
  status: number;
  /** Where it leads on to. */
  to?: string;
}

function* rowsOf(line: string, names: Record<string, string>): Generator<PageOperation> {
  const [rule = '', request = '', form = '', answer = ''] = line.split('|').map((cell) => cell.trim());
  const [method, path] = request.split(' ') as [string, string];
  const [status = method === 'GET' ? '200' : '303', to] = answer.split(' ').filter(Boolean);
  const fill = (text: string, more = {}) =>
    text.replace(/\$(\w+)/g, (_, name) => ({ ...names, ...more })[name as string]!);
  for (const visibility of path.includes('{id}') ? ['PRIVATE', 'SHARED'] : ['']) {
    const id = names[`${visibility.toLowerCase()}${path.startsWith('/systems') ? 'List' : 'Collection'}`]!;
    yield {
      rule: `${rule} ${visibility}`.trim(),
      route: `${method} ${path.replace(/\{(\w+)[^}]*\}/g, ':$1').split('?')[0]}`,
      path: fill(path.replace(/\{\w+=([^}]*)\}/g, '$1').replace('{id}', id)),
      ...(form !== '' && { form: Object.fromEntries(new URLSearchParams(fill(form, { visibility }))) }),
      ...(to !== undefined && { to: fill(to) }),
      status: Number(status),
    };
  }
}

/** The pages and forms; `names` are the ids of alice's lists and collections. */
export const pageOperations = (names: Record<string, string>): PageOperation[] =>
  table
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => [...rowsOf(line, names)]);
