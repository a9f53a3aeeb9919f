// Coverage (rule D25) computed from the publishers' files by itself, with none of the service's code.
import { readFileSync } from 'node:fs';
import { baselineNames, read8500, read80053, read800171, readBaseline } from './control-oracle.ts';
import { bruteForce, newestCcis, readCcis, readEdges, toGraph } from './crosswalk-oracle.ts';
import { readPins } from './crosswalk-pin-oracle.ts';
import { reference } from './reference.ts';
import type { ReadRule } from './xccdf-reader.ts';

/** A revision of a framework with its active controls in catalog order, and the controls that a CCI leads to. */
export interface OracleFrame {
  framework: string;
  /** As the service names it; `asked` is what a request says, empty for the default. */
  revision: string;
  asked: string;
  controls: { identifier: string; title: string; family: string }[];
  baselines: Map<string, Set<string>>;
  controlsOf(cci: string): string[];
}

export interface OracleStig {
  slug: string;
  title: string;
  version: string | null;
  rules: ReadRule[];
}

const both = new Set(['auto', 'verified']);

/** The revisions that the reference files hold of every framework. */
export function readFrames(): OracleFrame[] {
  const graph = toGraph(readEdges());
  const pins = readPins(graph);
  const bare = (name: string) => name.slice(name.indexOf(':') + 1);
  const ends = (source: string, target: string, maxHops: number) =>
    bruteForce(graph, source, target, maxHops, both, (name) => name).map(
      (path) => path.controls.at(-1)!.identifier,
    );
  const nearest = (source: string): string[] => {
    for (const hops of [1, 2, 3, 4]) {
      const found = ends(source, 'cci', hops);
      if (found.length > 0) return found;
    }
    return [];
  };
  /** Turns round what gives the CCIs of a control. */
  const turned = (controls: { identifier: string }[], ccisOf: (identifier: string) => string[]) => {
    const found = new Map<string, string[]>();
    for (const { identifier } of controls)
      for (const cci of new Set(ccisOf(identifier))) found.set(cci, [...(found.get(cci) ?? []), identifier]);
    return (cci: string) => found.get(cci) ?? [];
  };
  const remembered = (look: (cci: string) => string[]) => {
    const known = new Map<string, string[]>();
    return (cci: string) => {
      if (!known.has(cci)) known.set(cci, look(cci));
      return known.get(cci)!;
    };
  };
  const active80053 = (revision: 4 | 5) => read80053(revision).filter((each) => !each.withdrawn);
  const of80053 = (revision: 4 | 5) =>
    new Map(baselineNames(revision).map((name) => [name, readBaseline(revision, name)]));
  const rev4 = active80053(4);
  const [r2, r3] = [2, 3].map((each) => read800171(each as 2 | 3).filter((one) => !one.withdrawn));
  const ia = read8500().map((each) => ({ ...each, family: each.subjectArea }));
  const ccis = readCciItems();
  const of171 = (controls: typeof r2) => turned(controls!, (each) => nearest(`nist-800-171:${each}`));
  const frame = (
    [framework, revision, asked]: [string, string, string],
    controls: OracleFrame['controls'],
    controlsOf: OracleFrame['controlsOf'],
    baselines: OracleFrame['baselines'] = new Map(),
  ): OracleFrame => ({ framework, revision, asked, controls, baselines, controlsOf });
  const first = (control: string) =>
    pins
      .firstEdges(`nist-800-53:${control}`, '4')
      .filter(({ name, status }) => name.startsWith('cci:') && both.has(status))
      .map(({ name }) => bare(name));
  const ofLevel = (level: string) =>
    ia.flatMap((each) => (each.macLevels.includes(level) ? [each.identifier] : []));
  const levels = ['MAC I', 'MAC II', 'MAC III'].map((level) => [level, new Set(ofLevel(level))] as const);
  const toRev5 = remembered((cci) => [...new Set(ends(`cci:${cci}`, 'nist-800-53', 4))]);
  return [
    frame(['nist-800-53', 'Rev 5.1.1', ''], active80053(5), toRev5, of80053(5)),
    frame(['nist-800-53', 'Rev 4', '4'], rev4, turned(rev4, first), of80053(4)),
    // Its publication has no titles.
    frame(
      ['nist-800-171', 'Rev 2', ''],
      r2!.map((each) => ({ ...each, title: '' })),
      of171(r2),
    ),
    frame(['nist-800-171', 'Rev 3', 'rev 3'], r3!, of171(r3)),
    frame(
      ['dod-8500', 'DoDI 8500.2 (2003)', ''],
      ia,
      turned(ia, (each) => nearest(`dod-8500:${each}`)),
      new Map(levels),
    ),
    frame(
      ['cci', newestCcis.version, ''],
      ccis,
      turned(ccis, (each) => [each]),
    ),
  ];
}

/** The items of the newest CCI list that are not deprecated; they have types where controls have families. */
function readCciItems() {
  const text = readFileSync(reference(newestCcis.folder, 'U_CCI_List.xml'), 'utf8');
  return [...text.matchAll(/<cci_item id="([^"]+)">([\s\S]*?)<\/cci_item>/g)]
    .filter(([, , body]) => !/<status>\s*deprecated/.test(body!))
    .map(([, identifier, body]) => {
      const types = [...body!.matchAll(/<type>([^<]*)</g)].map((match) => match[1]!.trim());
      return { identifier: identifier!, title: '', family: types.join(', ') };
    })
    .sort((a, b) => (a.identifier < b.identifier ? -1 : 1));
}

let oldCcis: Set<string> | undefined;
function deprecatedCcis(): Set<string> {
  oldCcis ??= new Set(readCcis().flatMap(({ id, deprecated }) => (deprecated ? [id] : [])));
  return oldCcis;
}

/** The coverage of some STIGs, by brute force; STIGs come in the order in which they are given. */
export function expectedCoverage(
  frame: OracleFrame,
  stigs: OracleStig[],
  { baseline, rollup }: { baseline: string | null; rollup: boolean },
) {
  const active = new Set(frame.controls.map((each) => each.identifier));
  const rules = stigs.flatMap(({ slug, rules }) =>
    rules.map((rule) => {
      const all = new Set(rule.ccis.flatMap(frame.controlsOf));
      return { slug, rule, addresses: [...all].filter((each) => active.has(each)) };
    }),
  );
  const by = new Map<string, typeof rules>();
  for (const each of rules)
    for (const control of each.addresses) by.set(control, [...(by.get(control) ?? []), each]);
  const direct = (identifier: string) => by.get(identifier) ?? [];
  const counted = (identifier: string) => {
    if (!rollup || frame.framework !== 'nist-800-53' || identifier.includes('(')) return direct(identifier);
    const own = [...by.keys()].filter((each) => each === identifier || each.startsWith(`${identifier}(`));
    const found = new Set(own.flatMap(direct));
    return rules.filter((each) => found.has(each));
  };
  const members = baseline === null ? active : frame.baselines.get(baseline)!;
  const controls = frame.controls
    .filter(({ identifier }) => members.has(identifier))
    .map(({ identifier, title, family }) => {
      const found = counted(identifier);
      const of = (level: string) => found.filter(({ rule }) => rule.severity === level).length;
      return {
        ...{ identifier, title, family, covered: found.length > 0 },
        rules: { total: found.length, high: of('high'), medium: of('medium'), low: of('low') },
        stigs: stigs.map(({ slug }) => slug).filter((slug) => found.some((each) => each.slug === slug)),
      };
    });
  const unmapped = rules.filter(({ addresses }) => addresses.length === 0);
  const isCovered = (control: { covered: boolean }) => control.covered;
  return {
    ...{ framework: frame.framework, revision: frame.revision, baseline, rollup },
    stigs: stigs.map(({ slug, title, version, rules: own }) => {
      const mapped = rules.filter((each) => each.slug === slug && each.addresses.length > 0);
      return { slug, title, version, rules: own.length, mappedRules: mapped.length };
    }),
    totals: {
      controls: controls.length,
      covered: controls.filter(isCovered).length,
      uncovered: controls.filter((each) => !each.covered).length,
      rules: rules.length,
      mappedRules: rules.length - unmapped.length,
      unmappedRules: unmapped.length,
    },
    families: [...new Set(controls.map(({ family }) => family))].map((family) => {
      const own = controls.filter((each) => each.family === family);
      return { family, controls: own.length, covered: own.filter(isCovered).length };
    }),
    controls,
    outside: frame.controls
      .filter(({ identifier }) => !members.has(identifier) && direct(identifier).length > 0)
      .map(({ identifier, title }) => ({ identifier, title, rules: direct(identifier).length })),
    unmapped: unmapped.map(({ slug, rule }) => {
      const deprecated = rule.ccis.filter((each) => deprecatedCcis().has(each));
      const { groupId, ruleId, title, ccis } = rule;
      return { slug, groupId, ruleId, title, ccis, ...(deprecated.length > 0 ? { deprecated } : {}) };
    }),
  };
}
