import type Sqlite from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { onDemand } from '../base/on-demand.ts';

// The services make some 200 statements at a start, and a request executes few of them: to make the SQL of each and to
// prepare it took a tenth of a start. So a mistake in the SQL of a statement is thrown by its first execution.

type Statement = Sqlite.Statement<unknown[], unknown>;
type Query = Pick<Statement, 'run' | 'get' | 'all'> & { values(...values: unknown[]): unknown };

/**
 * SQLite prepares a statement again where a value that may change its plan is bound anew, and the driver takes all
 * values back after each execution: so each join was prepared by each execution, most of its time. A plus before a
 * value changes nothing but that no plan depends on it.
 */
const planned = (source: string) => source.replace(/((?<![<>!])=|\b(?:is|like))\s*(?=[?@])/gi, '$1 +');

/** Has each statement of a connection prepared when it is first executed, and once. */
export function prepareOnFirstUse(sqlite: Sqlite.Database): void {
  const prepare = sqlite.prepare.bind(sqlite) as (source: string) => Statement;
  sqlite.prepare = ((source: string) =>
    lazyStatement(() => prepare(planned(source)))) as typeof sqlite.prepare;
}

/** Drizzle over a connection; `prepare` of its selects makes the SQL when the query is first executed. */
export function drizzleOnFirstUse(sqlite: Sqlite.Database): BetterSQLite3Database {
  const orm = drizzle(sqlite);
  for (const name of ['select', 'selectDistinct'] as const) {
    const begin = orm[name].bind(orm) as (fields?: never) => { from(source: never): { prepare(): Query } };
    const lazy: typeof begin = (fields) => {
      const builder = begin(fields);
      const from = builder.from.bind(builder);
      builder.from = (source) => {
        const query = from(source);
        const prepare = query.prepare.bind(query);
        query.prepare = () => lazyQuery(prepare);
        return query;
      };
      return builder;
    };
    orm[name] = lazy as unknown as typeof orm.select;
  }
  return orm;
}

function lazyQuery(prepare: () => Query): Query {
  const made = onDemand(prepare);
  return {
    run: (...values) => made().run(...values),
    get: (...values) => made().get(...values),
    all: (...values) => made().all(...values),
    values: (...values) => made().values(...values),
  };
}

function lazyStatement(prepare: () => Statement) {
  let make = prepare;
  let statement: Statement | undefined;
  const made = () => (statement ??= make());
  const toggle =
    (name: 'pluck' | 'raw') =>
    (isOn = true) => {
      const before = make;
      if (statement) statement[name](isOn);
      else make = () => before()[name](isOn);
      return lazy;
    };
  const lazy = {
    run: (...values: unknown[]) => made().run(...values),
    get: (...values: unknown[]) => made().get(...values),
    all: (...values: unknown[]) => made().all(...values),
    iterate: (...values: unknown[]) => made().iterate(...values),
    pluck: toggle('pluck'),
    raw: toggle('raw'),
  };
  return lazy;
}
