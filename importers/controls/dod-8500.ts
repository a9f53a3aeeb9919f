import { macNames } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { childrenOf, textIn, textOf, type XmlElement, type XmlNode } from '../../src/read/xml.ts';
import { createLosses } from '../read/losses.ts';
import { collapseLine, collapseLines, excerpt } from '../read/source-text.ts';
import { countLosses } from '../read/tree-losses.ts';
import { type ControlsResult, catalogRecord, controlRecord, withKind } from './catalog.ts';
import type { ControlRecord } from './control-record.ts';

const kind = 'dod-8500';
const framework = 'dod-8500';

/** The label of the only edition. */
export const dod8500Version = 'DoDI 8500.2 (2003)';

/** Levels and impact codes as the API writes them, in order. */
export const macLevels = macNames;
export const confidentialityLevels = ['CLASSIFIED', 'SENSITIVE', 'PUBLIC'];
export const impactCodes = ['Low', 'Medium', 'High'] as const;

const read = {
  IMPORT_FILE: { many: ['IACONTROL'] },
  IACONTROL: {
    one: [
      'CONTROL_NUMBER',
      'CONTROL_NAME',
      'SUBJECT_AREA',
      'IMPACT_CODE',
      'DESCRIPTION',
      'THREAT',
      'GENERAL_IMPLEMENTATION_GUIDANCE',
      'SYSTEM_SPECIFIC_GUIDANCE_RESOURCES',
    ],
    many: ['MACCONF'],
  },
  MACCONF: { many: ['MAC', 'CONF'] },
  CONTROL_NUMBER: { attributes: ['title'] },
};

/** True for the root element of DISA's import file of IA controls. */
export function isDod8500(root: XmlElement): boolean {
  return root.name === 'IMPORT_FILE' && root.uri === 'urn:FindingImport';
}

/**
 * Reads the IA controls of DoDI 8500.2 from DISA's import file (rule F7), with a warning for a control without levels.
 * Throws `ImportError` for an incomplete control and an unknown level or impact code.
 */
export function parseDod8500(root: XmlNode): ControlsResult {
  return withKind(kind, () => {
    const nodes = childrenOf(root, 'IACONTROL');
    const controls = nodes.map((node, index) => readControl(node, index + 1));
    const warnings = controls
      .filter((each) => each.macLevels?.length === 0 && each.confidentialityLevels?.length === 0)
      .map(
        ({ identifier }) =>
          `${identifier} has neither a mission assurance category nor a confidentiality level`,
      );
    const losses = createLosses();
    countLosses(root, read, losses);
    for (const [index, { title }] of controls.entries()) {
      const [number] = childrenOf(nodes[index]!, 'CONTROL_NUMBER');
      const stated = collapseLine(number?.attributes.title ?? '');
      if (stated !== '' && stated !== title) losses.add('CONTROL_NUMBER@title other than CONTROL_NAME');
    }
    const record = catalogRecord({ framework, version: dod8500Version, edition: '' }, controls);
    return { kind, records: [record], warnings: [...warnings, ...losses.warnings()] };
  });
}

function readControl(node: XmlNode, position: number): ControlRecord {
  const number = collapseLine(textIn(node, 'CONTROL_NUMBER'));
  const identifier = canonicalIdentifier(framework, number);
  if (identifier === null)
    throw new ImportError(
      `the CONTROL_NUMBER "${excerpt(number)}" of IACONTROL ${position} is not an IA control`,
    );
  const required = (name: string): string => {
    const text = collapseLines(textIn(node, name));
    if (text === '') throw new ImportError(`${identifier} has no ${name}`);
    return text;
  };
  /** The known one of a level or code; The file writes them without blanks. */
  const known = <T extends string>(name: string, text: string, names: readonly T[]): T => {
    const found = names.find((each) => each.replace(' ', '') === text);
    if (found !== undefined) return found;
    throw new ImportError(`${identifier} has the ${name} "${excerpt(text)}", which is unknown`);
  };
  const levels = (name: string, names: string[]): string[] => {
    const stated = childrenOf(node, 'MACCONF')
      .flatMap((each) => childrenOf(each, name))
      .map((level) => known(name, textOf(level).trim(), names));
    return names.filter((each) => stated.includes(each));
  };
  return controlRecord(framework, {
    identifier,
    title: collapseLine(required('CONTROL_NAME')),
    family: collapseLine(required('SUBJECT_AREA')),
    statement: required('DESCRIPTION'),
    guidance: collapseLines(textIn(node, 'GENERAL_IMPLEMENTATION_GUIDANCE')),
    threat: collapseLines(textIn(node, 'THREAT')),
    resources: collapseLines(textIn(node, 'SYSTEM_SPECIFIC_GUIDANCE_RESOURCES')),
    macLevels: levels('MAC', macLevels),
    confidentialityLevels: levels('CONF', confidentialityLevels),
    impactCode: known('IMPACT_CODE', required('IMPACT_CODE'), impactCodes),
  });
}
