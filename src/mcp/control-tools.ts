import { citation } from '../base/citation.ts';
import { AppError } from '../base/errors.ts';
import { frameworkKey } from '../catalog/controls/frameworks.ts';
import { cciQuestion, defaultStatuses } from '../catalog/crosswalk/queries.ts';
import { citeControl, controlIn, isImported, missingControl } from '../catalog/search/control-versions.ts';
import { controlOf, Missing, severitiesOf, stigOf } from '../catalog/search/spelled.ts';
import type { Services } from '../services.ts';
import { type Answer, brief, type Call, ofList, pageAt, pick, withRows, withTexts } from './calls.ts';
import { slugsOfList } from './rule-tools.ts';

type Texts = Record<string, string | undefined>;

export function getControl(services: Services, call: Call): Answer {
  const { id: given = '', framework: named, version: asked } = call.args as Texts;
  const { framework, id, version, part } = controlOf(given, named, asked);
  const control = controlIn(services.controls, framework, id, version);
  if (control === null) throw missingControl(services.controls, framework, id, version);
  const { identifier, statement, guidance, threat = '', resources = '', related, title = '' } = control;
  const cite = citation(framework, control.version, identifier);
  const isBase = framework === 'nist-800-53' && !identifier.includes('(');
  const enhancements = () => services.controls.enhancements(identifier, control.version).slice(1);
  const facts = pick(control, 'family', 'subjectArea', 'status', 'baselines', 'requirementType', 'macLevels');
  const first: Answer = {
    ...{
      found: true,
      cite,
      ...pick(control, 'framework', 'identifier', 'version', 'edition'),
      title: brief(title),
    },
    ...{ ...facts, ...pick(control, 'impactCode', 'withdrawn') },
    ...(part !== '' && { part }),
    ...(related && { related: related.slice(0, 60) }),
    ...(isBase && { enhancements: enhancements().map((each) => each.identifier) }),
    ...(framework === 'cci' && control.status === 'withdrawn' && { state: 'deprecated' }),
    ...(framework === 'cci' && { controls: services.crosswalk.endsOf({ ...cciQuestion, identifier }) }),
  };
  const head = call.at === 0 ? first : { found: true, cite, identifier };
  return withTexts(call, head, { statement, guidance: guidance ?? '', threat, resources });
}

export async function crosswalk({ controls, crosswalk, explainer }: Services, call: Call): Promise<Answer> {
  const { from = '', to = '', framework: named, version } = call.args as Texts;
  const { framework, id } = controlOf(from, named);
  const target = frameworkKey(to);
  const identifier = crosswalk.canonical(framework, id);
  const question = { framework, identifier, to: target, version, statuses: defaultStatuses, maxHops: 4 };
  const { paths, truncated } = await crosswalk.resolveInSlices(question);
  if (paths.length === 0) {
    const { code, message, incorporatedInto } = explainer.whyNot(question);
    const isAbsent = code === 'not-imported' || code === 'unknown-version';
    const reason = code === 'unknown-control' ? 'unknown_id' : isAbsent ? 'not_imported' : 'no_match';
    throw new Missing(reason, message, incorporatedInto && { incorporatedInto });
  }
  const rows = paths.slice(call.at, call.at + 300).map(({ hops, controls: steps }) => {
    const { identifier: end, status } = steps.at(-1)!;
    const path = steps.map((each) => `${each.framework}:${each.identifier}`);
    return { cite: citeControl(controls, target, end), hops, status, path };
  });
  const cite = citeControl(controls, framework, identifier);
  const head = { found: true, from: cite, to: target, total: paths.length };
  return withRows(call, { ...head, ...(truncated && { incomplete: true }) }, 'paths', rows, paths.length);
}

export async function rulesForControl(services: Services, call: Call): Promise<Answer> {
  const { control: given = '', framework: named, stig, list, severity } = call.args as Texts;
  const among = await slugsOfList(services, call, list);
  const { framework, id } = controlOf(given, named);
  const { skip, ...page } = pageAt(call.at, 50);
  const of = stig === undefined ? undefined : [stigOf(services, stig).slug];
  const query = { framework, controlId: id, stig: of, among, severity: severitiesOf(severity), ...page };
  let found: ReturnType<typeof services.controlRules.rules>;
  try {
    found = services.controlRules.rules({ ...query, status: undefined, maxHops: undefined });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
    throw missingControl(services.controls, framework, id, undefined);
  }
  const { control, stigs, counts, pagination } = found;
  const { total } = pagination;
  if (total === 0)
    throw new Missing('no_match', 'No rule of a current release leads to this control with these filters');
  const rows = stigs.flatMap(({ slug, version, rules }) =>
    rules.map((rule) => ({
      cite: citation(slug, version, rule.ruleId),
      ...pick(rule, 'groupId', 'ruleVersion', 'severity', 'hops'),
      ...{ ruleTitle: brief(rule.ruleTitle), ruleIdents: rule.ruleIdents.slice(0, 100) },
    })),
  );
  const cite = citeControl(services.controls, framework, control.identifier);
  return withRows(call, { found: true, control: cite, total, counts }, 'rules', rows.slice(skip), total);
}

export async function coverage(services: Services, call: Call): Promise<Answer> {
  const {
    stig,
    list,
    framework = 'nist-800-53',
    revision,
    baseline,
    show = 'uncovered',
  } = call.args as Texts;
  if ((stig === undefined) === (list === undefined))
    throw new AppError('BAD_REQUEST', 'Give either stig or list');
  const user = list === undefined ? null : await call.caller.user();
  const release = stig === undefined ? null : stigOf(services, stig);
  const releases = () =>
    release === null
      ? ofList(() => services.listStigs.releases(user!, list!).stigs)
      : [services.stigs.named(release.slug, release.version)];
  // First: who may not see the list learns nothing of the rest.
  releases();
  const key = frameworkKey(framework);
  if (!isImported(services.controls, key, revision))
    throw missingControl(services.controls, key, '', revision);
  const asked = { framework, revision, baseline, rollup: call.args.rollup === true };
  const found = await services.coverage.of(releases, asked);
  const rowOf = ({ identifier, title, rules }: { identifier: string; title: string; rules: unknown }) => ({
    ...{ cite: citation(key, found.revision ?? '', identifier), title: brief(title) },
    ...(show !== 'uncovered' && { rules }),
  });
  const versions = new Map(found.stigs.map((each) => [each.slug, each.version ?? '']));
  const rowsOf: Record<string, () => object[]> = {
    outside: () => found.outside.map(rowOf),
    unmapped: () =>
      found.unmapped.map(({ slug, groupId, ruleId, title, deprecated }) => ({
        ...{ cite: citation(slug, versions.get(slug)!, ruleId), groupId, title: brief(title) },
        ...(deprecated && { deprecatedCcis: deprecated }),
      })),
    all: () => found.controls.map(rowOf),
    covered: () => found.controls.filter((each) => each.covered).map(rowOf),
    uncovered: () => found.controls.filter((each) => !each.covered).map(rowOf),
  };
  const rows = rowsOf[show]!();
  const head = { found: true, ...pick(found, 'framework', 'revision', 'baseline', 'rollup', 'totals'), show };
  const stigs = found.stigs.slice(0, 20).map(({ slug, version }) => citation(slug, version ?? ''));
  return withRows(call, { ...head, stigs, total: rows.length }, 'rows', rows.slice(call.at), rows.length);
}
