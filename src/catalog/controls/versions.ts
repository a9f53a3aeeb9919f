import { type AppError, badRequest, noSuchPath, notThere } from '../../base/errors.ts';
import { withoutFolder } from '../../base/source-name.ts';
import { cut, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import {
  compareFrameworks,
  compareVersions,
  frameworks,
  nistBaselines,
  noFramework,
  requireFramework,
  versionKey,
  withEdition,
  withoutEndingZeros,
} from './frameworks.ts';
import type { Baselines } from './schema.ts';

export type ControlVersions = ReturnType<typeof createControlVersions>;

/** The imported versions of the frameworks, and their baselines (rule D31). */
export function createControlVersions({ sqlite, read }: Database) {
  const versionsOf = sqlite.prepare<[string], { version: string; edition: string; isDefault: number }>(
    'SELECT version, edition, is_default AS isDefault FROM framework_versions WHERE framework = ?',
  );
  const importedNames = sqlite
    .prepare<[], string>('SELECT DISTINCT framework FROM framework_versions')
    .pluck();
  const baselinesOf = sqlite.prepare<[string, string], Baselines['baselines'][number]>(
    `SELECT b.name, b.title, b.controls, s.source FROM baselines AS b JOIN sources AS s ON s.id = b.source_id
      WHERE b.framework = ? AND b.version = ? ORDER BY b.ordinal`,
  );
  const baselineNames = sqlite
    .prepare<[string], string>(
      `SELECT DISTINCT name FROM baselines AS b LEFT JOIN json_each('${JSON.stringify(nistBaselines)}') AS n ON n.value = b.name
        WHERE framework = ? ORDER BY n.key NULLS LAST, name`,
    )
    .pluck();

  /**
   * The imported versions of a framework, newest first, with the dates of their editions in the labels. One is served when
   * the request names none.
   */
  const versions = (framework: string) =>
    versionsOf
      .all(framework)
      .map(({ version, edition, isDefault }) => ({
        version,
        label: withEdition(version, edition),
        isServed: isDefault === 1,
      }))
      .sort((a, b) => compareVersions(b.version, a.version));

  /** The imported version that a label names, the served one without a label; null where there is none. */
  function findVersion(framework: string, label: string | undefined): string | null {
    const all = versions(framework);
    if (label === undefined) return all.find(({ isServed }) => isServed)?.version ?? null;
    const bare = (text: string) => withoutEndingZeros(fold(text.trim()).replace(/^rev(?:ision)?\.?\s*/, ''));
    const key = /\d\.\d/.test(label) ? null : versionKey(framework, label);
    const found =
      all.find(({ version }) => bare(version) === bare(label)) ??
      all.find(({ version }) => versionKey(framework, version) === key);
    return found?.version ?? null;
  }

  /** As `findVersion`, but throws NOT_FOUND for a label that names no imported version; `field` has it in the request. */
  function versionOf(framework: string, label: string | undefined, field = 'version'): string | null {
    const version = findVersion(framework, label);
    if (version !== null || label === undefined) return version;
    requireFramework(framework, versionsOf.get(framework) !== undefined);
    throw notThere(field, `Version not found: ${cut(label)}`);
  }

  /** The frameworks of imported catalogs: the published first, a site's own by name (rule D7.2). */
  const imported = (): string[] => importedNames.all().sort(compareFrameworks);

  /** The published frameworks, imported or not, then a site's own by name. */
  const known = (): string[] => [...new Set([...frameworks, ...imported()])];

  /** The names of the baselines of all versions of a framework, NIST's first. */
  const namedBaselines = (framework: string): string[] => baselineNames.all(framework);

  return {
    versions,
    findVersion,
    versionOf,
    imported,
    known,
    namedBaselines,

    /** The 404 of a path below a framework that the catalogs do not serve: an unknown framework is named. */
    whyNoPath: (framework: string): AppError =>
      known().includes(framework) ? noSuchPath() : noFramework(framework),

    /** Whether a revision has references of its own: `Rev 5.1.1` shares those of the default `Rev 5`. */
    hasOwnReferences(framework: string, version: string | null): boolean {
      const served = findVersion(framework, undefined);
      return version !== served && versionKey(framework, version!) !== versionKey(framework, served ?? '');
    },

    /**
     * The versions to search for a control: the one that a label names, else the default; for 800-171 all, which name
     * different controls (D6.2).
     */
    searchedVersions(framework: string, label: string | undefined): string[] {
      const isAny = framework === 'nist-800-171' && label === undefined;
      const others = isAny ? versions(framework).map(({ version }) => version) : [];
      return [...new Set([findVersion(framework, label) ?? '', ...others])];
    },

    /** Throws a 400 for the name of a baseline that no version has (rule D31). */
    checkBaselines(framework: string, names: Set<string> | undefined): void {
      if (names === undefined) return;
      const known = new Set([...nistBaselines, ...namedBaselines(framework)]);
      if ([...names].every((name) => known.has(name))) return;
      throw badRequest(`baseline must be one or more of: ${[...known].join(', ')}`.slice(0, 300), 'baseline');
    },

    /** A baseline of a version by name; null where it has none of that name. */
    baselineOf: (framework: string, version: string, name: string | undefined) =>
      baselinesOf.all(framework, version).find((each) => each.name === name) ?? null,

    /** The baselines of a version of a framework, NIST's first. Throws NOT_FOUND for an unknown framework. */
    baselines: (framework: string, requested?: string): Baselines =>
      read(() => {
        const version = versionOf(framework, requested);
        requireFramework(framework, version !== null);
        const rows = version === null ? [] : baselinesOf.all(framework, version);
        return { baselines: rows.map((row) => ({ ...row, source: withoutFolder(row.source) })) };
      }),
  };
}
