import { oscalNamespace, stableId } from '../base/ids.ts';

const oscalVersion = '1.2.1';

/** An OSCAL property; one with a namespace is Gapstone's. */
export interface OscalProp {
  name: string;
  ns?: string;
  value: string;
  class?: string;
  remarks?: string;
}

/** A property with its value on one line; none for an empty value, which OSCAL does not allow. */
export function prop(name: string, value: string, more: Omit<OscalProp, 'name' | 'value'> = {}): OscalProp[] {
  const line = oneLine(value);
  return line === '' ? [] : [{ name, ...more, value: line }];
}

/** A property in Gapstone's namespace (rule D30.1). */
export function ownProp(name: string, value: string, remarks?: string): OscalProp[] {
  return prop(name, value, { ns: oscalNamespace, ...(remarks === undefined ? {} : { remarks }) });
}

/** A text as an OSCAL string or title: on one line, trimmed. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A member for a list, absent when it is empty: OSCAL allows no empty array. */
export function filled<N extends string, T>(name: N, list: T[]): { [name in N]?: T[] } {
  return list.length === 0 ? {} : ({ [name]: list } as { [name in N]?: T[] });
}

/** The metadata of a document; `changed` is a date or time of the data, or null: never the clock. */
export function oscalMetadata(title: string, version: string, changed: string | null, more: object = {}) {
  return {
    title: oneLine(title),
    'last-modified': timeOf(changed ?? ''),
    version: oneLine(version),
    'oscal-version': oscalVersion,
    ...more,
  };
}

/** A date or time in the form of OSCAL; 1970 for anything else, because the member is required. */
function timeOf(text: string): string {
  const time = new Date(text);
  const year = time.getUTCFullYear();
  return year >= 1900 && year < 3000 ? time.toISOString().replace('.000Z', 'Z') : '1970-01-01T00:00:00Z';
}

/** A resource that a document refers to by `#` and its uuid. */
export interface OscalResource {
  uuid: string;
  title: string;
  props?: OscalProp[];
  rlinks?: { href: string; 'media-type': string }[];
}

/** A document of a model. Its uuid is derived from its content: equal content gives equal bytes. */
export function oscalDocument(model: string, content: object, resources: OscalResource[] = []) {
  const whole = { ...content, ...(resources.length === 0 ? {} : { 'back-matter': { resources } }) };
  return { [model]: { uuid: stableId('oscal', model, JSON.stringify(whole)), ...whole } };
}
