import { citation, readCitation } from '../base/citation.ts';
import { cut } from '../base/text.ts';
import { controlOf, Missing, releaseOf, ruleIdOf, severitiesOf, stigOf } from '../catalog/search/spelled.ts';
import type { RuleOverTime } from '../catalog/stigs/history-schema.ts';
import type { Services } from '../services.ts';
import { type Answer, brief, type Call, ofList, pageAt, pick, withRows, withTexts } from './calls.ts';

type Texts = Record<string, string | undefined>;
const mostListed = 100;

/** The slugs of a list of the caller's; undefined where none is named. */
export async function slugsOfList({ listStigs }: Services, call: Call, id: string | undefined) {
  if (id === undefined) return undefined;
  const user = await call.caller.user();
  return ofList(() => listStigs.slugs(user, id));
}

/** A rule as a row: its citation, and what tells it from others. */
const ruleRow = (
  slug: string,
  version: string,
  rule: Record<'groupId' | 'ruleId' | 'ruleVersion' | 'ruleTitle' | 'severity', string>,
) => ({
  cite: citation(slug, version, rule.ruleId),
  ...pick(rule, 'groupId', 'ruleVersion', 'severity'),
  ruleTitle: brief(rule.ruleTitle),
});

export async function find(services: Services, call: Call): Promise<Answer> {
  const { q = '', stig, severity, control, cci, list } = call.args as Texts;
  const among = await slugsOfList(services, call, list);
  const { skip, ...page } = pageAt(call.at, 50);
  const of = stig === undefined ? undefined : [stigOf(services, stig).slug];
  const filters = {
    stig: of,
    severity: severitiesOf(severity),
    control: control && controlOf(control).id,
    cci,
  };
  const found = await services.search.search({ q, ...filters, among, ...page });
  const { total } = found.pagination;
  const answers = call.at > 0 ? [] : (await services.answers(q)).slice(0, 10);
  const stigs = call.at > 0 ? [] : services.stigNames.said(q).slice(0, 5);
  if (total + answers.length + stigs.length === 0)
    throw new Missing('no_match', 'No rule has these words. Try others', pick(found, 'suggestions'));
  const head: Answer = {
    ...{ found: true, total, ...pick(found, 'exact', 'relaxed') },
    ...(answers.length > 0 && {
      answers: answers.map(({ href: _, title = '', ...each }) => ({ ...each, title: brief(title, 120) })),
    }),
    ...(stigs.length > 0 && {
      stigs: stigs.map(({ slug, version, title }) => ({
        cite: citation(slug, version),
        title: brief(title),
      })),
    }),
  };
  const rows = found.results.slice(skip).map((each) => ({
    ...{ ...ruleRow(each.slug, each.version, each), snippet: brief(each.snippet.text, 240) },
  }));
  return withRows(call, head, 'rules', rows, total);
}

const lastOf = (rule: RuleOverTime) => rule.releases.find(({ state }) => state !== 'removed')!.version;

/** The one rule that an id names in a STIG, or in all, and its last release. Throws `Missing` for none and for several. */
function namedRule({ ruleHistory }: Services, id: string, slug: string | undefined) {
  const now = ruleHistory.current(id, slug).map((each) => ({ ...each, current: true }));
  const ever = () => ruleHistory.find(id, slug).map((each) => ({ ...each, version: lastOf(each) }));
  const all = now.length > 0 ? now : ever();
  const own = all.filter((each) => each.groupId === id.toUpperCase());
  const found = own.length > 0 ? own : all;
  const current = found.filter((each) => each.current);
  const rules = current.length > 0 ? current : found;
  const [first] = rules;
  if (first === undefined) throw new Missing('unknown_id', `No STIG in this catalog has the rule ${cut(id)}`);
  if (rules.length === 1 || (current.length === 0 && rules.every((each) => each.slug === first.slug)))
    return first;
  const candidates = rules.slice(0, 8).map((each) => ruleRow(each.slug, each.version, each));
  throw new Missing('ambiguous', 'Several rules have this id. Call again with one of these citations as id', {
    candidates,
  });
}

const bare = (id: string) => id.toUpperCase().replace(/_RULE$/, '');

export function getRule(services: Services, call: Call): Answer {
  const { id: given = '', stig, version } = call.args as Texts;
  const cited = readCitation(given);
  if (cited !== null && services.citations.isPublic(given))
    throw new Missing('unknown_id', 'This cites a control', {
      next: { tool: 'get_control', arguments: { id: given } },
    });
  const id = ruleIdOf(cited?.id ?? given);
  const asked = version ?? cited?.version;
  const of = stig ?? cited?.name;
  const named = of === undefined ? null : stigOf(services, of, asked);
  const over = namedRule(services, id, named?.slug);
  const { slug } = over;
  const newest = over.current ? over.version : services.stigs.release(slug).version;
  const isPinned = named !== null && (asked !== undefined || named.version !== newest);
  const wanted = isPinned ? named.version : asked && stigOf(services, slug, asked).version;
  const release = wanted ?? newest;
  const group = services.reading.rules(slug, [id, over.groupId, over.ruleVersion], release);
  if (!group) {
    const last = over.version;
    const cite = citation(slug, last, over.ruleId);
    const reason = over.current ? 'unknown_id' : 'removed';
    throw new Missing(reason, `${release} of ${slug} does not have it. ${last} has it`, {
      last: { slug, version: last, cite },
      next: { tool: 'get_rule', arguments: { id: cite } },
    });
  }
  const rule = group.rules.find(({ ruleId }) => bare(ruleId) === bare(id)) ?? group.rules[0]!;
  const { ruleId, ruleIdents, legacyIds } = rule;
  const cite = citation(slug, release, ruleId);
  const state = release === newest ? 'current' : over.current ? 'former' : 'removed';
  const controls = services.ruleChain(ruleIdents).flatMap((each) => each.controls);
  const deprecated = services.deprecatedCcis(ruleIdents);
  const first: Answer = {
    ...{ found: true, cite, state, slug, stigTitle: brief(group.release.title), version: release },
    ...{
      ...pick(group.release, 'releaseDate'),
      ...pick(rule, 'groupId', 'ruleId', 'ruleVersion', 'severity'),
    },
    ...{ ruleTitle: brief(rule.ruleTitle), title: brief(rule.title, 100) },
    ...{ ruleIdents: ruleIdents.slice(0, mostListed), legacyIds: legacyIds.slice(0, mostListed) },
    ...(deprecated.length > 0 && { deprecatedCcis: deprecated.slice(0, mostListed) }),
    controls: [...new Set(controls.map((each) => each.identifier))].slice(0, mostListed),
    ...(state === 'former' && { now: citation(slug, newest, over.ruleId) }),
    ...(/^SV-\d+R/i.test(id) &&
      bare(id) !== bare(ruleId) && { note: `${cut(id)} is another revision: this is ${ruleId}` }),
  };
  const head = call.at === 0 ? first : { found: true, cite, ruleId };
  return withTexts(call, head, pick(rule, 'checkContent', 'fixText', 'vulnDiscussion'));
}

export function getStig(services: Services, call: Call): Answer {
  const { name = '', version, severity, search } = call.args as Texts;
  const { slug, version: wanted, newest } = stigOf(services, name, version);
  const { skip, ...page } = pageAt(call.at);
  const query = { version: wanted, severity: severitiesOf(severity), search, ...page };
  const { stig, counts, findings, pagination } = services.stigs.overview(slug, query);
  const { total } = pagination;
  const releases = services.stigs.versions(slug).versions.map((each) => each.version);
  const head: Answer = {
    ...{ found: true, cite: citation(slug, wanted), slug, title: brief(stig.title), version: wanted },
    ...pick(stig, 'benchmarkId', 'releaseDate', 'status', 'findingCount'),
    ...{ state: wanted === newest ? 'current' : 'former', counts, total },
    ...(call.at === 0 && { releases: releases.slice(0, mostListed) }),
  };
  const rows = findings.slice(skip).map((each) => ruleRow(slug, wanted, each));
  return withRows(call, head, 'rules', rows, total);
}

export function compareReleases(services: Services, call: Call): Answer {
  const { stig = '', from, to, kind } = call.args as Texts;
  const { slug, newest } = stigOf(services, stig);
  const wanted = { from: releaseOf(from), to: releaseOf(to) };
  for (const each of [wanted.from, wanted.to]) if (each !== undefined) stigOf(services, slug, each);
  const retained = services.stigs.versions(slug).versions.map((each) => each.version);
  if (wanted.from === undefined && retained.at(-1) === (wanted.to ?? newest))
    throw new Missing('not_imported', 'No release before it is in this catalog', { retained });
  const diff = services.stigDiff.diff(slug, wanted);
  const [old, now] = [diff.from.version, diff.to.version];
  const matched = <T extends (typeof diff.renumbered)[number]>(each: T) => ({
    ...ruleRow(slug, now, { ...each, ...each.new }),
    was: citation(slug, old, each.old.ruleId),
  });
  const rows = [
    ...diff.added.map((each) => ({ kind: 'added', ...ruleRow(slug, now, each) })),
    ...diff.removed.map((each) => ({ kind: 'removed', ...ruleRow(slug, old, each) })),
    ...diff.changed.map((each) => ({
      ...{ kind: 'changed', classes: each.classes, fields: each.fields.map(({ field }) => field) },
      ...matched(each),
    })),
    ...diff.renumbered.map((each) => ({ kind: 'renumbered', ...matched(each) })),
  ].filter((row) => kind === undefined || row.kind === kind);
  const total = rows.length;
  const releases = { from: citation(slug, old), to: citation(slug, now) };
  const head = { found: true, slug, title: brief(diff.title), ...releases, summary: diff.summary, total };
  return withRows(call, head, 'rules', rows.slice(call.at), total);
}
