import { compareCodePoints } from '../../src/base/text.ts';
import { canonicalIdentifier, familyCodeOf } from '../../src/catalog/controls/identifier.ts';
import type { StatementPart } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { closeUp, collapseLine, collapseLines, excerpt } from '../read/source-text.ts';
import { catalogRecord, controlRecord, inCatalogOrder } from './catalog.ts';
import type { CatalogRecord, ControlRecord, MappingPair, MappingRecord } from './control-record.ts';
import { createAssessments } from './cprt-assessment.ts';
import type { Cprt, CprtElement } from './cprt-shape.ts';
import { labelOfItem, renderStatement } from './statement.ts';

const framework = 'nist-800-171';
const version = 'Rev 3';

/** Reads 800-171 Rev 3 and its published mapping to 800-53. Throws `ImportError` naming what is broken. */
export function readRev3(data: Cprt): [CatalogRecord, MappingRecord] {
  const edition = data.documents[0]!.version;
  const elements = elementsById(data);
  const itemsBelow = statementItems(data, elements);
  const assessmentOf = createAssessments(data, elements);
  const successors = data.relationships.filter(({ type }) =>
    ['incorporated_into', 'addressed_by'].includes(type),
  );

  function readRequirement(element: CprtElement): ControlRecord {
    const identifier = canonicalIdentifier(framework, element.id);
    if (!identifier?.startsWith('0'))
      throw new ImportError(`"${excerpt(element.id)}" is not a requirement of 800-171 Rev 3`);
    const family = elements.get(familyCodeOf(framework, identifier));
    if (family?.type !== 'family') throw new ImportError(`the requirement ${identifier} has no family`);
    const head = {
      identifier,
      title: collapseLine(element.title),
      family: collapseLine(family.title),
    };
    if (elements.has(`WR-${identifier}`))
      return controlRecord(framework, {
        ...head,
        status: 'withdrawn',
        withdrawnInto: readTargets(identifier),
      });
    const statementParts = readStatement(identifier);
    const discussion = elements.get(`D-${identifier}`)?.text ?? '';
    return controlRecord(framework, {
      ...head,
      statement: renderStatement(statementParts),
      statementParts,
      guidance: closeUp(collapseLines(discussion.replace(/<\/?a\b[^<>]*>/g, ''))),
      ...assessmentOf(identifier),
    });
  }

  function readTargets(identifier: string): string[] {
    const targets = successors.filter(({ from }) => from === `WR-${identifier}`).map(({ to }) => to);
    const unknown = targets.find((target) => elements.get(target)?.type !== 'requirement');
    if (unknown === undefined) return inCatalogOrder(framework, targets);
    throw new ImportError(
      `${identifier} is incorporated into "${excerpt(unknown)}", which is not a requirement`,
    );
  }

  function readStatement(identifier: string): StatementPart[] {
    const id = `SR-${identifier}`;
    const lead = elements.get(id);
    if (!lead) throw new ImportError(`the requirement ${identifier} has no statement and is not withdrawn`);
    const parts = readItems(id);
    const prose = collapseLine(lead.text);
    if (prose === '' && parts.length === 0)
      throw new ImportError(`the statement of the requirement ${identifier} is empty`);
    return prose === '' ? parts : [{ id, label: '', prose, parts: [] }, ...parts];
  }

  const readItems = (parent: string): StatementPart[] =>
    (itemsBelow.get(parent) ?? []).map(({ id, text }) => ({
      id,
      label: labelOfItem(id),
      prose: closeUp(collapseLine(text)),
      parts: readItems(id),
    }));

  const controls = data.elements.filter(({ type }) => type === 'requirement').map(readRequirement);
  const pairs = readPairs(data);
  return [
    catalogRecord({ framework, version, edition }, controls),
    { type: 'mapping', fromFramework: framework, fromVersion: version, edition, pairs },
  ];
}

function elementsById(data: Cprt): Map<string, CprtElement> {
  const elements = new Map<string, CprtElement>();
  for (const element of data.elements) {
    if (elements.has(element.id)) throw new ImportError(`the element ${excerpt(element.id)} occurs twice`);
    elements.set(element.id, element);
  }
  return elements;
}

/** The items of statements by the id of their parent, sorted: the file has them in no order. */
function statementItems(data: Cprt, elements: Map<string, CprtElement>): Map<string, CprtElement[]> {
  const parentOf = (id: string) => id.slice(0, id.lastIndexOf('.'));
  const items = data.elements
    .filter(({ type }) => type === 'security_requirement')
    .sort((a, b) => compareCodePoints(a.id, b.id));
  for (const { id } of items) {
    if (!/^SR-\d\d\.\d\d\.\d\d(?:\.[a-z](?:\.\d\d)?)?$/.test(id))
      throw new ImportError(`"${excerpt(id)}" is not part of a statement of 800-171 Rev 3`);
    if (labelOfItem(id) !== '' && !elements.has(parentOf(id)))
      throw new ImportError(`the part ${id} of a statement has no parent ${parentOf(id)}`);
  }
  return Map.groupBy(items, ({ id }) => parentOf(id));
}

function readPairs({ relationships }: Cprt): MappingPair[] {
  return relationships.flatMap(({ type, from, to, document }) => {
    const release = /^SP_800_53_(\d+(?:_\d+)*)$/.exec(document)?.[1];
    if (type !== 'external_reference' || release === undefined) return [];
    const fromIdentifier = canonicalIdentifier(framework, from);
    const toIdentifier = canonicalIdentifier('nist-800-53', to);
    if (!fromIdentifier?.startsWith('0') || toIdentifier === null)
      throw new ImportError(`the reference ${excerpt(from)} -> ${excerpt(to)} is not understood`);
    const toVersion = `Rev ${release.replaceAll('_', '.')}`;
    return [{ fromIdentifier, toFramework: 'nist-800-53', toVersion, toIdentifier, reference: to }];
  });
}
