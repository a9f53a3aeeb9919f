import type { XmlElement, XmlHandler } from '../xml/gate.ts';

/** A rule as its elements state it, before anything is interpreted. */
export interface RawRule {
  id: string;
  severity: string;
  weight: string;
  version: string;
  title: string;
  description: string;
  identifiers: string[];
  idents: { system: string; text: string }[];
  fixTexts: string[];
  fixRef: string;
  fixId: string;
  checks: { system: string; content: string; refHref: string | null; refName: string | null }[];
}

export interface RawGroup {
  id: string;
  title: string;
  description: string;
  rules: RawRule[];
}

export interface RawProfile {
  id: string;
  title: string;
  description: string;
  selected: string[];
}

export interface RawBenchmark {
  id: string;
  title: string;
  description: string;
  version: string;
  statuses: { text: string; date: string | null }[];
  plainTexts: { id: string; text: string }[];
  profiles: RawProfile[];
  groups: RawGroup[];
  /** Rules that stand outside any group. */
  looseRules: number;
}

type Context = RawBenchmark | RawGroup | RawProfile | RawRule | null;

const dublinCore = 'http://purl.org/dc/elements/1.1/';

/** Collects an XCCDF 1.1 benchmark from the events of the gate; nested groups come out flat, in document order. */
export class BenchmarkBuilder implements XmlHandler {
  readonly benchmark: RawBenchmark = {
    id: '',
    title: '',
    description: '',
    version: '',
    statuses: [],
    plainTexts: [],
    profiles: [],
    groups: [],
    looseRules: 0,
  };
  private readonly uri: string;
  private readonly groups: RawGroup[] = [];
  private profile: RawProfile | null = null;
  private rule: RawRule | null = null;
  /** The text being collected, of the element at `captureDepth`; markup inside it counts as its text. */
  private captured = '';
  private captureDepth = 0;
  private depth = 0;
  private attributes: Record<string, string> = {};
  private readonly path: string[] = [];

  constructor(uri: string) {
    this.uri = uri;
  }

  open(element: XmlElement): void {
    this.depth++;
    const { local, attributes } = element;
    const ours = element.uri === this.uri;
    const parent = this.path[this.path.length - 1] ?? '';
    this.path.push(ours ? local : `{${element.uri}}${local}`);
    if (this.captureDepth !== 0) return;
    if (!ours) {
      if (local === 'identifier' && element.uri === dublinCore && this.rule && parent === 'reference')
        this.capture();
      return;
    }
    if (this.depth === 1) this.benchmark.id = attributes.id ?? '';
    else if (local === 'Group') this.openGroup(attributes);
    else if (local === 'Rule') this.openRule(attributes);
    else if (local === 'Profile') this.openProfile(attributes);
    else if (local === 'select' && this.profile) this.select(attributes);
    else if (local === 'check' && parent === 'Rule') this.openCheck(attributes);
    else if (local === 'check-content-ref' && parent === 'check') this.openReference(attributes);
    else if (local === 'fix' && parent === 'Rule') this.rule!.fixId ||= attributes.id ?? '';
    else if (isText(local, parent)) this.capture(attributes);
  }

  text(text: string): void {
    if (this.captureDepth !== 0) this.captured += text;
  }

  close(local: string): void {
    const name = this.path.pop()!;
    const parent = this.path[this.path.length - 1] ?? '';
    if (this.captureDepth === this.depth) {
      this.captureDepth = 0;
      this.keep(local, parent, this.captured);
    } else if (this.captureDepth === 0) {
      if (name === 'Rule') this.rule = null;
      else if (name === 'Group') this.groups.pop();
      else if (name === 'Profile') this.profile = null;
    }
    this.depth--;
  }

  private capture(attributes: Record<string, string> = {}): void {
    this.captured = '';
    this.captureDepth = this.depth;
    this.attributes = attributes;
  }

  private openGroup(attributes: Record<string, string>): void {
    const group = { id: attributes.id ?? '', title: '', description: '', rules: [] };
    this.groups.push(group);
    this.benchmark.groups.push(group);
  }

  private openRule(attributes: Record<string, string>): void {
    this.rule = {
      id: attributes.id ?? '',
      severity: attributes.severity ?? '',
      weight: attributes.weight ?? '',
      version: '',
      title: '',
      description: '',
      identifiers: [],
      idents: [],
      fixTexts: [],
      fixRef: '',
      fixId: '',
      checks: [],
    };
    const group = this.groups[this.groups.length - 1];
    if (group) group.rules.push(this.rule);
    else this.benchmark.looseRules++;
  }

  private openProfile(attributes: Record<string, string>): void {
    this.profile = { id: attributes.id ?? '', title: '', description: '', selected: [] };
    this.benchmark.profiles.push(this.profile);
  }

  private select(attributes: Record<string, string>): void {
    const selected = (attributes.selected ?? '').trim();
    if (selected === 'true' || selected === '1') this.profile!.selected.push(attributes.idref ?? '');
  }

  private openCheck(attributes: Record<string, string>): void {
    this.rule!.checks.push({ system: attributes.system ?? '', content: '', refHref: null, refName: null });
  }

  private openReference(attributes: Record<string, string>): void {
    const check = this.rule!.checks[this.rule!.checks.length - 1]!;
    check.refHref ??= attributes.href ?? '';
    check.refName ??= attributes.name ?? '';
  }

  private keep(local: string, parent: string, text: string): void {
    const { benchmark, rule, attributes } = this;
    const owner: Context =
      parent === 'Rule'
        ? rule
        : parent === 'Group'
          ? this.groups[this.groups.length - 1]!
          : parent === 'Profile'
            ? this.profile
            : benchmark;
    switch (local) {
      case 'title':
      case 'description':
        (owner as RawBenchmark)[local] ||= text;
        break;
      case 'version':
        (owner as RawBenchmark).version ||= text;
        break;
      case 'status':
        benchmark.statuses.push({ text: text.trim(), date: attributes.date ?? null });
        break;
      case 'plain-text':
        benchmark.plainTexts.push({ id: attributes.id ?? '', text });
        break;
      case 'identifier':
        rule!.identifiers.push(text.trim());
        break;
      case 'ident':
        rule!.idents.push({ system: attributes.system ?? '', text: text.trim() });
        break;
      case 'fixtext':
        rule!.fixTexts.push(text);
        rule!.fixRef ||= attributes.fixref ?? '';
        break;
      case 'check-content':
        rule!.checks[rule!.checks.length - 1]!.content += text;
        break;
    }
  }
}

function isText(local: string, parent: string): boolean {
  switch (local) {
    case 'title':
    case 'description':
      return parent === 'Benchmark' || parent === 'Group' || parent === 'Rule' || parent === 'Profile';
    case 'version':
      return parent === 'Benchmark' || parent === 'Rule';
    case 'status':
    case 'plain-text':
      return parent === 'Benchmark';
    case 'ident':
    case 'fixtext':
      return parent === 'Rule';
    case 'check-content':
      return parent === 'check';
    default:
      return false;
  }
}
