import { SaxesParser, type SaxesTagNS } from 'saxes';

// An independent reader of DISA's XCCDF 1.1, for comparing: it shares no code with the importer.

export const readerTags = [
  ...(['VulnDiscussion', 'FalsePositives', 'FalseNegatives', 'Documentable', 'Mitigations'] as const),
  ...(['SeverityOverrideGuidance', 'PotentialImpacts', 'ThirdPartyTools', 'MitigationControl'] as const),
  ...(['Responsibility', 'IAControls'] as const),
];

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
  const blank = { id: '', title: '', description: '', version: '', releaseInfo: '', status: '' };
  const benchmark: ReadBenchmark = { ...blank, statusDate: null, profiles: [], rules: [] };
  const stack: Node[] = [];
  const group = { id: '', title: '', description: '' };
  const profile = () => benchmark.profiles.at(-1)!;
  const rule = () => benchmark.rules.at(-1)!;

  type Step = (attributes: Record<string, string>, text: string) => unknown;
  const opened: Record<string, Step> = {
    Benchmark: ({ id }) => Object.assign(benchmark, { id }),
    'Benchmark/Group': ({ id }) => Object.assign(group, { id: id!, title: '', description: '' }),
    'Benchmark/Profile': ({ id }) =>
      benchmark.profiles.push({ id: id!, title: '', description: '', selected: [] }),
    'Benchmark/Profile/select': ({ selected, idref }) =>
      selected === 'true' && profile().selected.push(idref!),
    'Benchmark/Group/Rule': (attributes) => benchmark.rules.push(newRule(group, attributes)),
    'Benchmark/Group/Rule/fix': ({ id }) => rule().fixIds.push(id!),
    'Benchmark/Group/Rule/check': ({ system = '' }) =>
      rule().checks.push({ system, content: '', href: null, name: null }),
    'Benchmark/Group/Rule/check/check-content-ref': ({ href, name }) =>
      Object.assign(rule().checks.at(-1)!, { href, name }),
  };
  const closed: Record<string, Step> = {
    'Benchmark/title': (_, title) => Object.assign(benchmark, { title }),
    'Benchmark/description': (_, description) => Object.assign(benchmark, { description }),
    'Benchmark/version': (_, version) => Object.assign(benchmark, { version }),
    'Benchmark/status': ({ date = null }, status) => Object.assign(benchmark, { status, statusDate: date }),
    'Benchmark/plain-text': ({ id }, releaseInfo) =>
      id === 'release-info' && Object.assign(benchmark, { releaseInfo }),
    'Benchmark/Profile/title': (_, title) => Object.assign(profile(), { title }),
    'Benchmark/Profile/description': (_, text) =>
      Object.assign(profile(), { description: withoutWrapper(text, 'ProfileDescription') }),
    'Benchmark/Group/title': (_, title) => Object.assign(group, { title }),
    'Benchmark/Group/description': (_, text) =>
      Object.assign(group, { description: withoutWrapper(text, 'GroupDescription') }),
    'Benchmark/Group': () => {
      for (const each of benchmark.rules)
        if (each.groupId === group.id)
          Object.assign(each, { groupTitle: group.title, groupDescription: group.description });
    },
    'Benchmark/Group/Rule/version': (_, version) => Object.assign(rule(), { version }),
    'Benchmark/Group/Rule/title': (_, title) => Object.assign(rule(), { title }),
    'Benchmark/Group/Rule/description': (_, description) =>
      Object.assign(rule(), { description, tags: cutTags(description) }),
    'Benchmark/Group/Rule/reference/dc:identifier': (_, text) => rule().identifiers.push(text),
    'Benchmark/Group/Rule/ident': ({ system }, text) => {
      if (/\/cci$/i.test(system!) && !rule().ccis.includes(text)) rule().ccis.push(text);
      if (/\/legacy$/i.test(system!)) rule().legacyIds.push(text);
    },
    'Benchmark/Group/Rule/fixtext': ({ fixref }, text) => {
      rule().fixTexts.push(text);
      rule().fixRefs.push(fixref!);
    },
    'Benchmark/Group/Rule/check/check-content': (_, content) =>
      Object.assign(rule().checks.at(-1)!, { content }),
  };

  const parser = new SaxesParser({ xmlns: true });
  parser.on('opentag', (tag) => {
    const node = { name: nameOf(tag), attributes: attributesOf(tag), text: '' };
    stack.push(node);
    opened[pathOf(stack)]?.(node.attributes, '');
  });
  const addText = (text: string) => {
    const top = stack.at(-1);
    if (top) top.text += text;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const path = pathOf(stack);
    const { attributes, text } = stack.pop()!;
    closed[path]?.(attributes, text.trim());
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

function newRule(group: { id: string }, { id, severity, weight }: Record<string, string>): ReadRule {
  return {
    ...{ groupId: group.id, groupTitle: '', groupDescription: '', ruleId: id!, severity: severity! },
    ...{ weight: weight!, version: '', title: '', description: '', tags: cutTags(''), fixTexts: [] },
    ...{ fixRefs: [], fixIds: [], checks: [], ccis: [], legacyIds: [], identifiers: [] },
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
