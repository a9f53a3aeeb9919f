import { compareCodePoints } from '../../src/base/text.ts';
import { canonicalIdentifier, familyCodeOf } from '../../src/catalog/controls/identifier.ts';
import type { StatementPart } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { closeUp, collapseLine, collapseLines, excerpt } from '../read/source-text.ts';
import { catalogRecord, controlRecord, inCatalogOrder } from './catalog.ts';
import type { CatalogRecord, ControlRecord, MappingPair, MappingRecord } from './control-record.ts';
import { type AssessmentOf, readAssessmentRev3 } from './cprt-assessment.ts';
import type { Cprt, CprtElement } from './cprt-shape.ts';
import { labelOfItem, renderStatement } from './statement.ts';

const kind = 'cprt';
const framework = 'nist-800-171';

/** Reads 800-171 Rev 3 and its published mapping to 800-53. Throws `ImportError` naming what is broken. */
export function readRev3(data: Cprt): [CatalogRecord, MappingRecord] {
  const edition = data.documents[0]!.version;
  const source = new Rev3Source(data);
  const controls = source.requirements.map((element) => source.readRequirement(element));
  const mapping: MappingRecord = {
    type: 'mapping',
    fromFramework: framework,
    fromVersion: 'Rev 3',
    edition,
    pairs: readPairs(data),
  };
  return [catalogRecord(kind, { framework, version: 'Rev 3', edition }, controls), mapping];
}

class Rev3Source {
  readonly requirements: CprtElement[];
  private readonly elements = new Map<string, CprtElement>();
  /** Items by the id of their parent, sorted: the file has them in no order. */
  private readonly items: Map<string, CprtElement[]>;
  private readonly assessmentOf: AssessmentOf;
  private readonly targets: Map<string, Cprt['relationships']>;

  constructor(data: Cprt) {
    for (const element of data.elements) {
      const id = element.element_identifier;
      if (this.elements.has(id)) throw new ImportError(`the element ${excerpt(id)} occurs twice`, kind);
      this.elements.set(id, element);
    }
    this.assessmentOf = readAssessmentRev3(data);
    this.requirements = data.elements.filter((element) => element.element_type === 'requirement');
    const items = data.elements.filter((element) => element.element_type === 'security_requirement');
    items.sort((a, b) => compareCodePoints(a.element_identifier, b.element_identifier));
    const parentOf = (id: string) => id.slice(0, id.lastIndexOf('.'));
    for (const { element_identifier: id } of items) {
      if (!/^SR-\d\d\.\d\d\.\d\d(?:\.[a-z](?:\.\d\d)?)?$/.test(id))
        throw new ImportError(`"${excerpt(id)}" is not part of a statement of 800-171 Rev 3`, kind);
      if (labelOfItem(id) !== '' && !this.elements.has(parentOf(id)))
        throw new ImportError(`the part ${id} of a statement has no parent ${parentOf(id)}`, kind);
    }
    this.items = Map.groupBy(items, (item) => parentOf(item.element_identifier));
    const targets = data.relationships.filter((relation) =>
      ['incorporated_into', 'addressed_by'].includes(relation.relationship_identifier),
    );
    this.targets = Map.groupBy(targets, (relation) => relation.source_element_identifier);
  }

  readRequirement(element: CprtElement): ControlRecord {
    const identifier = canonicalIdentifier(framework, element.element_identifier);
    if (!identifier?.startsWith('0'))
      throw new ImportError(
        `"${excerpt(element.element_identifier)}" is not a requirement of 800-171 Rev 3`,
        kind,
      );
    const family = this.elements.get(familyCodeOf(framework, identifier));
    if (family?.element_type !== 'family')
      throw new ImportError(`the requirement ${identifier} has no family`, kind);
    const head = { identifier, title: collapseLine(element.title), family: collapseLine(family.title) };
    if (this.elements.has(`WR-${identifier}`)) {
      const withdrawnInto = this.readTargets(identifier);
      return controlRecord(framework, { ...head, status: 'withdrawn', withdrawnInto });
    }
    const statementParts = this.readStatement(identifier);
    const discussion = this.elements.get(`D-${identifier}`)?.text ?? '';
    return controlRecord(framework, {
      ...head,
      statement: renderStatement(statementParts),
      statementParts,
      guidance: closeUp(collapseLines(discussion.replace(/<\/?a\b[^<>]*>/g, ''))),
      ...this.assessmentOf(identifier),
    });
  }

  private readTargets(identifier: string): string[] {
    const relations = this.targets.get(`WR-${identifier}`) ?? [];
    const targets = relations.map((relation) => relation.dest_element_identifier);
    for (const target of targets) {
      if (this.elements.get(target)?.element_type !== 'requirement')
        throw new ImportError(
          `${identifier} is incorporated into "${excerpt(target)}", which is not a requirement`,
          kind,
        );
    }
    return inCatalogOrder(framework, targets);
  }

  private readStatement(identifier: string): StatementPart[] {
    const id = `SR-${identifier}`;
    const lead = this.elements.get(id);
    if (!lead)
      throw new ImportError(`the requirement ${identifier} has no statement and is not withdrawn`, kind);
    const parts = this.readItems(id);
    const prose = collapseLine(lead.text);
    if (prose === '' && parts.length === 0)
      throw new ImportError(`the statement of the requirement ${identifier} is empty`, kind);
    return prose === '' ? parts : [{ id, label: '', prose, parts: [] }, ...parts];
  }

  private readItems(parent: string): StatementPart[] {
    return (this.items.get(parent) ?? []).map(({ element_identifier: id, text }) => ({
      id,
      label: labelOfItem(id),
      prose: closeUp(collapseLine(text)),
      parts: this.readItems(id),
    }));
  }
}

function readPairs(data: Cprt): MappingPair[] {
  return data.relationships.flatMap((relation) => {
    const release = /^SP_800_53_(\d+(?:_\d+)*)$/.exec(relation.dest_doc_identifier)?.[1];
    if (relation.relationship_identifier !== 'external_reference' || release === undefined) return [];
    const { source_element_identifier: from, dest_element_identifier: to } = relation;
    const fromIdentifier = canonicalIdentifier(framework, from);
    const toIdentifier = canonicalIdentifier('nist-800-53', to);
    if (!fromIdentifier?.startsWith('0') || toIdentifier === null)
      throw new ImportError(`the reference ${excerpt(from)} -> ${excerpt(to)} is not understood`, kind);
    const toVersion = `Rev ${release.replaceAll('_', '.')}`;
    return [{ fromIdentifier, toFramework: 'nist-800-53', toVersion, toIdentifier, reference: to }];
  });
}
