import { citation, readCitation } from '../base/citation.ts';
import { pick } from '../base/objects.ts';
import { plainRuleId } from '../base/rule-ids.ts';
import { brief, cut } from '../base/text.ts';
import { automationOf } from '../catalog/crosswalk/reports.ts';
import {
  controlOf,
  isControlId,
  Missing,
  releaseOf,
  ruleOf,
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
  ruleRow,
  statesIn,
  withoutEmpty,
  withRows,
  withTexts,
} from './calls.ts';
import { inList } from './list-tools.ts';

export function find(services: Services, call: Call): Answer {
  const { q = '', stig, severity, control, cci } = call.args;
  const { among, pinned } = inList(services, call);
  const { skip, ...page } = pageAt(call.at, 50);
  const found = services.search.search({
    q,
    stig: stig === undefined ? undefined : [stigOf(services, stig).slug],
    severity: severitiesOf(severity),
    control: control && controlOf(control).id,
    cci: cci && controlOf(cci, 'cci').id,
    among,
    ...page,
  });
  const { dropped, narrowedTo } = found;
  const { total } = found.pagination;
  const suggestions = found.suggestions.slice(0, 10);
  const isFirst = call.at === 0;
  const { unknown, answers, stigs } = isFirst ? namedIn(services, q) : nothingNamed;
  if (total + answers.length + stigs.length === 0)
    throw unknown.length > 0
      ? new Missing('unknown_id', `In no source here: ${unknown.join(', ')}`)
      : new Missing('no_match', 'No rule has these words. Try others', withoutEmpty({ suggestions }));
  const head = {
    found: true,
    total,
    ...pick(found, 'exact', 'relaxed'),
    counts: found.counts.severity,
    ...(isFirst && withoutEmpty({ dropped, narrowedTo, suggestions, pinned, unknown, answers, stigs })),
  };
  const rows = found.results.slice(skip).map(({ slug, version, snippet, ...rule }) => ({
    ...ruleRow(slug, version, rule),
    ...(snippet.field !== 'title' && { source: { snippet: brief(snippet.text, 240) } }),
  }));
  return withRows(call, head, 'rules', rows, total);
}

const nothingNamed = { unknown: [], answers: [], stigs: [] };

/** What the ids and names of STIGs in a question are; `unknown` are ids of no source. */
function namedIn({ answers, citations, stigNames }: Services, q: string) {
  const all = answers(q).slice(0, 10);
  const known = all.filter(({ state }) => state !== 'unknown');
  return {
    unknown: all.filter((each) => !known.includes(each)).map(({ id }) => id),
    answers: known.map((each) => {
      const { href: _, title = '', ...answer } = each;
      return { cite: citations.ofAnswer(each), ...answer, title: brief(title, 120) };
    }),
    stigs: stigNames
      .stigsNamedIn(q)
      .slice(0, 5)
      .map(({ slug, version, title }) => ({ cite: citation(slug, version), title: brief(title) })),
  };
}

export function getRule(services: Services, call: Call): Answer {
  const { id: given = '', stig, version } = call.args;
  const cited = isControlId(given) ? null : readCitation(given);
  const requested = version ?? cited?.version;
  const of = stig ?? cited?.name;
  const named = of === undefined ? null : stigOf(services, of, requested);
  const over = ruleOf(services.ruleHistory, cited?.id ?? given, named?.slug);
  const { slug, asked: id } = over;
  const { version: release, newest } = named ?? stigOf(services, slug, requested);
  const ids = [id, over.groupId, over.ruleVersion];
  const group = services.reading.rules(slug, release === over.version ? [over.groupId] : ids, release);
  if (!group) {
    const cite = citation(slug, over.version, over.ruleId);
    const reason = over.current ? 'no_match' : 'removed';
    throw new Missing(reason, `${release} of ${slug} does not have it. ${over.version} has it`, {
      last: { slug, version: over.version, cite },
      next: { tool: 'get_rule', arguments: { id: cite } },
    });
  }
  const rule = group.rules.find(({ ruleId }) => plainRuleId(ruleId) === plainRuleId(id)) ?? group.rules[0]!;
  const { ruleId, ruleIdents, legacyIds } = rule;
  const cite = citation(slug, release, ruleId);
  const state = release === newest ? 'current' : over.current ? 'former' : 'removed';
  const mapped = services.ruleChain(ruleIdents).flatMap(({ controls }) => controls);
  const automation = services.ruleAutomation(slug).of(ruleId);
  const isOther = /^SV-\d+R/i.test(id) && plainRuleId(id) !== plainRuleId(ruleId);
  const facts = {
    state,
    slug,
    stigTitle: brief(group.release.title),
    version: release,
    releaseDate: group.release.releaseDate,
    ...pick(rule, 'groupId', 'ruleId', 'ruleVersion', 'severity'),
    ruleTitle: brief(rule.ruleTitle),
    title: brief(rule.title, 100),
    ruleIdents: ruleIdents.slice(0, mostListed),
    ...withoutEmpty({
      legacyIds: legacyIds.slice(0, mostListed),
      deprecatedCcis: services.deprecatedCcis(ruleIdents).slice(0, mostListed),
      controls: [...new Set(mapped.map(({ identifier }) => identifier))].slice(0, mostListed),
      automation: automation.state,
      ...automationMeans([automation.state]),
      automatedBy: automation.content.slice(0, 5),
      now: state === 'former' ? citation(slug, newest, over.ruleId) : undefined,
      note: isOther ? `${cut(given)} is another revision: this is ${ruleId}` : undefined,
    }),
  };
  const head = { found: true, cite, ...(call.at === 0 ? facts : { ruleId }) };
  return withTexts(call, head, pick(rule, 'checkContent', 'fixText', 'vulnDiscussion'));
}

export function getStig(services: Services, call: Call): Answer {
  const { stig: name = '', version, severity, search } = call.args;
  const { slug, version: requested, newest } = stigOf(services, name, version);
  const { skip, ...page } = pageAt(call.at);
  const query = { version: requested, severity: severitiesOf(severity), search, ...page };
  const { stig, counts, findings, pagination } = services.stigs.overview(slug, query);
  const { total } = pagination;
  const first = () => {
    const { totals } = automationOf(services, [services.stigs.named(slug, requested)]);
    const releases = services.stigs.retained(slug).slice(0, mostListed);
    return { releases, automation: totals, ...automationMeans(statesIn(totals)) };
  };
  const head = {
    found: true,
    cite: citation(slug, requested),
    slug,
    title: brief(stig.title),
    version: requested,
    ...pick(stig, 'benchmarkId', 'releaseDate', 'status', 'findingCount'),
    state: requested === newest ? 'current' : 'former',
    counts,
    total,
    ...(call.at === 0 && first()),
  };
  if ((call.args.rules as unknown) === false) return head;
  const { of } = services.ruleAutomation(slug);
  const rows = findings.slice(skip).map((each) => {
    return { ...ruleRow(slug, requested, each), automation: of(each.ruleId).state };
  });
  return withRows(call, head, 'rules', rows, total);
}

export function compareReleases(services: Services, call: Call): Answer {
  const { stig = '', from, to, kind } = call.args;
  const { slug, newest } = stigOf(services, stig);
  const requested = { from: releaseOf(from), to: releaseOf(to) };
  for (const each of [requested.from, requested.to]) if (each !== undefined) stigOf(services, slug, each);
  const retained = services.stigs.retained(slug);
  if (requested.from === undefined && retained.at(-1) === (requested.to ?? newest))
    throw new Missing('not_imported', 'No release before it is in this catalog', { retained });
  const diff = services.stigDiff.diff(slug, requested);
  const [old, now] = [diff.from.version, diff.to.version];
  const matched = <T extends (typeof diff.renumbered)[number]>(each: T) => ({
    ...ruleRow(slug, now, { ...each, ...each.new }),
    was: citation(slug, old, each.old.ruleId),
  });
  const rows = [
    ...diff.added.map((each) => ({ kind: 'added', ...ruleRow(slug, now, each) })),
    ...diff.removed.map((each) => ({ kind: 'removed', ...ruleRow(slug, old, each) })),
    ...diff.changed.map((each) => ({
      kind: 'changed',
      class: each.class,
      classes: each.classes,
      fields: each.fields.map(({ field }) => field),
      ...matched(each),
    })),
    ...diff.renumbered.map((each) => ({ kind: 'renumbered', ...matched(each) })),
  ].filter((row) => kind === undefined || row.kind === kind);
  const total = rows.length;
  const classes: Record<string, number> = {};
  for (const each of diff.changed.flatMap((change) => change.classes))
    classes[each] = (classes[each] ?? 0) + 1;
  const head = {
    found: true,
    slug,
    title: brief(diff.title),
    from: citation(slug, old),
    to: citation(slug, now),
    summary: diff.summary,
    classes,
    total,
  };
  return withRows(call, head, 'rules', rows.slice(call.at), total);
}
