import { SaxesParser, type SaxesTagNS } from 'saxes';

// An independent reader of DISA's XCCDF 1.1, for comparing: it shares no code with the importer.

export const readerTags = [
  'VulnDiscussion',
  'FalsePositives',
  'FalseNegatives',
  'Documentable',
  'Mitigations',
  'SeverityOverrideGuidance',
  'PotentialImpacts',
  'ThirdPartyTools',
  'MitigationControl',
  'Responsibility',
  'IAControls',
] as const;

export type ReaderTag = (typeof readerTags)[number];

export interface ReadCheck {
  system: string;
  content: string;
  href: string | null;
  name: string | null;
}

export interface ReadRule {
  groupId: string;
  groupTitle: string;
  groupDescription: string;
  ruleId: string;
  severity: string;
  weight: string;
  version: string;
  title: string;
  /** The rule description as it stands after XML decoding. */
  description: string;
  /** The same, cut into its tags. */
  tags: Record<ReaderTag, string>;
  fixTexts: string[];
  fixRefs: string[];
  fixIds: string[];
  checks: ReadCheck[];
  /** In document order, each once. */
  ccis: string[];
  legacyIds: string[];
  /** The texts of `dc:identifier` in the rule's references. */
  identifiers: string[];
}

export interface ReadProfile {
  id: string;
  title: string;
  description: string;
  selected: string[];
}

export interface ReadBenchmark {
  id: string;
  title: string;
  description: string;
  version: string;
  releaseInfo: string;
  status: string;
  statusDate: string | null;
  profiles: ReadProfile[];
  rules: ReadRule[];
}

interface Node {
  name: string;
  attributes: Record<string, string>;
  text: string;
}

const xccdf = 'http://checklists.nist.gov/xccdf/1.1';
const dublinCore = 'http://purl.org/dc/elements/1.1/';

/** Reads a benchmark from the text of its file. All texts are trimmed at their outer blanks and nowhere else. */
export function readBenchmark(xml: string): ReadBenchmark {
  const benchmark: ReadBenchmark = {
    id: '',
    title: '',
    description: '',
    version: '',
    releaseInfo: '',
    status: '',
    statusDate: null,
    profiles: [],
    rules: [],
  };
  const stack: Node[] = [];
  let group = { id: '', title: '', description: '' };
  let rule: ReadRule | null = null;
  let profile: ReadProfile | null = null;

  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    const node = { name: nameOf(tag), attributes: attributesOf(tag), text: '' };
    stack.push(node);
    const { attributes } = node;
    switch (pathOf(stack)) {
      case 'Benchmark':
        benchmark.id = attributes.id!;
        break;
      case 'Benchmark/Group':
        group = { id: attributes.id!, title: '', description: '' };
        break;
      case 'Benchmark/Profile':
        profile = { id: attributes.id!, title: '', description: '', selected: [] };
        benchmark.profiles.push(profile);
        break;
      case 'Benchmark/Profile/select':
        if (attributes.selected === 'true') profile!.selected.push(attributes.idref!);
        break;
      case 'Benchmark/Group/Rule':
        rule = newRule(group, attributes);
        benchmark.rules.push(rule);
        break;
      case 'Benchmark/Group/Rule/fix':
        rule!.fixIds.push(attributes.id!);
        break;
      case 'Benchmark/Group/Rule/check':
        rule!.checks.push({ system: attributes.system ?? '', content: '', href: null, name: null });
        break;
      case 'Benchmark/Group/Rule/check/check-content-ref':
        Object.assign(rule!.checks.at(-1)!, { href: attributes.href, name: attributes.name });
        break;
    }
  });
  const addText = (text: string) => {
    const top = stack.at(-1);
    if (top) top.text += text;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const path = pathOf(stack);
    const { attributes, text: raw } = stack.pop()!;
    const text = raw.trim();
    switch (path) {
      case 'Benchmark/title':
        benchmark.title = text;
        break;
      case 'Benchmark/description':
        benchmark.description = text;
        break;
      case 'Benchmark/version':
        benchmark.version = text;
        break;
      case 'Benchmark/status':
        benchmark.status = text;
        benchmark.statusDate = attributes.date ?? null;
        break;
      case 'Benchmark/plain-text':
        if (attributes.id === 'release-info') benchmark.releaseInfo = text;
        break;
      case 'Benchmark/Profile/title':
        profile!.title = text;
        break;
      case 'Benchmark/Profile/description':
        profile!.description = withoutWrapper(text, 'ProfileDescription');
        break;
      case 'Benchmark/Group/title':
        group.title = text;
        break;
      case 'Benchmark/Group/description':
        group.description = withoutWrapper(text, 'GroupDescription');
        break;
      case 'Benchmark/Group':
        for (const each of benchmark.rules) {
          if (each.groupId === group.id)
            Object.assign(each, { groupTitle: group.title, groupDescription: group.description });
        }
        break;
      case 'Benchmark/Group/Rule/version':
        rule!.version = text;
        break;
      case 'Benchmark/Group/Rule/title':
        rule!.title = text;
        break;
      case 'Benchmark/Group/Rule/description':
        rule!.description = text;
        rule!.tags = cutTags(text);
        break;
      case 'Benchmark/Group/Rule/reference/dc:identifier':
        rule!.identifiers.push(text);
        break;
      case 'Benchmark/Group/Rule/ident':
        if (/\/cci$/i.test(attributes.system!) && !rule!.ccis.includes(text)) rule!.ccis.push(text);
        if (/\/legacy$/i.test(attributes.system!)) rule!.legacyIds.push(text);
        break;
      case 'Benchmark/Group/Rule/fixtext':
        rule!.fixTexts.push(text);
        rule!.fixRefs.push(attributes.fixref!);
        break;
      case 'Benchmark/Group/Rule/check/check-content':
        rule!.checks.at(-1)!.content = text;
        break;
    }
  });
  parser.write(xml).close();
  return benchmark;
}

/** Several texts as one: those that are not blank, with a blank line between. */
export function joinTexts(texts: string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

/** The version string of a benchmark: `V2R9`. */
export function versionString(benchmark: ReadBenchmark): string {
  return `V${benchmark.version}R${/^Release:\s*(\S+)/.exec(benchmark.releaseInfo)![1]}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The benchmark date that a release-info text states, as YYYY-MM-DD, or null. */
export function benchmarkDate(releaseInfo: string): string | null {
  const words = /Benchmark Date: (\d\d?) ([A-Z][a-z]{2}) (\d{4})$/.exec(releaseInfo);
  if (!words) return null;
  const month = months.indexOf(words[2]!) + 1;
  return `${words[3]}-${String(month).padStart(2, '0')}-${words[1]!.padStart(2, '0')}`;
}

/** Cuts the pseudo-XML of a rule description into its tags; repeated ones are joined by `, `. */
export function cutTags(text: string): Record<ReaderTag, string> {
  const tags = Object.fromEntries(readerTags.map((tag) => [tag, ''])) as Record<ReaderTag, string>;
  let found = false;
  let rest = text;
  while (rest !== '') {
    const [tag, from] = nextOpening(rest);
    if (tag === null) break;
    found = true;
    const body = rest.slice(from + tag.length + 2);
    const [, next] = nextOpening(body);
    const own = body.slice(0, next);
    const close = own.lastIndexOf(`</${tag}>`);
    const value = (close < 0 ? own : own.slice(0, close)).trim();
    if (value !== '') tags[tag] = tags[tag] === '' ? value : `${tags[tag]}, ${value}`;
    rest = body.slice(next);
  }
  if (!found) tags.VulnDiscussion = text.trim();
  return tags;
}

function nextOpening(text: string): [ReaderTag | null, number] {
  let best: [ReaderTag | null, number] = [null, text.length];
  for (const tag of readerTags) {
    const index = text.indexOf(`<${tag}>`);
    if (index >= 0 && index < best[1]) best = [tag, index];
  }
  return best;
}

function newRule(group: { id: string }, attributes: Record<string, string>): ReadRule {
  return {
    groupId: group.id,
    groupTitle: '',
    groupDescription: '',
    ruleId: attributes.id!,
    severity: attributes.severity!,
    weight: attributes.weight!,
    version: '',
    title: '',
    description: '',
    tags: cutTags(''),
    fixTexts: [],
    fixRefs: [],
    fixIds: [],
    checks: [],
    ccis: [],
    legacyIds: [],
    identifiers: [],
  };
}

function nameOf(tag: SaxesTagNS): string {
  if (tag.uri === xccdf) return tag.local;
  return tag.uri === dublinCore ? `dc:${tag.local}` : `{${tag.uri}}${tag.local}`;
}

function attributesOf(tag: SaxesTagNS): Record<string, string> {
  return Object.fromEntries(Object.values(tag.attributes).map(({ name, value }) => [name, value]));
}

function pathOf(stack: Node[]): string {
  return stack.map((node) => node.name).join('/');
}

function withoutWrapper(text: string, wrapper: string): string {
  const open = `<${wrapper}>`;
  const close = `</${wrapper}>`;
  return text.startsWith(open) && text.endsWith(close) ? text.slice(open.length, -close.length).trim() : text;
}
