import { z } from '@hono/zod-openapi';
import { oscalNamespace, stableId } from '../base/ids.ts';

const oscalVersion = '1.2.1';

/** Any OSCAL document; NIST's schemas say what it holds. */
export const OscalDocument = z.looseObject({}).openapi('OscalDocument', {
  description: 'An OSCAL 1.2.1 document in JSON, with one member named for its model.',
});

/** A property of OSCAL; those with a namespace are ours. */
export interface OscalProp {
  name: string;
  ns?: string;
  value: string;
  remarks?: string;
}

/** A property, its value on one line; none where that is empty, which OSCAL does not allow. */
export function prop(name: string, value: string, more: Omit<OscalProp, 'name' | 'value'> = {}): OscalProp[] {
  const line = oneLine(value);
  return line === '' ? [] : [{ name, ...more, value: line }];
}

/** A property of ours (rule D30.1). */
export function ownProp(name: string, value: string, remarks?: string): OscalProp[] {
  return prop(name, value, { ns: oscalNamespace, ...(remarks === undefined ? {} : { remarks }) });
}

/** A text as OSCAL wants a string or a title: on one line, without blanks at its ends. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A member that is there only when it has something: OSCAL allows no empty array. */
export function filled<N extends string, T>(name: N, list: T[]): { [name in N]?: T[] } {
  return list.length === 0 ? {} : ({ [name]: list } as { [name in N]?: T[] });
}

/** The head of a document; `changed` is a date or a time of the data, null where that has none: never the clock. */
export function oscalMetadata(title: string, version: string, changed: string | null, more: object = {}) {
  return {
    title: oneLine(title),
    'last-modified': timeOf(changed ?? ''),
    version: oneLine(version),
    'oscal-version': oscalVersion,
    ...more,
  };
}

/** A date or a time in the form of OSCAL; where it is none, a fixed one, as the member is required. */
function timeOf(text: string): string {
  const time = new Date(text);
  const year = time.getUTCFullYear();
  return year >= 1900 && year < 3000 ? time.toISOString().replace('.000Z', 'Z') : '1970-01-01T00:00:00Z';
}

/** Something that a document refers to by `#` and its uuid. */
export interface OscalResource {
  uuid: string;
  title: string;
  rlinks?: { href: string; 'media-type': string }[];
}

/** A document of a model, its uuid made of its content: equal content, equal bytes. */
export function oscalDocument(model: string, content: object, resources: OscalResource[] = []) {
  const whole = { ...content, ...(resources.length === 0 ? {} : { 'back-matter': { resources } }) };
  return { [model]: { uuid: stableId('oscal', model, JSON.stringify(whole)), ...whole } };
}
