import { readFileSync } from 'node:fs';
import { XMLParser } from 'fast-xml-parser';

// An independent reading of what controls ask: of the files themselves, with nothing of the importers.

/** What one control asks, as its file states it. */
export interface ReadAssessment {
  parameters: {
    id: string;
    label: string;
    choices: string[];
    howMany: 'one' | 'one-or-more' | null;
    text: string;
  }[];
  objectives: { id: string; label: string; context: string; text: string; link: string | null }[];
  methods: { method: string; objects: string[] }[];
}

// biome-ignore lint/suspicious/noExplicitAny: published files of every shape
type Json = any;

const tidy = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/ (?=[;,:)])| (?=\.(?![\w.]))/g, '')
    .replaceAll('( ', '(');

/** The assessments of an OSCAL catalog in JSON, by the id of the control. `withdrawn` ones are not among them. */
export function readOscalAssessments(
  value: Json,
  wordsOf: (parameter: Json) => string,
): Map<string, ReadAssessment> {
  const controls: Json[] = [];
  const collect = (node: Json): void => {
    for (const group of node.groups ?? []) collect(group);
    for (const control of node.controls ?? []) {
      controls.push(control);
      collect(control);
    }
  };
  collect(value.catalog);
  const parameters = new Map<string, Json>(
    controls.flatMap((control) => (control.params ?? []).map((each: Json) => [each.id, each])),
  );
  const shown = (id: string): string => {
    const parameter = parameters.get(id);
    const choices = parameter.select?.choice;
    if (choices?.length > 0) {
      const many = parameter.select['how-many'] === 'one-or-more' ? ' (one or more)' : '';
      return `[Selection${many}: ${choices.map(filled).join('; ')}]`;
    }
    const words = wordsOf(parameter);
    if (words !== '') return `[Assignment: organization-defined ${bare(filled(words))}]`;
    const first = (parameter.props ?? []).find((prop: Json) => prop.name === 'aggregates');
    return first === undefined ? '[Assignment: organization-defined value]' : shown(first.value);
  };
  const filled = (prose = ''): string =>
    tidy(
      unlinked(prose).replaceAll(/\{\{\s*insert:\s*param,\s*([^\s}]+)\s*\}\}/g, (_, id: string) => shown(id)),
    );
  const propOf = (node: Json, name: string, kind?: string): string | undefined =>
    (node.props ?? []).find((prop: Json) => prop.name === name && (kind === undefined || prop.class === kind))
      ?.value;

  function leaves(part: Json, above: string[]): ReadAssessment['objectives'] {
    const below = (part.parts ?? []).filter((each: Json) => each.name.endsWith('objective'));
    const own = filled(part.prose);
    if (below.length > 0)
      return below.flatMap((each: Json) => leaves(each, own === '' ? above : [...above, own]));
    const link = (part.links ?? []).find((each: Json) => each.rel === 'assessment-for');
    return [
      {
        id: part.id ?? '',
        label: propOf(part, 'label', 'sp800-53a') ?? propOf(part, 'label') ?? '',
        context: above.join(' '),
        text: own,
        link: link?.href.slice(1) ?? null,
      },
    ];
  }

  return new Map(
    controls
      .filter((control) => propOf(control, 'status')?.toLowerCase() !== 'withdrawn')
      .map((control) => [
        control.id as string,
        {
          parameters: (control.params ?? []).map((each: Json) => {
            const choices = (each.select?.choice ?? []).map(filled);
            const many = each.select?.['how-many'] === 'one-or-more' ? 'one-or-more' : 'one';
            return {
              id: each.id,
              label: propOf(each, 'label') ?? '',
              text: shown(each.id),
              choices,
              howMany: choices.length > 0 ? many : null,
            };
          }),
          objectives: (control.parts ?? [])
            .filter((part: Json) => /^(?:assessment-)?objective$/.test(part.name))
            .flatMap((part: Json) => leaves(part, [])),
          methods: (control.parts ?? [])
            .filter((part: Json) => /^assessment(?:-method)?$/.test(part.name))
            .map((part: Json) => ({
              method: propOf(part, 'method'),
              objects: part.parts.flatMap((each: Json) =>
                each.prose.split('\n\n').map(filled).filter(Boolean),
              ),
            })),
        },
      ]),
  );
}

/** A link in Markdown is shown as the control that it leads to, else as its text. */
const unlinked = (prose: string): string =>
  prose.replaceAll(/\[([^[\]]*)\]\((\S*?)\)/g, (_, text: string, target: string) => {
    const [, letters, number, enhancement] = /^#([a-z]{2})-(\d+)(?:\.(\d+))?$/.exec(target) ?? [];
    if (letters === undefined) return text;
    return `${letters.toUpperCase()}-${number}${enhancement === undefined ? '' : `(${enhancement})`}`;
  });

const bare = (words: string): string =>
  words.replace(/^assignment[;:,]? /i, '').replace(/^organization-defined /i, '');

const parser = new XMLParser({
  ignoreAttributes: false,
  preserveOrder: true,
  trimValues: false,
  attributeNamePrefix: '',
});

/** An OSCAL catalog in XML as the JSON that says the same, as far as assessments go. */
export function oscalXmlAsJson(path: string): Json {
  const nodes: Json[] = parser.parse(readFileSync(path, 'utf8'));
  const nameOf = (node: Json): string => Object.keys(node).find((key) => key !== ':@')!;
  const below = (node: Json): Json[] => (nameOf(node) === '#text' ? [] : node[nameOf(node)]);
  const named = (node: Json, name: string): Json[] => below(node).filter((each) => nameOf(each) === name);
  const attributes = (node: Json): Json => node[':@'] ?? {};
  const prose = (node: Json): string =>
    below(node)
      .map((each) => {
        if (nameOf(each) === '#text') return each['#text'];
        return nameOf(each) === 'insert' ? `{{ insert: param, ${attributes(each)['id-ref']} }}` : prose(each);
      })
      .join('');
  const marked = (node: Json) => ({
    ...attributes(node),
    props: named(node, 'prop').map(attributes),
    links: named(node, 'link').map(attributes),
  });
  const part = (node: Json): Json => ({
    ...marked(node),
    prose: named(node, 'p').map(prose).join('\n\n'),
    parts: named(node, 'part').map(part),
  });
  const parameter = (node: Json): Json => {
    const [select] = named(node, 'select');
    return {
      ...marked(node),
      label: named(node, 'label').map(prose).join(''),
      usage: named(node, 'usage').map(prose).join(' '),
      ...(select ? { select: { ...attributes(select), choice: named(select, 'choice').map(prose) } } : {}),
    };
  };
  const inside = (node: Json): Json => ({
    groups: named(node, 'group').map(inside),
    controls: named(node, 'control').map((each) => ({
      ...marked(each),
      params: named(each, 'param').map(parameter),
      parts: named(each, 'part').map(part),
      ...inside(each),
    })),
  });
  return { catalog: inside(nodes.find((node) => nameOf(node) === 'catalog')) };
}

/** The assessments of SP 800-171 in CPRT, by requirement (`03.01.01`). */
export function readCprtAssessments(value: Json, revision: 2 | 3): Map<string, ReadAssessment> {
  const { elements, relationships } = (value.response ?? value).elements.elements
    ? (value.response ?? value).elements
    : (value.response ?? value);
  const requirements = elements.filter((each: Json) => each.element_type === 'requirement');
  const textOf = (id: string): string =>
    elements.find((each: Json) => each.element_identifier === id)?.text ?? '';
  const links = (from: string): string[] =>
    relationships
      .filter((each: Json) => each.source_element_identifier === from)
      .map((each: Json) => each.dest_element_identifier);
  const words = (id: string): ReadAssessment['parameters'][number] => {
    const stated = textOf(`OS-${id.toLowerCase()}`);
    const isMany = links(id).includes('multi_select');
    const isSelection = isMany || links(id).includes('single_select');
    return {
      id,
      label: id,
      choices: isSelection ? stated.split(';').map((each) => each.trim()) : [],
      howMany: isMany ? 'one-or-more' : isSelection ? 'one' : null,
      text: isSelection
        ? `[Selection${isMany ? ' (one or more)' : ''}: ${stated}]`
        : `[Assignment: ${stated}]`,
    };
  };
  const ofType = (requirement: string, type: string): Json[] =>
    elements.filter(
      (each: Json) => each.element_type === type && each.element_identifier.includes(requirement),
    );
  return new Map(
    requirements.map(({ element_identifier: id }: Json) => [
      id,
      {
        parameters: ofType(id, 'odp')
          .map((each) => words(each.element_identifier))
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
        objectives: ofType(id, revision === 2 ? 'security_requirement' : 'determination').map((each) => ({
          id: each.element_identifier,
          label: revision === 2 ? each.title : each.element_identifier.slice(3),
          context: '',
          text: tidy(
            each.text.replaceAll(/<(A[^<>:]*):[^<>]*>/g, (_: string, named: string) => words(named).text),
          ),
          link:
            relationships.find(
              (one: Json) =>
                one.dest_element_identifier === each.element_identifier &&
                one.source_element_identifier.startsWith('SR-'),
            )?.source_element_identifier ?? null,
        })),
        methods: ['examine', 'interview', 'test'].flatMap((type) =>
          ofType(id, type).map(({ text }) => ({
            method: type.toUpperCase(),
            objects: text.slice('[SELECT FROM: '.length, -1).split(';').map(tidy),
          })),
        ),
      },
    ]),
  );
}
