import { and, asc, eq, sql } from 'drizzle-orm';
import { badRequest } from '../../base/errors.ts';
import { withoutFolder } from '../../base/source-name.ts';
import { baselines } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { sources } from '../../db/tables.ts';
import { isNistBaseline, nistBaselines, requireFramework } from './frameworks.ts';
import type { Baselines } from './schema.ts';
import type { ControlVersions } from './versions.ts';

export type ControlBaselines = ReturnType<typeof createControlBaselines>;

/** The baselines of the control catalogs (rule D31). */
export function createControlBaselines(db: Database, { versionOf }: ControlVersions) {
  const { orm } = db;
  const framework = sql.placeholder('framework');
  const { name, title, controls } = baselines;
  const rowsOf = orm
    .select({ name, title, controls, source: sources.source })
    .from(baselines)
    .innerJoin(sources, eq(sources.id, baselines.sourceId))
    .where(and(eq(baselines.framework, framework), eq(baselines.version, sql.placeholder('version'))))
    .orderBy(asc(baselines.ordinal))
    .prepare();
  const namesOf = orm
    .selectDistinct({ name })
    .from(baselines)
    .where(eq(baselines.framework, framework))
    .orderBy(asc(name))
    .prepare();

  /** The names of the baselines of all versions of a framework, NIST's first. */
  const namedBaselines = (framework: string): string[] => {
    const names = namesOf.all({ framework }).map(({ name }) => name);
    return [
      ...nistBaselines.filter((each) => names.includes(each)),
      ...names.filter((each) => !isNistBaseline(each)),
    ];
  };

  return {
    namedBaselines,

    /** Throws a 400 for a name that no version has (rule D31). */
    checkBaselines(framework: string, names: Set<string> | undefined): void {
      if (names === undefined) return;
      const known = new Set([...nistBaselines, ...namedBaselines(framework)]);
      if ([...names].every((name) => known.has(name))) return;
      throw badRequest(`baseline must be one or more of: ${[...known].join(', ')}`.slice(0, 300), 'baseline');
    },

    /** The baseline of a version by name, or null. */
    baselineOf: (framework: string, version: string, name: string | undefined) =>
      rowsOf.all({ framework, version }).find((row) => row.name === name) ?? null,

    /** The baselines of a version of a framework, NIST's first. Throws NOT_FOUND for an unknown framework. */
    baselines(framework: string, wanted?: string): Baselines {
      return db.read(() => {
        const version = versionOf(framework, wanted);
        requireFramework(framework, version !== null);
        const rows = version === null ? [] : rowsOf.all({ framework, version });
        return { baselines: rows.map((row) => ({ ...row, source: withoutFolder(row.source) })) };
      });
    },
  };
}
