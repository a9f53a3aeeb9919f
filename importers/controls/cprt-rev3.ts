import { compareCodePoints } from '../../src/base/text.ts';
import { canonicalIdentifier, familyCodeOf, oscalId } from '../../src/catalog/controls/identifier.ts';
import { methodNames } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import { uniqueBy } from './catalog.ts';
import type { ControlsRecord, MappingPair } from './control-record.ts';
import { byRequirement, type Cprt, type CprtElement } from './cprt-shape.ts';
import { readCatalog } from './oscal-catalog.ts';
import { sp800171 } from './oscal-publication.ts';
import { oscalCatalog } from './oscal-shape.ts';

const framework = 'nist-800-171';

/**
 * Reads 800-171 Rev 3 with the assessments of 800-171A, as a catalog of OSCAL, and its published mapping to 800-53.
 * Throws `ImportError` naming what is broken.
 */
export function readRev3(data: Cprt): { records: ControlsRecord[]; warnings: string[] } {
  const publication = sp800171(data.documents[0]!.version);
  const metadata = { title: 'NIST SP 800-171 Rev 3' };
  const { catalog } = oscalCatalog.parse({ catalog: { metadata, groups: groupsOf(data) } });
  const record = readCatalog(catalog, publication);
  const { version: fromVersion, edition, warnings } = publication;
  const pairs = readPairs(data, fromVersion);
  return {
    records: [record, { type: 'mapping', edition, pairs }],
    warnings,
  };
}

/** The families with their requirements, as groups of OSCAL. */
function groupsOf(data: Cprt): object[] {
  const elements = uniqueBy(data.elements, ({ id }) => id, 'the element ');
  const itemsBelow = statementItems(data, elements);
  const relationsFrom = Map.groupBy(data.relationships, ({ from }) => from);
  const determined = Map.groupBy(data.relationships, ({ to }) => to);
  const parameters = byRequirement(data, 'odp');
  const determinations = byRequirement(data, 'determination');
  const methods = methodNames.map((method) => [method, byRequirement(data, method.toLowerCase())] as const);

  function familyOf({ id }: CprtElement): CprtElement {
    const identifier = canonicalIdentifier(framework, id);
    if (!identifier?.startsWith('0'))
      throw new ImportError(`"${excerpt(id)}" is not a requirement of 800-171 Rev 3`);
    const family = elements.get(familyCodeOf(framework, identifier));
    if (family?.type !== 'family') throw new ImportError(`the requirement ${identifier} has no family`);
    return family;
  }

  function controlOf({ id, title }: CprtElement): object {
    const control = { id: oscalId(framework, id), title: title || id };
    const withdrawal = `WR-${id}`;
    if (elements.has(withdrawal))
      return {
        ...control,
        props: [{ name: 'status', value: 'withdrawn' }],
        links: (relationsFrom.get(withdrawal) ?? []).map(({ type, to }) => ({ rel: type, href: to })),
      };
    // The file has parameters in no order.
    const sorted = (parameters.get(id) ?? []).toSorted((a, b) => compareCodePoints(a.id, b.id));
    const discussion = elements.get(`D-${id}`)?.text ?? '';
    return {
      ...control,
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
  }

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
    const parameter = { id, props: [{ name: 'label', value: id }] };
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
      props: [{ name: 'label', value: id.replace(/^DS-/, '') }],
      links: item === undefined ? [] : [{ rel: 'assessment-for', href: `#${item.from}` }],
      // `<A.03.01.01.ODP[01]: time period>` inserts a parameter.
      prose: text.replace(/<([^<>:]+):([^<>]*)>/g, (_, parameter: string, words: string) =>
        elements.get(parameter)?.type === 'odp'
          ? `{{ insert: param, ${parameter} }}`
          : `[Assignment: ${words.trim()}]`,
      ),
    };
  }

  const requirements = data.elements.filter(({ type }) => type === 'requirement');
  return [...Map.groupBy(requirements, familyOf)].map(([{ title }, members]) => ({
    title,
    controls: members.map(controlOf),
  }));
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

function readPairs({ relationships }: Cprt, fromVersion: string): MappingPair[] {
  return relationships.flatMap(({ type, from, to, document }) => {
    const release = /^SP_800_53_(\d+(?:_\d+)*)$/.exec(document)?.[1];
    if (type !== 'external_reference' || release === undefined) return [];
    const fromIdentifier = canonicalIdentifier(framework, from);
    const toIdentifier = canonicalIdentifier('nist-800-53', to);
    if (!fromIdentifier?.startsWith('0') || toIdentifier === null)
      throw new ImportError(`the reference ${excerpt(from)} -> ${excerpt(to)} is not understood`);
    const toVersion = `Rev ${release.replaceAll('_', '.')}`;
    return [
      {
        fromFramework: framework,
        fromVersion,
        fromIdentifier,
        toFramework: 'nist-800-53',
        toVersion,
        toIdentifier,
        reference: to,
      },
    ];
  });
}
