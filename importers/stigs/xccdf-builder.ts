import { isTestResult } from '../../src/read/scan-results.ts';
import type { XmlElement, XmlHandler } from '../../src/read/xml.ts';
import { createLosses } from '../read/losses.ts';
import {
  identifiersOf,
  lostOfReference,
  type ReferenceFact,
  toolTexts,
  unreadAttributes,
} from './xccdf-content.ts';
import { descriptionTagOf } from './xccdf-description.ts';
import { joinTexts, MarkupText } from './xccdf-text.ts';

/** A rule as its elements state it. */
export type RawRule = ReturnType<typeof newRule>;
export type XccdfGroup = ReturnType<typeof newGroup>;
export type RawProfile = ReturnType<typeof newProfile>;
export type RawBenchmark = BenchmarkBuilder['benchmark'];

type Attributes = Record<string, string>;

const newRule = ({ id, severity = '', weight = '' }: Attributes) => ({
  ...{ id: idOf(id), severity, weight, version: '', title: '', descriptions: [] as string[] },
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

/** The meaning of an open element. */
type Frame =
  | { type: 'benchmark' | 'captured' | 'ignored' }
  | { type: 'reference'; facts: ReferenceFact[]; isOfRule: boolean }
  | { type: 'unread'; name: string; isCounted: boolean }
  | { type: 'group'; group: XccdfGroup }
  | { type: 'profile'; profile: RawProfile }
  | { type: 'rule' | 'complex'; rule: RawRule }
  | { type: 'check'; check: RawRule['checks'][number] };

const dublinCore = 'http://purl.org/dc/elements/1.1/';
const signatures = 'http://www.w3.org/2000/09/xmldsig#';
const prefix12 = /^xccdf_mil\.disa\.stig_(?:benchmark|group|rule|profile)_/;

/** An id without the prefix of XCCDF 1.2 (rule F1.7): 1.1 and 1.2 give the same ids. */
function idOf(stated = ''): string {
  return stated.replace(prefix12, '');
}

const captured: Frame = { type: 'captured' };
const ignored: Frame = { type: 'ignored' };

/**
 * Collects an XCCDF benchmark from the events of `readXml`, nested groups flat, in document order; the checks of a
 * complex-check are checks of the rule. `losses` has what it does not read (rule F1.6).
 */
export class BenchmarkBuilder implements XmlHandler {
  readonly benchmark = {
    ...{ id: '', title: '', description: '', version: '', looseRules: 0 },
    statuses: [] as { text: string; date: string | null }[],
    plainTexts: [] as { id: string; text: string }[],
    profiles: [] as RawProfile[],
    groups: [] as XccdfGroup[],
  };
  readonly losses = createLosses();
  holdsResults = false;
  readonly uri: string;
  private readonly frames: Frame[] = [];
  private readonly names: string[] = [];
  private rule: RawRule | null = null;
  private capture_: {
    text: MarkupText;
    keep: (text: string) => void;
    depth: number;
    tags: string[] | null;
  } | null = null;

  constructor(uri: string) {
    this.uri = uri;
  }

  open(element: XmlElement): void {
    const { frames, names } = this;
    this.holdsResults ||= isTestResult(element);
    const parent = frames.at(-1);
    const frame = this.capture_ === null ? this.frameOf(element, parent) : this.openCaptured(element);
    frames.push(frame);
    names.push(element.name);
  }

  text(text: string): void {
    const frame = this.frames.at(-1)!;
    if (this.capture_ !== null) this.capture_.text.add(text);
    else if (text.trim() === '') return;
    else if (frame.type === 'unread') this.count(frame);
    else if (frame.type === 'reference') frame.facts.push(['', text]);
    else if (frame.type !== 'ignored') this.losses.add(`text of ${this.names.at(-1)}`);
  }

  close(): void {
    const capture = this.capture_;
    if (capture !== null && capture.depth < this.frames.length) {
      const tag = capture.tags?.pop();
      if (tag) capture.text.add(`</${tag}>`);
      capture.text.close();
    } else if (capture !== null) {
      this.capture_ = null;
      capture.keep(capture.text.toString());
    }
    const frame = this.frames.pop()!;
    this.names.pop();
    if (frame.type === 'reference') this.closeReference(frame);
  }

  /** Markup in a text; a tag of a description may be an element. */
  private openCaptured({ name: local, attributes }: XmlElement): Frame {
    const { text, tags } = this.capture_!;
    text.open(local);
    const tag = tags === null ? undefined : descriptionTagOf(local);
    tags?.push(tag ?? '');
    if (tag !== undefined) text.add(`<${tag}>`);
    for (const name of ['alt', 'href', 'idref', 'src', 'title'])
      if ((attributes[name] ?? '').trim() !== '') this.losses.add(`${local}@${name} in a text`);
    return captured;
  }

  private frameOf({ name: local, uri, attributes }: XmlElement, parent: Frame | undefined): Frame {
    if (parent === undefined) {
      this.benchmark.id = idOf(attributes.id);
      this.countAttributes(local, attributes);
      return { type: 'benchmark' };
    }
    if (parent.type === 'ignored' || uri === signatures) return ignored;
    if (parent.type === 'unread') return this.within(parent, attributes);
    if (parent.type === 'reference' && uri === dublinCore) return this.inReference(parent, local);
    if (uri !== this.uri) return this.unread(local, attributes);
    const frame = this.readFrame(local, attributes, parent);
    if (frame === null) return this.unread(local, attributes);
    if (frame.type !== 'reference') this.countAttributes(local, attributes);
    return frame;
  }

  /** The frame of an element that is read; null for another. */
  private readFrame(local: string, attributes: Attributes, parent: Frame): Frame | null {
    switch (parent.type) {
      case 'benchmark':
        return this.inBenchmark(local, attributes);
      case 'group':
        return this.inGroup(parent.group, local, attributes);
      case 'profile':
        return this.inProfile(parent.profile, local, attributes);
      case 'rule':
        return this.inRule(parent.rule, local, attributes);
      case 'complex':
        return this.inComplexCheck(parent.rule, local, attributes);
      case 'check':
        return this.inCheck(parent.check, local, attributes);
      default:
        return null;
    }
  }

  private unread(local: string, attributes: Attributes): Frame {
    const frame = { type: 'unread' as const, name: `${this.names.at(-1)}/${local}`, isCounted: false };
    if (unreadAttributes(local, attributes).length > 0) this.count(frame);
    return frame;
  }

  private within(frame: Frame & { type: 'unread' }, attributes: Attributes): Frame {
    if (unreadAttributes('', attributes).length > 0) this.count(frame);
    return frame;
  }

  private count(frame: Frame & { type: 'unread' }): void {
    if (!frame.isCounted) this.losses.add(frame.name);
    frame.isCounted = true;
  }

  private countAttributes(local: string, attributes: Attributes): void {
    for (const name of unreadAttributes(local, attributes)) this.losses.add(`${local}@${name}`);
  }

  /** Captures the text of the opening element until it closes, with that of markup in it. */
  private capture(keep: (text: string) => void, tags: string[] | null = null): Frame {
    this.capture_ = { text: new MarkupText(), keep, depth: this.frames.length + 1, tags };
    return captured;
  }

  private captureOnce<K extends string>(owner: Record<K, string>, name: K): Frame {
    const place = `${this.names.at(-1)}/${name} beside the first`;
    return this.capture((text) => {
      if (owner[name] === '') owner[name] = text;
      else if (text.trim() !== '' && text.trim() !== owner[name].trim()) this.losses.add(place);
    });
  }

  private inReference(parent: Frame & { type: 'reference' }, local: string): Frame {
    return this.capture((text) => parent.facts.push([local, text.replace(/\s+/g, ' ').trim()]));
  }

  private closeReference({ facts, isOfRule }: Frame & { type: 'reference' }): void {
    if (isOfRule) this.rule!.identifiers.push(...identifiersOf(facts));
    for (const kind of lostOfReference(facts, isOfRule)) this.losses.add(kind);
  }

  private openReference(attributes: Attributes, isOfRule: boolean): Frame {
    return { type: 'reference', facts: [['href', attributes.href ?? '']], isOfRule };
  }

  private inBenchmark(local: string, attributes: Attributes): Frame | null {
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
        return this.capture((text) => this.keepPlainText(attributes.id ?? '', text));
      case 'reference':
        return this.openReference(attributes, false);
      case 'Profile': {
        const profile = newProfile(attributes);
        benchmark.profiles.push(profile);
        return { type: 'profile', profile };
      }
      case 'Group':
        return this.openGroup(attributes);
      case 'Rule':
        benchmark.looseRules++;
        return ignored;
      default:
        return null;
    }
  }

  private keepPlainText(id: string, text: string): void {
    const isFirst = !this.benchmark.plainTexts.some((plain) => plain.id === id);
    this.benchmark.plainTexts.push({ id, text });
    if (text.trim() !== '' && !toolTexts.has(id) && !(id === 'release-info' && isFirst))
      this.losses.add('Benchmark/plain-text');
  }

  private openGroup(attributes: Attributes): Frame {
    const group = newGroup(attributes);
    this.benchmark.groups.push(group);
    return { type: 'group', group };
  }

  private inGroup(group: XccdfGroup, local: string, attributes: Attributes): Frame | null {
    if (local === 'title' || local === 'description') return this.captureOnce(group, local);
    if (local === 'reference') return this.openReference(attributes, false);
    if (local === 'Group') return this.openGroup(attributes);
    if (local !== 'Rule') return null;
    const rule = newRule(attributes);
    group.rules.push(rule);
    this.rule = rule;
    return { type: 'rule', rule };
  }

  private inProfile(profile: RawProfile, local: string, attributes: Attributes): Frame | null {
    if (local === 'title' || local === 'description') return this.captureOnce(profile, local);
    if (local !== 'select') return null;
    const selected = (attributes.selected ?? '').trim();
    if (selected === 'true' || selected === '1') profile.selected.push(idOf(attributes.idref));
    return { type: 'unread', name: 'select/remark', isCounted: false };
  }

  private inRule(rule: RawRule, local: string, attributes: Attributes): Frame | null {
    switch (local) {
      case 'title':
      case 'version':
        return this.captureOnce(rule, local);
      case 'description':
        return this.capture((text) => rule.descriptions.push(text), []);
      case 'reference':
        return this.openReference(attributes, true);
      case 'ident':
        return this.capture((text) =>
          rule.idents.push({ system: attributes.system ?? '', text: text.trim() }),
        );
      case 'fixtext':
        rule.fixRef ||= attributes.fixref ?? '';
        return this.capture((text) => rule.fixTexts.push(text));
      case 'fix':
        rule.fixId ||= attributes.id ?? '';
        return null;
      default:
        return this.inComplexCheck(rule, local, attributes);
    }
  }

  private inComplexCheck(rule: RawRule, local: string, attributes: Attributes): Frame | null {
    if (local === 'complex-check') return { type: 'complex', rule };
    if (local !== 'check') return null;
    const check = { system: attributes.system ?? '', content: '', refHref: null, refName: null };
    rule.checks.push(check);
    return { type: 'check', check };
  }

  private inCheck(check: RawRule['checks'][number], local: string, attributes: Attributes): Frame | null {
    if (local === 'check-content')
      return this.capture((text) => {
        check.content = joinTexts([check.content, text]);
      });
    if (local !== 'check-content-ref') return null;
    if (check.refHref !== null) this.losses.add('check/check-content-ref beside the first');
    check.refHref ??= attributes.href ?? '';
    check.refName ??= attributes.name ?? '';
    return ignored;
  }
}
