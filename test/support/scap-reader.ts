import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import { readZip } from './read-zip.ts';
import { reference } from './reference.ts';

/** SCAP content as a reader of its own finds it, to compare with the product's. */
export interface ReadScap {
  file: string;
  benchmarkId: string;
  title: string;
  version: string;
  date: string;
  scapVersion: string;
  rules: { ruleId: string; groupId: string; automated: boolean }[];
}

// biome-ignore lint/suspicious/noExplicitAny: a tree of elements of every shape
type Tree = any;

const lists = new Set(['Group', 'Rule', 'check', 'component', 'plain-text', 'status', 'data-stream']);
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  removeNSPrefix: true,
  parseTagValue: false,
  isArray: (name) => lists.has(name),
});
const last = (id: string) => id.split(/_(?:benchmark|group|rule)_/).at(-1)!;
const text = (node: Tree): string => (typeof node === 'string' ? node : (node?.['#text'] ?? ''));

/** The contents of the folder `scap` of the reference data. */
export async function readScapFolder(): Promise<ReadScap[]> {
  const folder = reference('scap');
  const contents: ReadScap[] = [];
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.zip'))) {
    const entries = [...(await readZip(readFileSync(join(folder, file))))];
    const [, bytes] = entries.find(([name]) => name.endsWith('.xml'))!;
    contents.push({ file, ...readOne(bytes.toString('utf8')) });
  }
  return contents;
}

function readOne(xml: string): Omit<ReadScap, 'file'> {
  const root = parser.parse(xml)['data-stream-collection'];
  const benchmark = root.component.find((each: Tree) => each.Benchmark !== undefined).Benchmark;
  const line = benchmark['plain-text'].map(text).find((each: string) => each.includes('Enhanced Content'));
  return {
    benchmarkId: last(benchmark['@id']),
    title: text(benchmark.title),
    version: text(benchmark.version),
    date: line.match(/Date: (\S{10})/)[1],
    scapVersion: root['data-stream'][0]['@scap-version'],
    rules: benchmark.Group.flatMap((group: Tree) =>
      group.Rule.map((rule: Tree) => ({
        ruleId: last(rule['@id']),
        groupId: last(group['@id']),
        automated: rule.check.some((check: Tree) => check['@system'].includes('oval')),
      })),
    ),
  };
}
