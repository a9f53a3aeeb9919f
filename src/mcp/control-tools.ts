import { citation } from '../base/citation.ts';
import { badRequest } from '../base/errors.ts';
import { pick } from '../base/objects.ts';
import { brief } from '../base/text.ts';
import { assessmentLines } from '../catalog/controls/assessment.ts';
import { cciQuestion, defaultStatuses } from '../catalog/crosswalk/queries.ts';
import { automationOf } from '../catalog/crosswalk/reports.ts';
import { citeControl, missingControl } from '../catalog/search/control-versions.ts';
import {
  controlOf,
  frameworkOf,
  Missing,
  revisionOf,
  severitiesOf,
  stigOf,
} from '../catalog/search/spelled.ts';
import { pageAt } from '../http/paging.ts';
import type { Services } from '../services.ts';
import {
  type Answer,
  automationMeans,
  type Call,
  mostListed,
  ofList,
  orMissing,
  ruleRow,
  statesIn,
  withoutEmpty,
  withRows,
  withTexts,
} from './calls.ts';
import { inList } from './list-tools.ts';

/** The control or CCI that is meant: also one of an imported framework by its identifier alone. Throws `Missing`. */
function namedControl(services: Services, given: string, framework?: string, version?: string) {
  const own = framework === undefined ? services.cciLookup.ownControl(given) : null;
  if (own === null || isPublished(services, given, version)) return controlOf(given, framework, version);
  return { framework: own.framework, id: own.id, version: revisionOf(version), part: '' };
}

function isPublished({ controls }: Services, given: string, version: string | undefined): boolean {
  try {
    const { framework, id } = controlOf(given, undefined, version);
    return controls.find(framework, id) !== null;
  } catch (error) {
    if (error instanceof Missing) return false;
    throw error;
  }
}

export function getControl(services: Services, call: Call): Answer {
  const { controls, crosswalk } = services;
  const { id: given = '', framework: named, version: asked } = call.args;
  const { framework, id, version, part } = namedControl(services, given, named, asked);
  const control = controls.find(framework, id, version);
  if (control === null) throw missingControl(controls, framework, id, version);
  const { identifier, statement, guidance, threat = '', resources = '', related, title = '' } = control;
  const cite = citation(framework, control.version, identifier);
  const isBase = framework === 'nist-800-53' && !identifier.includes('(');
  const enhancements = isBase ? controls.enhancements(identifier, control.version).slice(1) : [];
  const isCci = framework === 'cci';
  const facts = {
    ...pick(control, 'framework', 'identifier', 'version', 'edition', 'textFrom'),
    title: brief(title),
    ...pick(control, 'family', 'subjectArea', 'status', 'baselines', 'requirementType'),
    ...pick(control, 'macLevels', 'confidentialityLevels', 'impactCode', 'withdrawn'),
    ...withoutEmpty({
      part: part || undefined,
      related: related?.slice(0, mostListed),
      enhancements: enhancements.map((each) => each.identifier).slice(0, mostListed),
      state: isCci && control.status === 'withdrawn' ? 'deprecated' : undefined,
      controls: isCci ? crosswalk.endsOf({ ...cciQuestion, identifier }) : undefined,
      // Gapstone joins objectives with CCIs; no publisher does.
      derived: control.objectives.some(({ ccis }) => ccis.length > 0) || undefined,
    }),
  };
  const head = { found: true, cite, ...(call.at === 0 ? facts : { identifier }) };
  return withTexts(call, head, { statement, guidance, threat, resources, ...assessmentLines(control) });
}

/** From the weakest status of an edge on: that of a path is the weakest of its edges (rule D54.4). */
const weakestFirst = ['rejected', 'auto', 'verified'] as const;

export function crosswalk(services: Services, call: Call): Answer {
  const { controls, crosswalk, explainer } = services;
  const { from = '', to = '', framework: named } = call.args;
  const { framework, id, version } = namedControl(services, from, named, call.args.version);
  const target = frameworkOf(to);
  const identifier = crosswalk.canonical(framework, id);
  const question = { framework, identifier, to: target, version, statuses: defaultStatuses, maxHops: 4 };
  const { paths, truncated } = crosswalk.resolve(question);
  if (paths.length === 0) {
    const { code, message, incorporatedInto } = explainer.whyNot(question);
    const isAbsent = code === 'not-imported' || code === 'unknown-version';
    const reason = code === 'unknown-control' ? 'unknown_id' : isAbsent ? 'not_imported' : 'no_match';
    throw new Missing(reason, message, withoutEmpty({ incorporatedInto }));
  }
  const rows = paths.slice(call.at, call.at + 300).map(({ hops, controls: steps }) => {
    const end = steps.at(-1)!.identifier;
    const [, ...edges] = steps;
    const status = weakestFirst.find((each) => edges.some((edge) => edge.status === each));
    const path = steps.map((each) => `${each.framework}:${each.identifier}`);
    return { cite: citeControl(controls, target, end), hops, status, path };
  });
  const head = {
    found: true,
    from: citeControl(controls, framework, identifier),
    to: target,
    total: paths.length,
    ...(truncated && { incomplete: true }),
  };
  return withRows(call, head, 'paths', rows, paths.length);
}

export function rulesForControl(services: Services, call: Call): Answer {
  const { control: given = '', framework: named, stig, severity } = call.args;
  const { among, pinned } = inList(services, call);
  const { framework, id } = namedControl(services, given, named);
  const { skip, ...page } = pageAt(call.at, 50);
  const of = stig === undefined ? undefined : [stigOf(services, stig).slug];
  const query = { framework, controlId: id, stig: of, among, severity: severitiesOf(severity), ...page };
  const found = orMissing(
    () => services.controlRules.rules({ ...query, status: undefined, maxHops: undefined }),
    () => missingControl(services.controls, framework, id, undefined),
  );
  const { total } = found.pagination;
  if (total === 0)
    throw new Missing('no_match', 'No rule of a current release leads to this control with these filters');
  const rows = found.stigs.flatMap(({ slug, version, rules }) =>
    rules.map((rule) => ({
      ...ruleRow(slug, version, rule),
      ...pick(rule, 'hops', 'automation'),
      ruleIdents: rule.ruleIdents.slice(0, mostListed),
    })),
  );
  const cite = citeControl(services.controls, framework, found.control.identifier);
  const head = {
    found: true,
    control: cite,
    total,
    counts: found.counts,
    ...withoutEmpty({ pinned }),
    ...automationMeans(rows.map(({ automation }) => automation)),
  };
  return withRows(call, head, 'rules', rows.slice(skip), total);
}

export function coverage(services: Services, call: Call): Answer {
  const { stig, list, framework = 'nist-800-53', baseline, show = 'uncovered' } = call.args;
  const revision = revisionOf(call.args.revision);
  if ((stig === undefined) === (list === undefined)) throw badRequest('Give either stig or list');
  const release = stig === undefined ? null : stigOf(services, stig);
  // First: who may not see the list learns nothing of the rest.
  const releases =
    release === null
      ? ofList(() => services.listStigs.releases(call.user!, list!).stigs)
      : [services.stigs.named(release.slug, release.version)];
  const key = frameworkOf(framework);
  if (services.controls.findVersion(key, revision) === null)
    throw missingControl(services.controls, key, '', revision);
  const rollup = (call.args.rollup as unknown) === true;
  const query = { framework: key, revision, baseline, rollup };
  const { coverage: found } = services.coverage.of(services.coverage.scopeOf(query), releases);
  const { controls, outside, unmapped, stigs } = found;
  const rowOf = ({ identifier, title, rules }: { identifier: string; title: string; rules: unknown }) => ({
    cite: citation(key, found.revision ?? '', identifier),
    title: brief(title),
    ...(show !== 'uncovered' && { rules }),
  });
  const versions = new Map(stigs.map((each) => [each.slug, each.version ?? '']));
  const unmappedRow = ({ slug, groupId, ruleId, title, deprecated }: (typeof unmapped)[number]) => ({
    cite: citation(slug, versions.get(slug)!, ruleId),
    groupId,
    title: brief(title),
    ...withoutEmpty({ deprecatedCcis: deprecated?.slice(0, mostListed) }),
  });
  const isShown = ({ covered }: { covered: boolean }) => show === 'all' || covered === (show === 'covered');
  const ofControls = show === 'outside' ? outside : controls.filter(isShown);
  const rows = show === 'unmapped' ? unmapped.map(unmappedRow) : ofControls.map(rowOf);
  const { totals: automation } = automationOf(services, releases);
  const head = {
    found: true,
    ...pick(found, 'framework', 'revision', 'baseline', 'rollup', 'totals'),
    automation,
    ...automationMeans(statesIn(automation)),
    show,
    stigs: stigs.slice(0, 20).map(({ slug, version }) => citation(slug, version ?? '')),
    total: rows.length,
  };
  return withRows(call, head, 'rows', rows.slice(call.at), rows.length);
}
