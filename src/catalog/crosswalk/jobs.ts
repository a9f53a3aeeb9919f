import type { User } from '../../auth/viewer.ts';
import { type JsonText, objectText } from '../../base/json.ts';
import { type MadeJson, madeJson } from '../../http/answer.ts';
import { type FileChoice, renderFile } from '../../http/downloads.ts';
import type { FilterLists } from '../../http/list-filter.ts';
import { frameworkKey } from '../controls/frameworks.ts';
import type { ControlRulesService } from './control-rules.ts';
import type { ControlRules, ListedRulesQuery } from './control-rules-schema.ts';
import type { ExplainService } from './explain.ts';
import { type MappingExport, pairColumns, pairsOf, toMappingCollection } from './export.ts';
import { type CrosswalkService, createPathList, defaultStatuses } from './queries.ts';
import type * as schemas from './schema.ts';

interface CrosswalkServices {
  crosswalk: CrosswalkService;
  explainer: ExplainService;
  mappings: MappingExport;
}

/** Answers one question as JSON; with `explain` it has the evidence, or the reason why there is no path. */
export function resolvedPaths(
  { crosswalk, explainer }: CrosswalkServices,
  { from, to, version, status, maxHops, explain }: schemas.ResolveQuery,
): MadeJson {
  const { framework } = from;
  const identifier = crosswalk.canonical(framework, from.identifier);
  const question = { framework, identifier, to, version, statuses: status ?? defaultStatuses, maxHops };
  const resolved = crosswalk.resolve(question);
  const explained = createPathList();
  if (explain) resolved.paths.map(explainer.withEvidence(version)).every(explained.take);
  const { paths } = explain ? explained.found : resolved;
  const unknown = [
    ...explainer.unknownIn({ framework, identifier, version }, { ...from, version }, (part) =>
      part === 'version' ? part : 'from',
    ),
    ...explainer.unknownIn({ framework: to }, { framework: to }, () => 'to'),
  ];
  const answer: schemas.Resolution = {
    ...(unknown.length > 0 && { unknown }),
    from: { framework, identifier, version: version ?? null },
    to,
    paths,
    ...((resolved.truncated || explained.found.truncated) && { truncated: true }),
    ...(explain && paths.length === 0 && { reason: explainer.whyNot(question) }),
  };
  return madeJson(JSON.stringify(answer));
}

/** The distinct path ends of each CCI, in the spelling and order of the request (D7.5, shape B). */
export function controlsOfCcis(
  { crosswalk }: CrosswalkServices,
  { ccis, to, status, maxHops }: schemas.CcisBody,
): MadeJson {
  const question = { framework: 'cci', to, statuses: status ?? defaultStatuses, maxHops };
  const ends = [...new Set(ccis)].map((cci): [string, JsonText<string[]>] => {
    const identifier = crosswalk.canonical('cci', cci);
    return [cci, JSON.stringify(crosswalk.endsOf({ ...question, identifier }))];
  });
  return madeJson(objectText(ends));
}

/** The paths of every pair by itself, keyed by the references of the request (D7.5, shape A). */
export function pathsOfPairs(
  { crosswalk, explainer }: CrosswalkServices,
  { from, to, status, maxHops }: schemas.PairsBody,
): MadeJson {
  const references = from.map(({ framework: sent, identifier: text, version }) => {
    const framework = frameworkKey(sent);
    const identifier = crosswalk.canonical(framework, text);
    return { key: `${sent}:${text}`, framework, identifier, version };
  });
  const sources = [...new Map(references.map((each) => [each.key, each])).values()];
  const targets = [...new Set(to)];
  const pairs = sources.flatMap((source) => targets.map((target) => ({ source, target })));
  const answers = crosswalk.resolveAll(
    pairs.map(({ source: { key: _, ...source }, target }) => {
      return { ...source, to: frameworkKey(target), statuses: status ?? defaultStatuses, maxHops };
    }),
  );
  const results = sources.map((source, row) => {
    const pathsTo = targets.map((target, column) => [target, answers[row * targets.length + column]!.paths]);
    return [source.key, Object.fromEntries(pathsTo)];
  });
  const truncated = pairs
    .filter((_, index) => answers[index]!.truncated)
    .map(({ source, target }) => `${source.key} ${target}`);
  const unknown = [
    ...references.flatMap((reference, index) =>
      explainer.unknownIn(reference, from[index]!, (part) => `/from/${index}/${part}`),
    ),
    ...to.flatMap((framework, index) =>
      explainer.unknownIn({ framework: frameworkKey(framework) }, { framework }, () => `/to/${index}`),
    ),
  ];
  const answer: schemas.BatchResolution = {
    ...(unknown.length > 0 && { unknown }),
    from: references.map(({ key: _, ...reference }) => reference),
    to,
    results: Object.fromEntries(results),
    ...(truncated.length > 0 && { truncated }),
  };
  return madeJson(JSON.stringify(answer));
}

/**
 * The direct mappings between two frameworks as an OSCAL mapping-collection, or the stated pairs as csv or xlsx. Throws
 * NOT_FOUND where there are none.
 */
export function mappingFile(
  { mappings }: CrosswalkServices,
  { from, to, format }: Pick<schemas.ExportQuery, 'from' | 'to' | 'format'>,
  choice: Omit<FileChoice, 'format'>,
): { bytes: Uint8Array<ArrayBuffer> } {
  const exported = mappings(from, to);
  if (format === 'oscal')
    return { bytes: new Uint8Array(Buffer.from(JSON.stringify(toMappingCollection(exported)))) };
  const file = { json: {}, root: 'crosswalk', element: 'mapping' };
  return renderFile({ ...choice, format }, { ...file, columns: pairColumns, rows: pairsOf(exported) });
}

/** A page of the rules that a control reaches. Throws as the service, and NOT_FOUND for a list that is not the user's. */
export function rulesOfControl(
  { controlRules, listStigs }: { controlRules: ControlRulesService; listStigs: FilterLists },
  user: User,
  { list, ...query }: ListedRulesQuery,
): ControlRules {
  if (list === undefined) return controlRules.rules(query);
  const found = controlRules.rules({ ...query, among: listStigs.slugs(user, list, 'list') });
  return { ...found, pinned: listStigs.pinned(user, list, 'list') };
}
