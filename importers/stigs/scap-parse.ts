import { count, hasAtMost } from '../../src/base/text.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import {
  type DataStreamReader,
  longestScapText,
  nameOfBenchmark,
  type RawScapBenchmark,
  type ScapRule,
} from './scap-content.ts';
import { isDate } from './xccdf-release.ts';

/** SCAP content: one benchmark of a data stream (rule D38.1). */
export interface ScapContent {
  benchmarkId: string;
  name: string;
  /** Who made the content: `NIWC`, or as the benchmark states it; empty where nothing says so. */
  publisher: string;
  /** As the benchmark states it: `002.008.12`. */
  version: string;
  date: string | null;
  /** As the data stream states it; empty where it does not. */
  scapVersion: string;
  rules: ScapRule[];
}

const scapVersions = ['', '1.2', '1.3', '1.4'];

/** The contents of a data stream. Throws `ImportError` for one without a benchmark, and for an incomplete one. */
export function interpretDataStream(reader: DataStreamReader): ScapContent[] {
  const { benchmarks, id } = reader;
  if (benchmarks.length === 0) throw fault('the data stream has no XCCDF benchmark');
  const contents = benchmarks.map((raw) => {
    const scapVersion = reader.versions.get(raw.component) ?? reader.versions.get('') ?? '';
    if (!scapVersions.includes(scapVersion))
      throw fault(`SCAP "${excerpt(scapVersion)}" is not one of 1.2, 1.3 and 1.4`);
    return { ...contentOf(raw, id), scapVersion };
  });
  const twice = contents.find(({ benchmarkId }, at) =>
    contents.slice(0, at).some((each) => each.benchmarkId === benchmarkId),
  );
  if (twice) throw fault(`the data stream has the benchmark ${excerpt(twice.benchmarkId)} twice`);
  return contents;
}

const fault = (message: string) => new ImportError(message, 'scap');

function contentOf(raw: RawScapBenchmark, collection: string): Omit<ScapContent, 'scapVersion'> {
  const benchmarkId = raw.id;
  const named = nameOfBenchmark(benchmarkId);
  const stated = (what: string, text: string) => {
    if (text === '') throw fault(`${named} has no ${what}`);
    if (!hasAtMost(text, longestScapText))
      throw fault(`the ${what} of ${named} has more than ${count(longestScapText, 'character')}`);
    return text;
  };
  const name = collapseLine(raw.title);
  const version = collapseLine(raw.version);
  stated('id', benchmarkId);
  stated('title', name);
  stated('version', version);
  requireRules(raw.rules, named);
  const publisher = publisherOf(raw, name, collection);
  return { benchmarkId, name, publisher, version, date: dateOf(raw), rules: raw.rules };
}

/** NIWC where collection or title say so; else who the metadata or a reference name; else who the ids belong to. */
function publisherOf(raw: RawScapBenchmark, name: string, collection: string): string {
  if (/niwc/i.test(collection) || /niwc/i.test(name)) return 'NIWC';
  const owners = [raw.statedId, collection].map((id) => /^(?:xccdf|scap)_([^_]+)_/.exec(id.trim())?.[1]);
  const stated = [...raw.publishers, ...owners.filter((owner) => owner !== undefined)].map(collapseLine);
  const publisher = stated.find((each) => each !== '') ?? '';
  return /^(?:DISA\b|mil\.disa\b|Defense Information Systems Agency)/i.test(publisher)
    ? 'DISA'
    : excerpt(publisher, 200);
}

function requireRules(rules: ScapRule[], named: string): void {
  if (rules.length === 0) throw fault(`${named} has no rules`);
  const ids = new Set<string>();
  for (const { ruleId, groupId } of rules) {
    if (ruleId === '') throw fault(`${named} has a rule without an id`);
    if (ruleId.length > longestScapText || groupId.length > longestScapText)
      throw fault(`${named} has an id of more than ${count(longestScapText, 'character')}`);
    if (ids.has(ruleId)) throw fault(`${named} has the rule ${excerpt(ruleId)} twice`);
    ids.add(ruleId);
  }
}

/** The date of the line "Enhanced Content", else the latest of the statuses. */
function dateOf({ plainTexts, statusDates }: RawScapBenchmark): string | null {
  const line = plainTexts.find((text) => /\bEnhanced Content\b/i.test(text)) ?? '';
  const enhanced = /\bEnhanced Content\b.{0,200}?\bDate: *(\d{4}-\d{2}-\d{2})/is.exec(line)?.[1] ?? '';
  return [enhanced].find(isDate) ?? statusDates.filter(isDate).sort().at(-1) ?? null;
}

/** Orders versions number by number: `1.10.5` before `002.007.21`; words stand before numbers. */
export function compareScapVersions(a: string, b: string): number {
  const [one, two] = [a, b].map((text) => text.split('.'));
  for (let at = 0; at < Math.max(one!.length, two!.length); at++) {
    const order = comparePart(one![at], two![at]);
    if (order !== 0) return order;
  }
  return 0;
}

function comparePart(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  const [one, two] = [a, b].map((part) => (/^\d+$/.test(part) ? BigInt(part) : null));
  if (one === null || two === null) return one === two ? (a < b ? -1 : Number(a > b)) : one === null ? -1 : 1;
  return one! < two! ? -1 : Number(one! > two!);
}
