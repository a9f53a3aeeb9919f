// What of an XCCDF benchmark has content (rule F1.6).
import { unstoredAttributes } from '../read/losses.ts';

/** The attributes that are read, or that only name an element within its file. */
const readAttributes = new Map([
  ['Benchmark', ['id']],
  ['Group', ['id']],
  ['Profile', ['id']],
  ['Rule', ['id', 'severity', 'weight']],
  ['check', ['system']],
  ['check-content-ref', ['href', 'name']],
  ['fix', ['id']],
  ['fixtext', ['fixref']],
  ['ident', ['system']],
  ['notice', ['id']],
  ['plain-text', ['id']],
  ['select', ['idref', 'selected']],
  ['status', ['date']],
]);

/** Values that XCCDF takes for granted: an attribute that states one says nothing. */
const no = ['false', '0'];
const defaults = new Map([
  ['abstract', no],
  ['complexity', ['unknown']],
  ['disruption', ['unknown']],
  ['hidden', no],
  ['multi-check', no],
  ['multiple', no],
  ['negate', no],
  ['override', no],
  ['prohibitChanges', no],
  ['reboot', no],
  ['resolved', no],
  ['role', ['full']],
  ['selected', ['true', '1']],
  ['strategy', ['unknown']],
]);

/** The attributes of an XCCDF element that have content and are not read. */
export function unreadAttributes(local: string, attributes: Record<string, string>): string[] {
  return unstoredAttributes(attributes, readAttributes.get(local) ?? []).filter(
    (name) => !defaults.get(name)?.includes(attributes[name]!.trim()),
  );
}

/** DISA's tools state their versions. */
export const toolTexts = new Set(['generator', 'conventionsVersion']);

/** What DISA states in every reference: who publishes a STIG, and the name of the target with the stored identifier. */
const boilerplate = new Map([
  ['href', /^https?:\/\/(?:cyber\.mil|iase\.disa\.mil)\/?$/],
  ['publisher', /^DISA(?:,? (?:FSO|Field Security Operations))?$/],
  ['source', /^STIG\.DOD\.MIL$/],
  ['type', /^DPMS Target$/],
]);

/** The attribute `href` of a reference, its text (named `''`) and its Dublin Core elements. */
export type ReferenceFact = [name: string, text: string];

/** The identifiers of targets that a reference states. */
export function identifiersOf(facts: ReferenceFact[]): string[] {
  return facts.filter(([name]) => name === 'identifier').map(([, text]) => text);
}

/** What of a reference is neither stored nor what DISA always states, as kinds of loss. */
export function lostOfReference(facts: ReferenceFact[], isOfRule: boolean): string[] {
  const isTarget = isOfRule && identifiersOf(facts).length > 0;
  const known = isTarget ? ['identifier', 'title', 'subject'] : [];
  return facts
    .filter(
      ([name, text]) => text.trim() !== '' && !known.includes(name) && !boilerplate.get(name)?.test(text),
    )
    .map(
      ([name]) =>
        `reference${name === '' ? '' : `/${name}`} of a ${isOfRule ? 'Rule' : 'Benchmark or Group'}`,
    );
}
