import { badRequest } from '../../base/errors.ts';
import { inSlices } from '../../base/slices.ts';
import { compareCodePoints, cut, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { inOneGeneration } from '../../db/one-generation.ts';
import { type Column, joined } from '../../http/columns.ts';
import type { FlatFile } from '../../http/downloads.ts';
import { frameworkKey } from '../controls/frameworks.ts';
import type { ControlService } from '../controls/queries.ts';
import type { NamedRelease } from '../stigs/queries.ts';
import { type CoverageControls, coverageBaseline, createCoverageControls } from './coverage-controls.ts';
import { type CoverageRule, createReleaseRules } from './coverage-rules.ts';
import type { Coverage, CoverageQuery, CoveredControl } from './coverage-schema.ts';
import type { DeprecatedCcis } from './deprecated-ccis.ts';
import type { CrosswalkService } from './queries.ts';

/** Gives the families of nist-800-53 that some CCIs lead to, each once; `all` are those of the catalog, in its order. */
export type FamiliesOf = ((ccis: string[]) => string[]) & { all: string[] };

/** Whether a rule of a STIG counts, by its id with revision. */
type Counts = (slug: string, ruleId: string) => boolean;
const all: Counts = () => true;

export type CoverageService = ReturnType<typeof createCoverageService>;

/** Which controls the rules of STIGs address (rule D25). */
export function createCoverageService(
  db: Database,
  controls: ControlService,
  crosswalk: CrosswalkService,
  deprecated: DeprecatedCcis,
) {
  const frames = createCoverageControls(db, controls, crosswalk);
  const rulesOf = createReleaseRules(db);

  /** The framework of a name, of a published one in any case. Throws BAD_REQUEST for an unknown one (rule D3.2). */
  function covered(name: string): string {
    const framework = frameworkKey(name);
    const known = controls.known();
    if (known.includes(framework)) return framework;
    throw badRequest(`framework must be one of: ${known.join(', ')}`.slice(0, 300), 'framework');
  }

  const withRules = (found: NamedRelease[], counts: Counts, of = rulesOf): StigWithRules[] =>
    inOrder(found).map(({ slug, title, release }) => {
      const rules = release === null ? [] : of(release.id);
      const counted = counts === all ? rules : rules.filter(({ ruleId }) => counts(slug, ruleId));
      return { slug, title, version: release?.version ?? null, rules: counted };
    });

  return {
    rulesOf,

    /**
     * The controls that a question of coverage is about, in catalog order. Throws BAD_REQUEST for an unknown framework or
     * baseline, NOT_FOUND for an unknown revision.
     */
    scopeOf(query: Pick<CoverageQuery, 'framework' | 'revision' | 'baseline'>) {
      const framework = covered(query.framework);
      const baseline = coverageBaseline(controls, framework, query.baseline);
      const frame = frames.of(framework, query.revision);
      if (baseline !== null) requireBaseline(frame, baseline);
      const inScope = frame.controls.filter(isIn(baseline));
      return { framework, revision: frame.revision, baseline, controls: inScope };
    },

    /** By the default revision; it is read once for each generation. */
    familiesOf(): FamiliesOf {
      const { controls: of, controlsOf } = frames.of('nist-800-53', undefined);
      const families = (ccis: string[]) => [
        ...new Set(ccis.flatMap((cci) => controlsOf(cci).map((place) => of[place]!.family))),
      ];
      return Object.assign(families, { all: [...new Set(of.map(({ family }) => family))] });
    },

    /** The beginnings of the statements of controls without a title, by identifier. */
    beginnings: ({ framework, revision }: Coverage): Map<string, string> =>
      revision === null ? new Map() : frames.beginnings(framework, revision),

    /** The rules that address a control, by STIG; null for a control that the revision lacks. Throws what `of` throws. */
    rulesOfControl(
      find: () => NamedRelease[],
      query: CoverageQuery,
      identifier: string,
      counts: Counts = all,
    ): { title: string; stigs: StigWithRules[] } | null {
      return db.read(() => {
        const { controls: of, controlsOf } = frames.of(covered(query.framework), query.revision);
        const place = of.findIndex((each) => each.identifier === identifier);
        if (place < 0) return null;
        const isHere = (each: number) =>
          each === place || (query.rollup === true && of[each]!.base === place);
        const stigs = withRules(find(), counts).map((stig) => ({
          ...stig,
          rules: stig.rules.filter(({ ccis }) => ccis.some((cci) => controlsOf(cci).some(isHere))),
        }));
        return { title: of[place]!.title, stigs: stigs.filter(({ rules }) => rules.length > 0) };
      });
    },

    /**
     * The coverage of the STIGs that `find` gives, by the rules that count. Throws BAD_REQUEST for an unknown framework
     * or baseline, NOT_FOUND for an unknown revision, and what `find` throws.
     */
    of(find: () => NamedRelease[], query: CoverageQuery, counts: Counts = all): Promise<Coverage> {
      return inOneGeneration(db, async () => {
        const { rollup = false } = query;
        const framework = db.read(() => covered(query.framework));
        const baseline = coverageBaseline(controls, framework, query.baseline);
        if (baseline !== null) db.read(() => requireBaseline(frames.of(framework, query.revision), baseline));
        // Read the rules in slices first, so that other requests are served in between. They may be more than are cached.
        const rules = new Map<number, CoverageRule[]>();
        await inSlices(db.read(find), ({ release }) => {
          if (release !== null)
            rules.set(
              release.id,
              db.read(() => rulesOf(release.id)),
            );
        });
        return db.read(() => {
          const frame = frames.of(framework, query.revision);
          const stigs = withRules(find(), counts, (release) => rules.get(release) ?? rulesOf(release));
          const { revision } = frame;
          const counted = tally(frame, stigs, baseline, rollup);
          const unmapped = counted.unmapped.map((rule) => {
            const old = deprecated(rule.ccis);
            return old.length === 0 ? rule : { ...rule, deprecated: old };
          });
          return { framework, revision, baseline, rollup, ...counted, unmapped };
        });
      });
    },
  };
}

/** Throws a 400 for a baseline that no control of a revision is in: its coverage would be of nothing (rule D25). */
function requireBaseline({ revision, controls }: CoverageControls, baseline: string): void {
  const word = fold(baseline);
  if (revision === null || controls.some(({ words }) => words.includes(word))) return;
  throw badRequest(`baseline: no control of ${cut(revision)} is in ${cut(baseline)}`, 'baseline');
}

/** Each STIG once, by title and slug (rule D3.4). */
function inOrder(stigs: NamedRelease[]): NamedRelease[] {
  const each = [...new Map(stigs.map((stig) => [stig.slug, stig])).values()];
  return each.sort(
    (a, b) =>
      compareCodePoints(fold(a.title), fold(b.title)) ||
      compareCodePoints(a.title, b.title) ||
      compareCodePoints(a.slug, b.slug),
  );
}

export interface StigWithRules {
  slug: string;
  title: string;
  version: string | null;
  rules: CoverageRule[];
}

type Count = Pick<CoveredControl, 'rules' | 'stigs'>;

function tally(
  { controls, controlsOf }: CoverageControls,
  stigs: StigWithRules[],
  baseline: string | null,
  rollup: boolean,
): Omit<Coverage, 'framework' | 'revision' | 'baseline' | 'rollup'> {
  const newCount = (): Count => ({ rules: { total: 0, high: 0, medium: 0, low: 0 }, stigs: [] });
  const direct = controls.map(newCount);
  const rolled = rollup ? controls.map(newCount) : direct;
  const add = (count: Count, { severity }: CoverageRule, slug: string) => {
    count.rules.total++;
    count.rules[severity]++;
    if (count.stigs.at(-1) !== slug) count.stigs.push(slug);
  };
  const unmapped: Coverage['unmapped'] = [];
  const counted = stigs.map(({ slug, title, version, rules }) => {
    let mappedRules = 0;
    for (const rule of rules) {
      const places = new Set(rule.ccis.flatMap(controlsOf));
      for (const place of places) add(direct[place]!, rule, slug);
      if (places.size > 0) mappedRules++;
      else {
        const { groupId, ruleId, ccis } = rule;
        unmapped.push({ slug, groupId, ruleId, title: rule.title, ccis });
      }
      if (!rollup) continue;
      const bases = [...places].flatMap((place) => controls[place]!.base ?? []);
      for (const place of new Set([...places, ...bases])) add(rolled[place]!, rule, slug);
    }
    return { slug, title, version, rules: rules.length, mappedRules };
  });

  const isShown = isIn(baseline);
  const shown: CoveredControl[] = [];
  const outside: Coverage['outside'] = [];
  for (const [place, control] of controls.entries()) {
    const { identifier, title, family } = control;
    const { rules, stigs } = rolled[place]!;
    if (isShown(control)) shown.push({ identifier, title, family, covered: rules.total > 0, rules, stigs });
    else if (direct[place]!.rules.total > 0)
      outside.push({ identifier, title, rules: direct[place]!.rules.total });
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

/** Whether a control is in a baseline; always, where none is asked for. */
function isIn(baseline: string | null) {
  const word = baseline === null ? null : fold(baseline);
  return ({ words }: { words: string[] }) => word === null || words.includes(word);
}

/** A row of a file; a control outside the baseline has only its number of rules. */
interface CoverageRow {
  section: 'control' | 'outside';
  control: Partial<CoveredControl> & { identifier: string; title: string };
  total: number;
}

const columns: Column<CoverageRow>[] = [
  { name: 'section', value: ({ section }) => section },
  { name: 'identifier', value: ({ control }) => control.identifier },
  { name: 'title', value: ({ control }) => control.title },
  { name: 'family', value: ({ control }) => control.family ?? null },
  { name: 'covered', value: ({ control }) => control.covered ?? null },
  { name: 'total', value: ({ total }) => total },
  ...(['high', 'medium', 'low'] as const).map((level): Column<CoverageRow> => {
    return { name: level, value: ({ control }) => control.rules?.[level] ?? null };
  }),
  { name: 'stigs', value: ({ control }) => (control.stigs ? joined(control.stigs) : null) },
];

/** Coverage as a file: json, or a row for each control, in the baseline or addressed outside it. */
export function coverageFile(json: Coverage): FlatFile<CoverageRow> {
  const rows: CoverageRow[] = [
    ...json.controls.map((control) => ({ section: 'control' as const, control, total: control.rules.total })),
    ...json.outside.map(({ identifier, title, rules }) => {
      return { section: 'outside' as const, control: { identifier, title }, total: rules };
    }),
  ];
  return { json, root: 'coverage', element: 'control', columns, rows };
}
