import { isTestResult } from '../../src/read/scan-results.ts';
import type { XmlElement, XmlHandler } from '../../src/read/xml.ts';

/** A rule as its elements state it. */
export type RawRule = ReturnType<typeof newRule>;
export type XccdfGroup = ReturnType<typeof newGroup>;
export type RawProfile = ReturnType<typeof newProfile>;
export type RawBenchmark = BenchmarkBuilder['benchmark'];

type Attributes = Record<string, string>;

const newRule = ({ id, severity = '', weight = '' }: Attributes) => ({
  ...{ id: idOf(id), severity, weight, version: '', title: '', description: '' },
  ...{ fixRef: '', fixId: '', fixTexts: [] as string[], identifiers: [] as string[] },
  idents: [] as { system: string; text: string }[],
  checks: [] as { system: string; content: string; refHref: string | null; refName: string | null }[],
});

const newGroup = ({ id }: Attributes) => ({
  ...{ id: idOf(id), title: '', description: '', rules: [] as RawRule[] },
});

const newProfile = ({ id }: Attributes) => ({
  ...{ id: idOf(id), title: '', description: '', selected: [] as string[] },
});

/** The meaning of an open element; the builder does not read below `other`. */
type Frame =
  | { type: 'benchmark' | 'reference' | 'other' }
  | { type: 'group'; group: XccdfGroup }
  | { type: 'profile'; profile: RawProfile }
  | { type: 'rule'; rule: RawRule }
  | { type: 'check'; check: RawRule['checks'][number] };

const dublinCore = 'http://purl.org/dc/elements/1.1/';
const prefix12 = /^xccdf_mil\.disa\.stig_(?:benchmark|group|rule|profile)_/;

/** An id without the prefix of XCCDF 1.2 (rule F1.7): 1.1 and 1.2 give the same ids. */
function idOf(stated = ''): string {
  return stated.replace(prefix12, '');
}

const other: Frame = { type: 'other' };

/**
 * Collects an XCCDF benchmark from the events of `readXml`, nested groups flat, in document order. It reads only direct
 * children: the checks of a complex-check or a test result do not belong to the rule.
 */
export class BenchmarkBuilder implements XmlHandler {
  readonly benchmark = {
    ...{ id: '', title: '', description: '', version: '', looseRules: 0 },
    statuses: [] as { text: string; date: string | null }[],
    plainTexts: [] as { id: string; text: string }[],
    profiles: [] as RawProfile[],
    groups: [] as XccdfGroup[],
  };
  holdsResults = false;
  readonly uri: string;
  private readonly frames: Frame[] = [];
  private rule: RawRule | null = null;
  private captured = '';
  private keep: ((text: string) => void) | null = null;
  private captureDepth = 0;

  constructor(uri: string) {
    this.uri = uri;
  }

  open(element: XmlElement): void {
    const { frames } = this;
    this.holdsResults ||= isTestResult(element);
    const parent = frames[frames.length - 1];
    frames.push(this.keep === null ? this.frameOf(element, parent) : other);
  }

  text(text: string): void {
    if (this.keep !== null) this.captured += text;
  }

  close(): void {
    if (this.keep !== null && this.captureDepth === this.frames.length) {
      this.keep(this.captured);
      this.keep = null;
    }
    this.frames.pop();
  }

  private frameOf(element: XmlElement, parent: Frame | undefined): Frame {
    const { local, attributes } = element;
    if (parent === undefined) {
      this.benchmark.id = idOf(attributes.id);
      return { type: 'benchmark' };
    }
    if (element.uri !== this.uri) {
      if (parent.type === 'reference' && local === 'identifier' && element.uri === dublinCore) {
        this.capture((text) => this.rule!.identifiers.push(text.trim()));
      }
      return other;
    }
    switch (parent.type) {
      case 'benchmark':
        return this.inBenchmark(local, attributes);
      case 'group':
        return this.inGroup(parent.group, local, attributes);
      case 'profile':
        return this.inProfile(parent.profile, local, attributes);
      case 'rule':
        return this.inRule(parent.rule, local, attributes);
      case 'check':
        return this.inCheck(parent.check, local, attributes);
      default:
        return other;
    }
  }

  /** Captures the text of the opening element until it closes, with that of markup in it. */
  private capture(keep: (text: string) => void): Frame {
    this.captured = '';
    this.captureDepth = this.frames.length + 1;
    this.keep = keep;
    return other;
  }

  private captureOnce<K extends string>(owner: Record<K, string>, name: K): Frame {
    return this.capture((text) => {
      owner[name] ||= text;
    });
  }

  private inBenchmark(local: string, attributes: Attributes): Frame {
    const { benchmark } = this;
    switch (local) {
      case 'title':
      case 'description':
      case 'version':
        return this.captureOnce(benchmark, local);
      case 'status':
        return this.capture((text) =>
          benchmark.statuses.push({ text: text.trim(), date: attributes.date ?? null }),
        );
      case 'plain-text':
        return this.capture((text) => benchmark.plainTexts.push({ id: attributes.id ?? '', text }));
      case 'Profile': {
        const profile = newProfile(attributes);
        benchmark.profiles.push(profile);
        return { type: 'profile', profile };
      }
      case 'Group':
        return this.openGroup(attributes);
      case 'Rule':
        benchmark.looseRules++;
        return other;
      default:
        return other;
    }
  }

  private openGroup(attributes: Attributes): Frame {
    const group = newGroup(attributes);
    this.benchmark.groups.push(group);
    return { type: 'group', group };
  }

  private inGroup(group: XccdfGroup, local: string, attributes: Attributes): Frame {
    if (local === 'title' || local === 'description') return this.captureOnce(group, local);
    if (local === 'Group') return this.openGroup(attributes);
    if (local !== 'Rule') return other;
    const rule = newRule(attributes);
    group.rules.push(rule);
    this.rule = rule;
    return { type: 'rule', rule };
  }

  private inProfile(profile: RawProfile, local: string, attributes: Attributes): Frame {
    if (local === 'title' || local === 'description') return this.captureOnce(profile, local);
    const selected = (attributes.selected ?? '').trim();
    if (local === 'select' && (selected === 'true' || selected === '1'))
      profile.selected.push(idOf(attributes.idref));
    return other;
  }

  private inRule(rule: RawRule, local: string, attributes: Attributes): Frame {
    switch (local) {
      case 'title':
      case 'description':
      case 'version':
        return this.captureOnce(rule, local);
      case 'reference':
        return { type: 'reference' };
      case 'ident':
        return this.capture((text) =>
          rule.idents.push({ system: attributes.system ?? '', text: text.trim() }),
        );
      case 'fixtext':
        rule.fixRef ||= attributes.fixref ?? '';
        return this.capture((text) => rule.fixTexts.push(text));
      case 'fix':
        rule.fixId ||= attributes.id ?? '';
        return other;
      case 'check': {
        const check = { system: attributes.system ?? '', content: '', refHref: null, refName: null };
        rule.checks.push(check);
        return { type: 'check', check };
      }
      default:
        return other;
    }
  }

  private inCheck(check: RawRule['checks'][number], local: string, attributes: Attributes): Frame {
    if (local === 'check-content') {
      return this.capture((text) => {
        check.content += text;
      });
    }
    if (local === 'check-content-ref') {
      check.refHref ??= attributes.href ?? '';
      check.refName ??= attributes.name ?? '';
    }
    return other;
  }
}
