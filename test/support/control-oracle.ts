// The control catalogs read straight from the publishers' files, with none of the importers' code.
import { readFileSync } from 'node:fs';
import { reference } from './reference.ts';

/** What a publisher's file states of one control, texts left out. */
export interface OracleControl {
  identifier: string;
  title: string;
  family: string;
  withdrawn: boolean;
  /** Where a withdrawn one went: controls of the same file, in catalog order. */
  went: string[];
}

interface Oscal {
  id: string;
  title: string;
  props?: { name: string; value: string }[];
  links?: { rel: string; href: string }[];
  controls?: Oscal[];
}

const readJson = (...path: string[]) => JSON.parse(readFileSync(reference(...path), 'utf8'));
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

function from80053Id(id: string): string {
  const [, family, number, enhancement] = /^([a-z]{2})-(\d+)(?:\.(\d+))?/.exec(id)!;
  return `${family!.toUpperCase()}-${Number(number)}${enhancement ? `(${Number(enhancement)})` : ''}`;
}

/** A key that sorts controls of 800-53 as the catalog does: family, number, enhancement. */
export function order80053(identifier: string): string {
  const [, family, number, enhancement = '0'] = /^([A-Z]{2})-(\d+)(?:\((\d+)\))?$/.exec(identifier)!;
  return `${family}.${number!.padStart(3, '0')}.${enhancement.padStart(3, '0')}`;
}

/** Sorts texts by a key. */
export function sortedBy<T>(items: Iterable<T>, key: (item: T) => string): T[] {
  return [...items].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/** Every control and enhancement of 800-53 in catalog order, withdrawn ones included. */
export function read80053(revision: 4 | 5): OracleControl[] {
  const { catalog } = readJson('oscal', `NIST_SP-800-53_rev${revision}_catalog-min.json`) as {
    catalog: { groups: { title: string; controls: Oscal[] }[] };
  };
  const found: OracleControl[] = [];
  const visit = (control: Oscal, family: string) => {
    const went = (control.links ?? [])
      .filter((link) => ['incorporated-into', 'moved-to'].includes(link.rel))
      .filter((link) => /^#[a-z]{2}-\d/.test(link.href))
      .map((link) => from80053Id(link.href.slice(1)));
    const withdrawn = !!control.props?.some(
      (each) => each.name === 'status' && /withdrawn/i.test(each.value),
    );
    found.push({
      identifier: from80053Id(control.id),
      title: oneLine(control.title),
      family: oneLine(family),
      withdrawn,
      went: withdrawn ? sortedBy(new Set(went), order80053) : [],
    });
    for (const child of control.controls ?? []) visit(child, family);
  };
  for (const group of catalog.groups) for (const control of group.controls) visit(control, group.title);
  return sortedBy(found, (each) => order80053(each.identifier));
}

/** The members of a baseline as its profile lists them. */
export function readBaseline(revision: 4 | 5, name: string): Set<string> {
  const file = `NIST_SP-800-53_rev${revision}_${name.toUpperCase()}-baseline_profile.json`;
  const { profile } = readJson('oscal', file) as {
    profile: { imports: { 'include-controls': { 'with-ids': string[] }[] }[] };
  };
  const ids = profile.imports.flatMap((each) => each['include-controls'].flatMap((list) => list['with-ids']));
  return new Set(ids.map(from80053Id));
}

export const baselineNames = (revision: 4 | 5) =>
  revision === 5 ? ['low', 'moderate', 'high', 'privacy'] : ['low', 'moderate', 'high'];

/** The requirements of 800-171 with their types (Rev 2), in order. */
export function read800171(revision: 2 | 3): (OracleControl & { type: string | null })[] {
  const { elements, relationships } = readJson('sp800-171', `sp_800_171_${revision}_0_0`, 'framework.json')
    .response.elements as {
    elements: { element_type: string; element_identifier: string; title: string }[];
    relationships: Record<string, string>[];
  };
  const ofType = (type: string) => elements.filter((each) => each.element_type === type);
  const families = new Map(ofType('family').map((each) => [each.element_identifier, oneLine(each.title)]));
  const withdrawn = new Set(ofType('withdraw_reason').map((each) => each.element_identifier.slice(3)));
  const unpadded = (identifier: string) => identifier.split('.').map(Number).join('.');
  const types = new Map(
    relationships
      .filter((each) => /^RT_/.test(each.dest_element_identifier!))
      .map((each) => [each.source_element_identifier!, each.dest_element_identifier!.slice(3)]),
  );
  const found = ofType('requirement').map(({ element_identifier: id, title }) => ({
    identifier: revision === 2 ? unpadded(id) : id,
    title: oneLine(title),
    family: families.get(id.slice(0, 5))!,
    withdrawn: withdrawn.has(id),
    went: relationships
      .filter((each) => each.source_element_identifier === `WR-${id}`)
      .filter((each) => /^(incorporated_into|addressed_by)$/.test(each.relationship_identifier!))
      .map((each) => each.dest_element_identifier!)
      .sort(),
    type: types.get(unpadded(id)) ?? null,
  }));
  return sortedBy(found, (each) => each.identifier.replace(/\d+/g, (digits) => digits.padStart(3, '0')));
}

export interface OracleIaControl {
  identifier: string;
  title: string;
  subjectArea: string;
  macLevels: string[];
  confidentialityLevels: string[];
  impactCode: string;
}

/** The IA controls of DoDI 8500.2, by identifier. */
export function read8500(): OracleIaControl[] {
  const text = readFileSync(reference('dod-8500', '8500controls.xml'), 'utf8');
  const controls = [...text.matchAll(/<IACONTROL>([\s\S]*?)<\/IACONTROL>/g)].map(([, body]) => {
    const one = (name: string) => oneLine(new RegExp(`<${name}\\b[^>]*>([^<]*)<`).exec(body!)?.[1] ?? '');
    const all = (name: string) =>
      [...body!.matchAll(new RegExp(`<${name}>([^<]*)<`, 'g'))].map((match) => match[1]!.trim());
    return {
      identifier: one('CONTROL_NUMBER'),
      title: one('CONTROL_NAME').replaceAll('&amp;', '&'),
      subjectArea: one('SUBJECT_AREA'),
      macLevels: ['I', 'II', 'III']
        .filter((level) => all('MAC').includes(`MAC${level}`))
        .map((level) => `MAC ${level}`),
      confidentialityLevels: ['CLASSIFIED', 'SENSITIVE', 'PUBLIC'].filter((level) =>
        all('CONF').includes(level),
      ),
      impactCode: one('IMPACT_CODE'),
    };
  });
  return sortedBy(controls, (each) => each.identifier);
}
