import { and, eq, sql } from 'drizzle-orm';
import { type AppError, noSuchPath, notThere } from '../../base/errors.ts';
import { cut, fold } from '../../base/text.ts';
import { controls, frameworkVersions } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import {
  compareFrameworks,
  compareVersions,
  frameworks,
  requireFramework,
  unknownFramework,
  versionKey,
  withEdition,
  withoutEndingZeros,
} from './frameworks.ts';

/** Joins controls with their versions. */
export const ofControl = and(
  eq(frameworkVersions.framework, controls.framework),
  eq(frameworkVersions.version, controls.version),
);

/** A version of a framework; its label has the date of its edition. */
export interface NamedVersion {
  version: string;
  label: string;
  isServed: boolean;
}

export type ControlVersions = ReturnType<typeof createControlVersions>;

/** The imported versions of the frameworks. */
export function createControlVersions({ orm }: Database) {
  const versionRows = orm
    .select()
    .from(frameworkVersions)
    .where(eq(frameworkVersions.framework, sql.placeholder('framework')))
    .prepare();

  const imported = orm
    .selectDistinct({ framework: frameworkVersions.framework })
    .from(frameworkVersions)
    .prepare();

  const newestFirst = (framework: string) =>
    versionRows.all({ framework }).sort((a, b) => compareVersions(b.version, a.version));

  /**
   * The version that a field of the request asks for, or the default; null where none is imported. Throws NOT_FOUND for one
   * that is not imported.
   */
  function versionOf(framework: string, wanted: string | undefined, field = 'version'): string | null {
    const rows = versionRows.all({ framework });
    if (wanted === undefined) return rows.find((row) => row.isDefault)?.version ?? null;
    const bare = (label: string) =>
      withoutEndingZeros(fold(label.trim()).replace(/^rev(?:ision)?\.?\s*/, ''));
    const exact = rows.find((row) => bare(row.version) === bare(wanted));
    const key = /\d\.\d/.test(wanted) ? null : versionKey(framework, wanted);
    const isSame = ({ version }: { version: string }) => versionKey(framework, version) === key;
    const found = exact ?? newestFirst(framework).find(isSame);
    if (!found && rows.length === 0) requireFramework(framework, false);
    if (!found) throw notThere(field, `Version not found: ${cut(wanted)}`);
    return found.version;
  }

  const importedFrameworks = (): string[] =>
    imported
      .all()
      .map(({ framework }) => framework)
      .sort(compareFrameworks);

  return {
    versionOf,

    /** The frameworks of imported catalogs: the published first, a site's own by name (rule D7.2). */
    imported: importedFrameworks,

    /** The published frameworks, imported or not, then a site's own by name. */
    known: (): string[] => [...new Set([...frameworks, ...importedFrameworks()])],

    /** The 404 of a path below a framework that the catalogs do not serve: an unknown framework is named. */
    whyNoPath: (framework: string): AppError =>
      unknownFramework(framework, versionOf(framework, undefined) !== null) ?? noSuchPath(),

    /** Whether a revision has references of its own: `Rev 5.1.1` shares those of the default `Rev 5`. */
    hasOwnReferences(framework: string, version: string | null): boolean {
      const served = versionOf(framework, undefined);
      return version !== served && versionKey(framework, version!) !== versionKey(framework, served ?? '');
    },

    /** The imported versions of a framework, newest first; one is served when the request names none. */
    versions: (framework: string): NamedVersion[] =>
      newestFirst(framework).map(({ version, edition, isDefault }) => {
        return { version, label: withEdition(version, edition), isServed: isDefault === 1 };
      }),

    /** The versions to search for a control: the default, for 800-171 all, which name different controls (D6.2). */
    defaultVersions(framework: string): string[] {
      const rows = newestFirst(framework).sort((a, b) => b.isDefault - a.isDefault);
      return (framework === 'nist-800-171' ? rows : rows.slice(0, 1)).map((row) => row.version);
    },
  };
}
