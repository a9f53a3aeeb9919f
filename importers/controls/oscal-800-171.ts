import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { readShape } from '../read/json-shape.ts';
import { closeUp, collapseLine, excerpt } from '../read/source-text.ts';
import { type ControlsResult, catalogRecord, controlRecord, inCatalogOrder } from './catalog.ts';
import type { ControlRecord } from './control-record.ts';
import { isWithdrawn, partsOf, readParameters, readStatements } from './oscal-controls.ts';
import { readAssessment } from './oscal-objectives.ts';
import { editionOf } from './oscal-release.ts';
import { type OscalControl, type OscalMetadata, oscalCatalog } from './oscal-shape.ts';
import { createRenderProse, type RenderProse } from './parameters.ts';
import { labelOfItem, renderStatement } from './statement.ts';

const kind = 'oscal-catalog';
const framework = 'nist-800-171';
const idPrefix = 'SP_800_171_';

/** True for the metadata of an OSCAL catalog of SP 800-171 Rev 3. */
export function is800171({ props }: OscalMetadata): boolean {
  return props.some(
    ({ name, value }) => name === 'framework-version-identifier' && /^SP_800_171_3_\d+_\d+$/.test(value),
  );
}

/** Reads SP 800-171 Rev 3 from its OSCAL catalog (rule F6). Throws `ImportError` naming what is broken. */
export function read800171(value: unknown): ControlsResult {
  const { catalog } = readShape(oscalCatalog, value, kind);
  const edition = editionOf(catalog.metadata, kind);
  const warnings: string[] = [];
  const requirements = catalog.groups.flatMap(({ title, controls }) =>
    controls.map((control) => ({
      control,
      family: collapseLine(title),
      identifier: identifierOf(control.id),
    })),
  );
  const identifiers = new Set(requirements.map((each) => each.identifier));
  // The usage has the published wording; the label is shortened or empty.
  const parameters = readParameters(
    requirements.map((each) => each.control),
    ({ label, usage }) => collapseLine(usage) || label.trim(),
  );
  const render = createRenderProse(parameters, warnings);
  const controls = requirements.map(({ control, family, identifier }) =>
    readRequirement(control, family, identifier, identifiers, render),
  );
  const head = { framework, version: 'Rev 3', edition };
  return { kind, records: [catalogRecord(kind, head, controls)], warnings };
}

function identifierOf(id: string): string {
  const identifier = id.startsWith(idPrefix)
    ? canonicalIdentifier(framework, id.slice(idPrefix.length))
    : null;
  if (!identifier?.startsWith('0'))
    throw new ImportError(`the control id "${excerpt(id)}" is not a requirement of 800-171 Rev 3`);
  return identifier;
}

function readRequirement(
  control: OscalControl,
  family: string,
  identifier: string,
  identifiers: Set<string>,
  render: RenderProse,
): ControlRecord {
  const printed = collapseLine(control.title);
  // A withdrawn requirement has its number as its title.
  const head = { identifier, family, title: printed === identifier ? '' : printed };
  if (isWithdrawn(control)) {
    const withdrawnInto = readTargets(control, identifier, identifiers);
    return controlRecord(framework, { ...head, status: 'withdrawn', withdrawnInto });
  }
  // From version 1.0.1 the requirement has the statement; before, a control below it.
  const id = `SR-${identifier}`;
  const statements = [control, ...control.controls]
    .flatMap((each) => partsOf(each, 'statement'))
    .map((statement) => ({ ...statement, id }));
  const statementParts = readStatements(statements, id, render, (part) => labelOfItem(part.id));
  const statement = renderStatement(statementParts);
  if (statement === '')
    throw new ImportError(`the requirement ${identifier} has no statement and is not withdrawn`);
  const guidance = partsOf(control, 'guidance')
    .flatMap((part) => part.prose.split(/\n\s*\n/))
    .map((paragraph) => closeUp(collapseLine(render(paragraph, identifier))))
    .join('\n\n');
  const assessment = readAssessment(control, identifier, render);
  return controlRecord(framework, { ...head, statement, statementParts, guidance, ...assessment });
}

function readTargets(control: OscalControl, identifier: string, identifiers: Set<string>): string[] {
  const links = control.links.filter(({ rel }) => rel === 'incorporated_into' || rel === 'addressed_by');
  const targets = links.map(({ href }) => {
    const target = href.replace(/^#/, '').replace(idPrefix, '');
    if (!identifiers.has(target))
      throw new ImportError(
        `${identifier} is incorporated into "${excerpt(href)}", which is not a requirement`,
      );
    return target;
  });
  return inCatalogOrder(framework, targets);
}
