import { badRequest } from '../../base/errors.ts';
import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { macLevel, macNames, nistBaselines } from '../controls/frameworks.ts';
import type { ControlService } from '../controls/queries.ts';
import { type CrosswalkService, cciQuestion } from './queries.ts';

/** The active controls of a revision of a framework, and which of them a CCI leads to. */
export interface CoverageControls {
  /** null where no catalog of the framework is loaded. */
  revision: string | null;
  /** In catalog order; `words` are the folded names of baselines, `base` is the place of the control that one enhances. */
  controls: { identifier: string; title: string; family: string; words: string[]; base: number | null }[];
  /** The places of these controls; rules that cite the CCI address them (rule D25). */
  controlsOf(cci: string): readonly number[];
}

const none: readonly number[] = [];

/** The controls that coverage counts; they are read once for each generation. */
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
  const cache = perGeneration(db, () => new Map<string, CoverageControls>());

  function make(framework: string, revision: string | null): CoverageControls {
    const rows = revision === null ? [] : active.all(framework, revision);
    const places = new Map(rows.map(([identifier], place) => [identifier, place]));
    const all = rows.map(([identifier, title, family, words]) => {
      const base = framework === 'nist-800-53' ? identifier.replace(/\(\d+\)$/, '') : identifier;
      const place = base === identifier ? null : (places.get(base) ?? null);
      return { identifier, title, family, words: JSON.parse(words) as string[], base: place };
    });
    return { revision, controls: all, controlsOf: leading(framework, revision, places) };
  }

  function leading(framework: string, revision: string | null, places: Map<string, number>) {
    const placesOf = (identifiers: string[]) =>
      identifiers.flatMap((identifier) => places.get(identifier) ?? []);
    if (framework === 'cci') return (cci: string) => placesOf([cci]);
    const found = new Map<string, readonly number[]>();
    if (framework === 'nist-800-53' && !controls.hasOwnReferences(framework, revision)) {
      const look = (cci: string) => {
        const ends = placesOf(crosswalk.endsOf({ ...cciQuestion, identifier: cci }));
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

  return {
    /** The beginnings of the statements of controls without a title, by identifier. */
    beginnings: (framework: string, revision: string) => new Map(beginnings.all(framework, revision)),

    /** The controls of a revision, or of the default one. Throws NOT_FOUND. */
    of(framework: string, wanted: string | undefined): CoverageControls {
      const revision = controls.versionOf(framework, wanted, 'revision');
      const key = `${framework} ${revision}`;
      const made = cache().get(key) ?? make(framework, revision);
      cache().set(key, made);
      return made;
    },
  };
}

/** The name of a baseline of a framework in any spelling, null for none. Throws a 400 for an unknown one. */
export function coverageBaseline(
  { namedBaselines }: ControlService,
  framework: string,
  wanted: string | undefined,
): string | null {
  if (wanted === undefined) return null;
  const [levels, level] = framework === 'dod-8500' ? [macNames, macLevel(wanted)] : [[], undefined];
  const ofFramework = framework === 'nist-800-53' ? nistBaselines : levels;
  const known = [...new Set([...ofFramework, ...namedBaselines(framework)])];
  const name = level ?? known.find((each) => fold(each) === fold(wanted.trim()));
  if (name !== undefined) return name;
  throw badRequest(
    known.length === 0
      ? `baseline must be left out: there is none of ${framework}`
      : `baseline must be one of: ${known.join(', ')}`.slice(0, 300),
    'baseline',
  );
}
