import { badRequest } from '../../base/errors.ts';
import { compareCodePoints, cut, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import { frameworkKey, macLevel, macNames, nistBaselines } from '../controls/frameworks.ts';
import type { ControlService } from '../controls/queries.ts';
import type { NamedRelease } from '../stigs/queries.ts';
import { type RuleHead, ruleHeadColumns } from '../stigs/rule-head.ts';
import type { CciService } from './cci.ts';
import type { Coverage, CoverageQuery, CoveredControl } from './reports-schema.ts';

/** The fields of a rule that reports need. */
export interface CoverageRule extends RuleHead {
  ccis: string[];
}

export interface StigWithRules {
  slug: string;
  title: string;
  version: string | null;
  rules: CoverageRule[];
}

interface FrameControl extends Pick<CoveredControl, 'identifier' | 'title' | 'family'> {
  /** The folded names of its baselines. */
  words: string[];
  /** The place of the control that it enhances. */
  base: number | null;
}

/** The active controls of a revision of a framework in catalog order, and which of them a CCI leads to. */
interface ControlFrame {
  /** null where no catalog of the framework is loaded. */
  revision: string | null;
  controls: FrameControl[];
  /** The places of these controls; rules that cite the CCI address them (rule D25). */
  placesOf(cci: string): number[];
}

/** The controls that a question of coverage is about. */
export interface CoverageScope {
  framework: string;
  revision: string | null;
  baseline: string | null;
  frame: ControlFrame;
  isIn(control: FrameControl): boolean;
}

/** How rules are counted. */
interface Counting {
  rollup?: boolean | undefined;
  /** Whether a rule of a STIG counts, by its id with revision; by default all do. */
  counts?: ((slug: string, ruleId: string) => boolean) | undefined;
}

export type CoverageService = ReturnType<typeof createCoverageService>;

/** Which controls the rules of STIGs address (rule D25). */
export function createCoverageService(db: Database, controls: ControlService, ccis: CciService) {
  const frameOf = createControlFrames(db, controls, ccis);
  const rulesOfRelease = db.sqlite.prepare<[number], Omit<CoverageRule, 'ccis'> & { ccis: string }>(
    `SELECT ${ruleHeadColumns}, f.ccis FROM findings AS f WHERE f.release_id = ? ORDER BY f.ordinal`,
  );
  const beginnings = db.sqlite
    .prepare<[string, string | null], [string, string]>(
      `SELECT identifier, substr(statement, 1, 200) FROM controls
        WHERE framework = ? AND version = ? AND status = 'active' AND title = ''`,
    )
    .raw();

  /** The rules of a release in document order; none of a STIG that the catalog no longer has. */
  const rulesOf = ({ release }: NamedRelease): CoverageRule[] =>
    release === null
      ? []
      : rulesOfRelease.all(release.id).map((rule) => ({ ...rule, ccis: JSON.parse(rule.ccis) }));

  /** The framework of a name, of a published one in any case. Throws BAD_REQUEST for an unknown one (rule D3.2). */
  function covered(name: string): string {
    const framework = frameworkKey(name);
    const known = controls.known();
    if (known.includes(framework)) return framework;
    throw badRequest(`framework must be one of: ${known.join(', ')}`.slice(0, 300), 'framework');
  }

  /**
   * The controls that a question is about. Throws BAD_REQUEST for an unknown framework or baseline, NOT_FOUND for an unknown
   * revision.
   */
  function scopeOf(query: Omit<CoverageQuery, 'rollup'>): CoverageScope {
    const framework = covered(query.framework);
    const baseline = baselineOf(controls, framework, query.baseline);
    const frame = frameOf(framework, query.revision);
    const word = baseline === null ? null : fold(baseline);
    const isIn = ({ words }: FrameControl) => word === null || words.includes(word);
    // The coverage of a baseline without controls would be of nothing.
    if (baseline !== null && frame.revision !== null && !frame.controls.some(isIn))
      throw badRequest(`baseline: no control of ${cut(frame.revision)} is in ${cut(baseline)}`, 'baseline');
    return { framework, revision: frame.revision, baseline, frame, isIn };
  }

  const withRules = (stigs: NamedRelease[], counts: Counting['counts'] = () => true): StigWithRules[] =>
    byTitle(stigs).map((stig) => ({
      slug: stig.slug,
      title: stig.title,
      version: stig.release?.version ?? null,
      rules: rulesOf(stig).filter(({ ruleId }) => counts(stig.slug, ruleId)),
    }));

  return {
    rulesOf,

    scopeOf,

    /** The families of the default revision of nist-800-53 in its order, and those that some CCIs lead to, each once. */
    families() {
      const { controls: of, placesOf } = frameOf('nist-800-53', undefined);
      return {
        all: new Set(of.map(({ family }) => family)),
        ofCcis: (cited: string[]) => new Set(cited.flatMap(placesOf).map((place) => of[place]!.family)),
      };
    },

    /** The beginnings of the statements of controls without a title, by identifier. */
    beginnings: ({ framework, revision }: CoverageScope): Map<string, string> =>
      new Map(beginnings.all(framework, revision)),

    /** The rules that address a control, by STIG; null for a control that the revision lacks. */
    rulesOfControl(
      { frame: { controls: of, placesOf } }: CoverageScope,
      stigs: NamedRelease[],
      identifier: string,
      { rollup = false, counts }: Counting,
    ): { title: string; stigs: StigWithRules[] } | null {
      const place = of.findIndex((each) => each.identifier === identifier);
      if (place < 0) return null;
      const isHere = (each: number) => each === place || (rollup && of[each]!.base === place);
      const found = withRules(stigs, counts).map((stig) => ({
        ...stig,
        rules: stig.rules.filter(({ ccis }) => ccis.some((cci) => placesOf(cci).some(isHere))),
      }));
      return { title: of[place]!.title, stigs: found.filter(({ rules }) => rules.length > 0) };
    },

    /** The coverage of STIGs. */
    of(scope: CoverageScope, stigs: NamedRelease[], { rollup = false, counts }: Counting): Coverage {
      const { framework, revision, baseline } = scope;
      const counted = tally(scope, withRules(stigs, counts), rollup);
      const unmapped = counted.unmapped.map((rule) => {
        const deprecated = ccis.deprecated(rule.ccis);
        return deprecated.length === 0 ? rule : { ...rule, deprecated };
      });
      return { framework, revision, baseline, rollup, ...counted, unmapped };
    },
  };
}

/** Gives a function that reads the controls of a revision, or of the default one. It throws NOT_FOUND. */
function createControlFrames(db: Database, controls: ControlService, ccis: CciService) {
  const active = db.sqlite
    .prepare<[string, string | null], [string, string, string, string]>(
      `SELECT identifier, title, family, filter_words FROM controls
        WHERE framework = ? AND version = ? AND status = 'active' ORDER BY ordinal`,
    )
    .raw();
  const cacheOf = perCatalogVersion(db, () => new Map<string, ControlFrame>());

  function controlsOf(framework: string, revision: string | null, identifiers: Iterable<string>) {
    if (framework === 'cci') return (cci: string) => [cci];
    if (framework === 'nist-800-53') return ccis.controlsIn(revision);
    const byCci = new Map<string, string[]>();
    for (const identifier of identifiers)
      for (const cci of ccis.pathsToCcis({ framework, identifier }).paths.keys())
        byCci.set(cci, [...(byCci.get(cci) ?? []), identifier]);
    return (cci: string) => byCci.get(cci) ?? [];
  }

  return (framework: string, wanted: string | undefined): ControlFrame => {
    const revision = controls.versionOf(framework, wanted, 'revision');
    const key = `${framework} ${revision}`;
    const cache = cacheOf();
    const cached = cache.get(key);
    if (cached) return cached;
    const rows = active.all(framework, revision);
    const places = new Map(rows.map(([identifier], place) => [identifier, place]));
    const of = controlsOf(framework, revision, places.keys());
    const found = new Map<string, number[]>();
    const frame: ControlFrame = {
      revision,
      controls: rows.map(([identifier, title, family, words]) => {
        const base = framework === 'nist-800-53' ? identifier.replace(/\(\d+\)$/, '') : identifier;
        const place = base === identifier ? null : (places.get(base) ?? null);
        return { identifier, title, family, words: JSON.parse(words) as string[], base: place };
      }),
      placesOf(cci) {
        const known = found.get(cci) ?? of(cci).flatMap((identifier) => places.get(identifier) ?? []);
        found.set(cci, known);
        return known;
      },
    };
    cache.set(key, frame);
    return frame;
  };
}

/** The name of a baseline of a framework in any spelling, null for none. Throws a 400 for an unknown one. */
function baselineOf(
  { namedBaselines }: ControlService,
  framework: string,
  wanted: string | undefined,
): string | null {
  if (wanted === undefined) return null;
  const level = framework === 'dod-8500' ? macLevel(wanted) : undefined;
  if (level !== undefined) return level;
  const published = { 'nist-800-53': nistBaselines, 'dod-8500': macNames }[framework] ?? [];
  const known = [...new Set([...published, ...namedBaselines(framework)])];
  const name = known.find((each) => fold(each) === fold(wanted.trim()));
  if (name !== undefined) return name;
  throw badRequest(
    known.length === 0
      ? `baseline must be left out: there is none of ${framework}`
      : `baseline must be one of: ${known.join(', ')}`.slice(0, 300),
    'baseline',
  );
}

/** Each STIG once, by title and slug (rule D3.4). */
function byTitle(stigs: NamedRelease[]): NamedRelease[] {
  const each = [...new Map(stigs.map((stig) => [stig.slug, stig])).values()];
  return each.sort(
    (a, b) =>
      compareCodePoints(fold(a.title), fold(b.title)) ||
      compareCodePoints(a.title, b.title) ||
      compareCodePoints(a.slug, b.slug),
  );
}

type ControlCount = Pick<CoveredControl, 'rules' | 'stigs'>;

function tally(
  { frame: { controls, placesOf }, isIn }: CoverageScope,
  stigs: StigWithRules[],
  rollup: boolean,
): Omit<Coverage, 'framework' | 'revision' | 'baseline' | 'rollup'> {
  const newCount = (): ControlCount => ({ rules: { total: 0, high: 0, medium: 0, low: 0 }, stigs: [] });
  const direct = controls.map(newCount);
  const rolled = rollup ? controls.map(newCount) : direct;
  const add = ({ rules, stigs }: ControlCount, { severity }: CoverageRule, slug: string) => {
    rules.total++;
    rules[severity]++;
    if (stigs.at(-1) !== slug) stigs.push(slug);
  };
  const unmapped: Coverage['unmapped'] = [];
  const counted = stigs.map(({ slug, title, version, rules }) => {
    let mappedRules = 0;
    for (const rule of rules) {
      const places = new Set(rule.ccis.flatMap(placesOf));
      for (const place of places) add(direct[place]!, rule, slug);
      if (places.size > 0) mappedRules++;
      else {
        const { groupId, ruleId, ruleTitle, ccis } = rule;
        unmapped.push({ slug, groupId, ruleId, title: ruleTitle, ccis });
      }
      if (!rollup) continue;
      const bases = [...places].flatMap((place) => controls[place]!.base ?? []);
      for (const place of new Set([...places, ...bases])) add(rolled[place]!, rule, slug);
    }
    return { slug, title, version, rules: rules.length, mappedRules };
  });

  const shown: CoveredControl[] = [];
  const outside: Coverage['outside'] = [];
  for (const [place, control] of controls.entries()) {
    const { identifier, title, family } = control;
    const { rules, stigs } = rolled[place]!;
    const ownRules = direct[place]!.rules.total;
    if (isIn(control)) shown.push({ identifier, title, family, covered: rules.total > 0, rules, stigs });
    else if (ownRules > 0) outside.push({ identifier, title, rules: ownRules });
  }
  const covered = (some: CoveredControl[]) => some.filter((control) => control.covered).length;
  const rules = counted.reduce((sum, stig) => sum + stig.rules, 0);
  return {
    stigs: counted,
    totals: {
      controls: shown.length,
      covered: covered(shown),
      uncovered: shown.length - covered(shown),
      rules,
      mappedRules: rules - unmapped.length,
      unmappedRules: unmapped.length,
    },
    families: [...Map.groupBy(shown, ({ family }) => family)].map(([family, of]) => {
      return { family, controls: of.length, covered: covered(of) };
    }),
    controls: shown,
    outside,
    unmapped,
  };
}
