import { oscalNamespace } from '../../src/base/ids.ts';
import { compareCodePoints } from '../../src/base/text.ts';
import { canonicalIdentifier, familyCodeOf, oscalId } from '../../src/catalog/controls/identifier.ts';
import { ownNames } from '../../src/catalog/controls/oscal.ts';
import { methodNames } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { readShape } from '../read/json-shape.ts';
import { createLosses } from '../read/losses.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import { type ControlsResult, uniqueBy, withKind } from './catalog.ts';
import type { ControlsRecord, MappingPair } from './control-record.ts';
import { type Cprt, type CprtElement, cprtBody, cprtBodyOf, cprtDocument } from './cprt-shape.ts';
import { readCatalog } from './oscal-catalog.ts';
import { sp800171 } from './oscal-publication.ts';
import { oscalCatalog } from './oscal-shape.ts';

const kind = 'cprt';
const framework = 'nist-800-171';

/**
 * Reads SP 800-171 with the assessments of 800-171A from its CPRT export, as a catalog of OSCAL (rule F6): Rev 2, or
 * Rev 3 with its mapping to 800-53. Returns only a reason for other publications. Throws `ImportError` for a broken
 * export of 800-171.
 */
export function parseCprt(value: unknown): ControlsResult {
  const name = cprtDocument(value) ?? '';
  const revision = /^SP_800_171_([23])_\d+_\d+$/.exec(name)?.[1];
  if (revision === undefined)
    return { kind, records: null, reason: `a CPRT export of another publication: ${excerpt(name)}` };
  return withKind(kind, () => {
    const data = readShape(cprtBody, cprtBodyOf(value), kind);
    const publication = sp800171(revision, data.documents[0]!.version);
    const metadata = { title: `NIST SP 800-171 Rev ${revision}` };
    const identifierOf = (id: string) =>
      publication.identifierOf({ id: revision === '2' ? unpadded(id) : id });
    const groups = groupsOf(data, identifierOf, revision === '2' ? rev2Reader(data) : rev3Reader(data));
    const { catalog } = oscalCatalog.parse({ catalog: { metadata, groups } });
    const records: ControlsRecord[] = [readCatalog(catalog, publication)];
    const { edition, version, warnings } = publication;
    if (revision === '3') records.push({ type: 'mapping', edition, pairs: pairsIn(data, version) });
    return { kind, records, warnings: [...warnings, ...unreadIn(data)] };
  });
}

/** Gives the fields of a control of OSCAL for a requirement. */
type RequirementReader = (requirement: CprtElement, identifier: string) => object;

/** The families with their requirements, as groups of OSCAL. */
function groupsOf(
  { elements }: Cprt,
  identifierOf: (id: string) => string,
  read: RequirementReader,
): object[] {
  const families = elements.filter(({ type }) => type === 'family');
  const requirements = elements.filter(({ type }) => type === 'requirement');
  const stated = requirements.map((requirement) => {
    const identifier = identifierOf(requirement.id);
    const code = familyCodeOf(framework, identifier);
    const family = families.find(({ id }) => id === code || unpadded(id) === code);
    if (family === undefined) throw new ImportError(`the requirement ${identifier} has no family`);
    const id = oscalId(framework, identifier);
    const title = requirement.title || requirement.id;
    return { family, control: { id, title, ...read(requirement, identifier) } };
  });
  return [...Map.groupBy(stated, ({ family }) => family)].map(([{ title }, members]) => ({
    title,
    controls: members.map(({ control }) => control),
  }));
}

const labelProp = (value: string) => ({ name: 'label', value });

/** `3.1.1` of `03.01.01`. */
const unpadded = (id: string) => id.replace(/(?<=^|\.)0(?=\d)/g, '');

/** The elements of a type by the requirement in their ids, in the order of the file. */
function byRequirement({ elements }: Cprt, type: string): Map<string, CprtElement[]> {
  const ofType = elements.filter((element) => element.type === type);
  return Map.groupBy(ofType, ({ id }) => /\d\d\.\d\d\.\d\d/.exec(id)?.[0] ?? '');
}

/**
 * Rev 2. The file names a requirement `03.01.01` in its elements and `3.1.1` in its relations. Its "security
 * requirements" are the determination statements of 800-171A, not statements.
 */
function rev2Reader(data: Cprt): RequirementReader {
  const types = new Map(
    data.relationships
      .filter(({ to }) => to === 'RT_basic' || to === 'RT_derived')
      .map(({ from, to }) => [unpadded(from), to.replace('RT_', '')]),
  );
  const determinations = byRequirement(data, 'security_requirement');
  const discussions = byRequirement(data, 'discussion');
  return ({ id, text }, identifier) => {
    const type = types.get(identifier);
    if (type === undefined)
      throw new ImportError(`the requirement ${identifier} is neither basic nor derived`);
    return {
      props: [{ name: ownNames.requirementType, ns: oscalNamespace, value: type }],
      parts: [
        { id: identifier, name: 'statement', prose: collapseLine(text) },
        { name: 'guidance', prose: discussions.get(id)?.[0]?.text },
        ...(determinations.get(id) ?? []).map((each) => ({
          id: each.id,
          name: 'assessment-objective',
          props: [labelProp(collapseLine(each.title))],
          prose: collapseLine(each.text),
        })),
      ],
    };
  };
}

function rev3Reader(data: Cprt): RequirementReader {
  const elements = uniqueBy(data.elements, ({ id }) => id, 'the element ');
  const itemsBelow = statementItems(data, elements);
  const relationsFrom = Map.groupBy(data.relationships, ({ from }) => from);
  const determined = Map.groupBy(data.relationships, ({ to }) => to);
  const parameters = byRequirement(data, 'odp');
  const determinations = byRequirement(data, 'determination');
  const methods = methodNames.map((method) => [method, byRequirement(data, method.toLowerCase())] as const);

  const partOf = (element: CprtElement | undefined): object => ({
    id: element?.id,
    name: 'item',
    prose: element?.text,
    parts: (itemsBelow.get(element?.id ?? '') ?? []).map(partOf),
  });

  function parameterOf({ id, title }: CprtElement): object {
    const below = (relationsFrom.get(id) ?? []).map(({ to }) => elements.get(to));
    const words = collapseLine(below.find((each) => each?.type === 'odp_statement')?.text ?? title);
    const selection = below.find((each) => each?.type === 'odp_type')?.id;
    const parameter = { id, props: [labelProp(id)] };
    if (selection !== 'multi_select' && selection !== 'single_select')
      return { ...parameter, label: words.replace(/^organization-defined /, '') };
    const howMany = selection === 'multi_select' ? 'one-or-more' : 'one';
    return { ...parameter, select: { 'how-many': howMany, choice: splitAtSemicolons(words) } };
  }

  function objectiveOf({ id, text }: CprtElement): object {
    const item = determined.get(id)?.find(({ from }) => from.startsWith('SR-'));
    return {
      id,
      name: 'assessment-objective',
      props: [labelProp(id.replace(/^DS-/, ''))],
      links: item === undefined ? [] : [{ rel: 'assessment-for', href: `#${item.from}` }],
      // `<A.03.01.01.ODP[01]: time period>` inserts a parameter.
      prose: text.replace(/<([^<>:]+):([^<>]*)>/g, (_, parameter: string, words: string) =>
        elements.get(parameter)?.type === 'odp'
          ? `{{ insert: param, ${parameter} }}`
          : `[Assignment: ${words.trim()}]`,
      ),
    };
  }

  return ({ id }) => {
    const withdrawal = `WR-${id}`;
    if (elements.has(withdrawal))
      return {
        props: [{ name: 'status', value: 'withdrawn' }],
        links: (relationsFrom.get(withdrawal) ?? []).map(({ type, to }) => ({ rel: type, href: to })),
      };
    // The file has parameters in no order.
    const sorted = (parameters.get(id) ?? []).toSorted((a, b) => compareCodePoints(a.id, b.id));
    const discussion = elements.get(`D-${id}`)?.text ?? '';
    return {
      params: sorted.map(parameterOf),
      parts: [
        { ...partOf(elements.get(`SR-${id}`)), name: 'statement' },
        { name: 'guidance', prose: discussion.replace(/<\/?a\b[^<>]*>/g, '') },
        ...(determinations.get(id) ?? []).map(objectiveOf),
        ...methods.flatMap(([method, stated]) =>
          (stated.get(id) ?? []).map(({ text }) => methodOf(method, text)),
        ),
      ],
    };
  };
}

/** The items of statements by the id of their parent, sorted: the file has them in no order. */
function statementItems(data: Cprt, elements: Map<string, CprtElement>): Map<string, CprtElement[]> {
  const parentOf = (id: string) => id.slice(0, id.lastIndexOf('.'));
  const items = data.elements
    .filter(({ type }) => type === 'security_requirement')
    .sort((a, b) => compareCodePoints(a.id, b.id));
  for (const { id } of items) {
    const match = /^SR-\d\d\.\d\d\.\d\d(\.[a-z](?:\.\d\d)?)?$/.exec(id);
    if (match === null) throw new ImportError(`"${excerpt(id)}" is not part of a statement of 800-171 Rev 3`);
    if (match[1] !== undefined && !elements.has(parentOf(id)))
      throw new ImportError(`the part ${id} of a statement has no parent ${parentOf(id)}`);
  }
  return Map.groupBy(items, ({ id }) => parentOf(id));
}

/** `[SELECT FROM: a; b]` has two objects. */
function methodOf(method: string, text: string): object {
  const objects = splitAtSemicolons(text.trim().replace(/^\[SELECT FROM:(.*)\]$/s, '$1'));
  return {
    name: 'assessment-method',
    props: [{ name: 'method', value: method }],
    parts: [{ name: 'assessment-objects', prose: objects.join('\n\n') }],
  };
}

function splitAtSemicolons(text: string): string[] {
  return text
    .split(';')
    .map(collapseLine)
    .filter((each) => each !== '');
}

/** The published relations of Rev 3 to releases of 800-53. */
function pairsIn({ relationships }: Cprt, fromVersion: string): MappingPair[] {
  return relationships.flatMap(({ type, from, to, document }) => {
    const release = /^SP_800_53_(\d+(?:_\d+)*)$/.exec(document)?.[1];
    if (type !== 'external_reference' || release === undefined) return [];
    const fromIdentifier = canonicalIdentifier(framework, from);
    const toIdentifier = canonicalIdentifier('nist-800-53', to);
    if (!fromIdentifier?.startsWith('0') || toIdentifier === null)
      throw new ImportError(`the reference ${excerpt(from)} -> ${excerpt(to)} is not understood`);
    return [
      {
        fromFramework: framework,
        fromVersion,
        fromIdentifier,
        toFramework: 'nist-800-53',
        toVersion: `Rev ${release.replaceAll('_', '.')}`,
        toIdentifier,
        reference: to,
      },
    ];
  });
}

const elementTypes = [
  'family',
  'requirement',
  'requirement_type',
  'security_requirement',
  'discussion',
  'determination',
  'examine',
  'interview',
  'test',
  'odp',
  'odp_statement',
  'odp_type',
];
const relationTypes = ['projection', 'incorporated_into', 'addressed_by', 'external_reference'];

/** Warnings that name what an export states and is not stored, once with its count. A withdrawal has its targets. */
function unreadIn({ elements, relationships }: Cprt): string[] {
  const losses = createLosses();
  for (const { type } of elements) if (!elementTypes.includes(type)) losses.add(`element ${type}`);
  for (const { type, document } of relationships) {
    // Of the references to other documents those to 800-53 make pairs.
    const isForeign = type === 'external_reference' && !document.startsWith('SP_800_53_');
    if (isForeign || !relationTypes.includes(type)) losses.add(`relationship ${type}`);
  }
  return losses.warnings();
}
