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
interface CoverageRule extends RuleHead {
  ccis: string[];
}

export interface StigWithRules {
  slug: string;
  title: string;
  version: string | null;
  rules: CoverageRule[];
}

interface FrameControl extends Pick<CoveredControl, 'identifier' | 'title' | 'family'> {
  /** JSON of the folded names of its family, and of its baselines. */
  familyNames: string;
  words: string;
  /** The beginning of the statement of a control without a title. */
  beginning: string;
}

/** The active controls of a revision of a framework in catalog order, and those that a CCI leads to (rule D25). */
interface ControlFrame {
  /** null where no catalog of the framework is loaded. */
  revision: string | null;
  controls: Map<string, FrameControl>;
  controlsOf(cci: string): FrameControl[];
}

export type CoverageService = ReturnType<typeof createCoverageService>;

/** Which controls the rules of STIGs address (rule D25). */
export function createCoverageService(db: Database, controls: ControlService, ccis: CciService) {
  const frameOf = createControlFrames(db, controls, ccis);
  const rulesOfRelease = db.sqlite.prepare<[number], Omit<CoverageRule, 'ccis'> & { ccis: string }>(
    `SELECT ${ruleHeadColumns}, f.ccis FROM findings AS f WHERE f.release_id = ? ORDER BY f.ordinal`,
  );

  /** The rules of a release in document order; none of a STIG that the catalog no longer has. */
  const rulesOf = ({ release }: NamedRelease): CoverageRule[] =>
    release === null
      ? []
      : rulesOfRelease.all(release.id).map((rule) => ({ ...rule, ccis: JSON.parse(rule.ccis) }));

  /**
   * The controls that a question is about, and the others of the revision. Throws BAD_REQUEST for an unknown framework (rule
   * D3.2) or baseline, NOT_FOUND for an unknown revision.
   */
  function scopeOf({ rollup = false, ...query }: CoverageQuery) {
    const framework = frameworkKey(query.framework);
    const known = controls.known();
    if (!known.includes(framework))
      throw badRequest(`framework must be one of: ${known.join(', ')}`.slice(0, 300), 'framework');
    const baseline = baselineOf(controls, framework, query.baseline);
    const frame = frameOf(framework, query.revision);
    const { revision } = frame;
    const all = [...frame.controls.values()];
    const isIn = ({ words }: FrameControl) => baseline === null || JSON.parse(words).includes(fold(baseline));
    const inside = all.filter(isIn);
    // The coverage of a baseline without controls would be of nothing.
    if (baseline !== null && revision !== null && inside.length === 0)
      throw badRequest(`baseline: no control of ${cut(revision)} is in ${cut(baseline)}`, 'baseline');
    return {
      framework,
      revision,
      baseline,
      rollup,
      frame,
      inside,
      outside: all.filter((each) => !isIn(each)),
    };
  }

  type CoverageScope = ReturnType<typeof scopeOf>;

  return {
    rulesOf,

    scopeOf,

    /**
     * The coverage of STIGs by the rules that count (by default all), with what its page shows. The rules of a control are
     * null where the revision lacks it.
     */
    of(scope: CoverageScope, stigs: NamedRelease[], counts = (_slug: string, _ruleId: string) => true) {
      const { framework, revision, baseline, rollup, frame, inside, outside } = scope;
      const withBase = (control: FrameControl) => {
        const base = frame.controls.get(control.identifier.replace(/\(\d+\)$/, ''));
        return framework === 'nist-800-53' && base ? [control, base] : [control];
      };
      const counted = byTitle(stigs).map((named) => {
        const { slug, title, release } = named;
        const stig = { slug, title, version: release?.version ?? null };
        const rules = rulesOf(named)
          .filter(({ ruleId }) => counts(slug, ruleId))
          .map((rule) => ({ stig, rule, addressed: new Set(rule.ccis.flatMap(frame.controlsOf)) }));
        return { stig, rules };
      });
      const all = counted.flatMap(({ rules }) => rules);
      const pairs = all.flatMap((each) => {
        const addressed = [...each.addressed];
        const ofControls = new Set(rollup ? addressed.flatMap(withBase) : addressed);
        return [...ofControls].map((control) => ({ control, each }));
      });
      const byControl = Map.groupBy(pairs, ({ control }) => control);
      const rulesFor = (control: FrameControl) => (byControl.get(control) ?? []).map(({ each }) => each);

      const covered = inside.map((control): CoveredControl => {
        const { identifier, title, family } = control;
        const rules = rulesFor(control);
        const count = (severity: string) => rules.filter(({ rule }) => rule.severity === severity).length;
        return {
          identifier,
          title,
          family,
          covered: rules.length > 0,
          rules: { total: rules.length, high: count('high'), medium: count('medium'), low: count('low') },
          stigs: [...new Set(rules.map(({ stig }) => stig.slug))],
        };
      });
      const sizeOf = (some: CoveredControl[]) => ({
        controls: some.length,
        covered: some.filter((control) => control.covered).length,
      });
      const totals = sizeOf(covered);
      const unmapped = all.filter(({ addressed }) => addressed.size === 0);
      const coverage: Coverage = {
        framework,
        revision,
        baseline,
        rollup,
        stigs: counted.map(({ stig, rules }) => {
          const mappedRules = rules.filter(({ addressed }) => addressed.size > 0).length;
          return { ...stig, rules: rules.length, mappedRules };
        }),
        totals: {
          ...totals,
          uncovered: totals.controls - totals.covered,
          rules: all.length,
          mappedRules: all.length - unmapped.length,
          unmappedRules: unmapped.length,
        },
        families: [...Map.groupBy(covered, ({ family }) => family)].map(([family, some]) => {
          return { family, ...sizeOf(some) };
        }),
        controls: covered,
        outside: outside.flatMap((control) => {
          const { identifier, title } = control;
          const rules = rulesFor(control).filter(({ addressed }) => addressed.has(control)).length;
          return rules === 0 ? [] : [{ identifier, title, rules }];
        }),
        unmapped: unmapped.map(({ stig: { slug }, rule: { groupId, ruleId, ruleTitle, ccis: cited } }) => {
          const deprecated = ccis.deprecated(cited);
          const rule = { slug, groupId, ruleId, title: ruleTitle, ccis: cited };
          return deprecated.length === 0 ? rule : { ...rule, deprecated };
        }),
      };
      return {
        coverage,
        beginnings: new Map([...inside, ...outside].map((each) => [each.identifier, each.beginning])),
        rulesOfControl(identifier: string) {
          const control = frame.controls.get(identifier);
          if (control === undefined) return null;
          const byStig = Map.groupBy(rulesFor(control), ({ stig }) => stig);
          const withRules = [...byStig].map(([stig, rules]): StigWithRules => {
            return { ...stig, rules: rules.map(({ rule }) => rule) };
          });
          return { identifier, title: control.title, stigs: withRules };
        },
      };
    },
  };
}

/** Gives a function that reads the controls of a revision, or of the default one. It throws NOT_FOUND. */
function createControlFrames(db: Database, controls: ControlService, ccis: CciService) {
  const active = db.sqlite.prepare<[string, string | null], FrameControl>(
    `SELECT identifier, title, family, family_names AS familyNames, filter_words AS words,
            iif(title = '', substr(statement, 1, 200), '') AS beginning
       FROM controls WHERE framework = ? AND version = ? AND status = 'active' ORDER BY ordinal`,
  );
  const cacheOf = perCatalogVersion(db, () => new Map<string, ControlFrame>());

  return (framework: string, requested: string | undefined): ControlFrame => {
    const revision = controls.versionOf(framework, requested, 'revision');
    const key = `${framework} ${revision}`;
    const cache = cacheOf();
    const cached = cache.get(key);
    if (cached) return cached;
    const rows = active.all(framework, revision);
    const byIdentifier = new Map(rows.map((control) => [control.identifier, control]));
    const identifiersOf = ccis.controlsIn(framework, revision, byIdentifier.keys());
    const found = new Map<string, FrameControl[]>();
    const frame: ControlFrame = {
      revision,
      controls: byIdentifier,
      controlsOf(cci) {
        const known =
          found.get(cci) ?? identifiersOf(cci).flatMap((identifier) => byIdentifier.get(identifier) ?? []);
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
  requested: string | undefined,
): string | null {
  if (requested === undefined) return null;
  const level = framework === 'dod-8500' ? macLevel(requested) : undefined;
  if (level !== undefined) return level;
  const published = { 'nist-800-53': nistBaselines, 'dod-8500': macNames }[framework] ?? [];
  const known = [...new Set([...published, ...namedBaselines(framework)])];
  const name = known.find((each) => fold(each) === fold(requested.trim()));
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
