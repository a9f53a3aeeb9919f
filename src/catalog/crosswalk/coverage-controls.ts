import { badRequest } from '../../base/errors.ts';
import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { type frameworks, macLevel, macNames, nistBaselines, versionKey } from '../controls/frameworks.ts';
import type { ControlService } from '../controls/queries.ts';
import { type CrosswalkService, closureDepth, defaultStatuses } from './queries.ts';

export type CoverageFramework = (typeof frameworks)[number];

/** The active controls of a revision of a framework, and which of them a CCI leads to. */
export interface CoverageControls {
  /** null where no catalog of the framework is loaded. */
  revision: string | null;
  /** In catalog order; `words` are the names of their baselines, `base` is the place of the control that one enhances. */
  controls: { identifier: string; title: string; family: string; words: string[]; base: number | null }[];
  /** The places of these controls; rules that cite the CCI address them (rule D25). */
  controlsOf(cci: string): readonly number[];
}

const none: readonly number[] = [];

/** Finds the controls that coverage is about. */
export function createCoverageControls(db: Database, controls: ControlService, crosswalk: CrosswalkService) {
  const active = db.sqlite
    .prepare<[string, string], [string, string, string, string]>(
      `SELECT identifier, title, family, filter_words FROM controls
        WHERE framework = ? AND version = ? AND status = 'active' ORDER BY ordinal`,
    )
    .raw();
  const beginnings = db.sqlite
    .prepare<[string, string], [string, string]>(
      `SELECT identifier, substr(statement, 1, 200) FROM controls
        WHERE framework = ? AND version = ? AND status = 'active' AND title = ''`,
    )
    .raw();
  let kept: { generation: number; made: Map<string, CoverageControls> } | null = null;

  /** The baselines of a framework by name, and how one is called that is asked for; undefined where there is none. */
  function baselineNamed(framework: CoverageFramework, wanted: string) {
    const named = controls.namedBaselines(framework);
    const [levels, level] = framework === 'dod-8500' ? [macNames, macLevel(wanted)] : [[], undefined];
    const known = [...new Set([...(framework === 'nist-800-53' ? nistBaselines : levels), ...named])];
    return { known, name: level ?? known.find((each) => fold(each) === fold(wanted.trim())) };
  }

  function make(framework: CoverageFramework, revision: string | null): CoverageControls {
    const rows = revision === null ? [] : active.all(framework, revision);
    const places = new Map(rows.map(([identifier], place) => [identifier, place]));
    const all = rows.map(([identifier, title, family, words]) => {
      const base = framework === 'nist-800-53' ? identifier.replace(/\(\d+\)$/, '') : identifier;
      const place = base === identifier ? null : (places.get(base) ?? null);
      return { identifier, title, family, words: JSON.parse(words) as string[], base: place };
    });
    return { revision, controls: all, controlsOf: leading(framework, revision, places) };
  }

  /** From a CCI to the places of the controls that rules address which cite it. */
  function leading(framework: CoverageFramework, revision: string | null, places: Map<string, number>) {
    const placesOf = (identifiers: string[]) =>
      identifiers.flatMap((identifier) => places.get(identifier) ?? []);
    if (framework === 'cci') return (cci: string) => placesOf([cci]);
    const found = new Map<string, readonly number[]>();
    if (framework === 'nist-800-53' && !isOlder(framework, revision)) {
      const question = { framework: 'cci', to: framework, statuses: defaultStatuses, maxHops: closureDepth };
      const look = (cci: string) => {
        const ends = placesOf(crosswalk.endsOf({ ...question, identifier: cci }));
        found.set(cci, ends);
        return ends;
      };
      return (cci: string) => found.get(cci) ?? look(cci);
    }
    const ccisOf =
      framework === 'nist-800-53'
        ? crosswalk.statedEnds(framework, 'cci', revision!)
        : (identifier: string) => crosswalk.nearest(framework, identifier, 'cci');
    for (const [identifier, place] of places)
      for (const cci of ccisOf(identifier)) found.set(cci, [...(found.get(cci) ?? none), place]);
    return (cci: string) => found.get(cci) ?? none;
  }

  /** Whether other references are those of a revision than those of the default one: `Rev 5.1.1` and `Rev 5` have the same. */
  function isOlder(framework: string, revision: string | null): boolean {
    const served = controls.versionOf(framework, undefined);
    return revision !== served && versionKey(framework, revision!) !== versionKey(framework, served!);
  }

  return {
    /** The name of a baseline of a framework in any spelling, null for none. Throws a 400 for an unknown one. */
    baseline(framework: CoverageFramework, wanted: string | undefined): string | null {
      if (wanted === undefined) return null;
      const { known, name } = baselineNamed(framework, wanted);
      if (name !== undefined) return name;
      throw badRequest(
        known.length === 0
          ? `baseline must be left out: there is none of ${framework}`
          : `baseline must be one of: ${known.join(', ')}`.slice(0, 300),
      );
    },

    /** How the statements of the controls of a revision begin that have no title. */
    beginnings: (framework: CoverageFramework, revision: string) =>
      new Map(beginnings.all(framework, revision)),

    /** The controls of a revision, or of the default one; made once for each generation. Throws NOT_FOUND. */
    of(framework: CoverageFramework, wanted: string | undefined): CoverageControls {
      const generation = db.generation();
      if (kept?.generation !== generation) kept = { generation, made: new Map() };
      const revision = controls.versionOf(framework, wanted);
      const key = `${framework} ${revision}`;
      const made = kept.made.get(key) ?? make(framework, revision);
      kept.made.set(key, made);
      return made;
    },
  };
}
