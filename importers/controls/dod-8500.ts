import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { XmlElement } from '../../src/read/xml.ts';
import { childrenOf, textIn, textOf, type XmlNode } from '../../src/read/xml.ts';
import { createLosses } from '../read/losses.ts';
import { collapseLine, collapseLines, excerpt } from '../read/source-text.ts';
import { countLosses } from '../read/tree-losses.ts';
import { type ControlsResult, catalogRecord, controlRecord } from './catalog.ts';
import type { ControlRecord } from './control-record.ts';

const kind = 'dod-8500';
const framework = 'dod-8500';

/** The label of the only edition. */
export const dod8500Version = 'DoDI 8500.2 (2003)';

/** Levels and impact codes as the API writes them, in order. */
export const macLevels = ['MAC I', 'MAC II', 'MAC III'];
export const confidentialityLevels = ['CLASSIFIED', 'SENSITIVE', 'PUBLIC'];
export const impactCodes = ['Low', 'Medium', 'High'] as const;

const texts = [
  ...['CONTROL_NUMBER', 'CONTROL_NAME', 'SUBJECT_AREA', 'IMPACT_CODE', 'DESCRIPTION', 'THREAT'],
  ...['GENERAL_IMPLEMENTATION_GUIDANCE', 'SYSTEM_SPECIFIC_GUIDANCE_RESOURCES'],
];
const read = {
  IMPORT_FILE: { many: ['IACONTROL'] },
  IACONTROL: { one: texts, many: ['MACCONF'] },
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
  const warnings: string[] = [];
  const nodes = childrenOf(root, 'IACONTROL');
  const controls = nodes.map((node, index) => readControl(node, index + 1));
  for (const control of controls) {
    if (control.macLevels!.length === 0 && control.confidentialityLevels!.length === 0)
      warnings.push(
        `${control.identifier} has neither a mission assurance category nor a confidentiality level`,
      );
  }
  const losses = createLosses();
  countLosses(root, read, losses);
  for (const [index, { title }] of controls.entries()) {
    const [number] = childrenOf(nodes[index]!, 'CONTROL_NUMBER');
    const stated = collapseLine(number?.attributes.title ?? '');
    if (stated !== '' && stated !== title) losses.add('CONTROL_NUMBER@title other than CONTROL_NAME');
  }
  const head = { framework, version: dod8500Version, edition: '' };
  return {
    kind,
    records: [catalogRecord(kind, head, controls)],
    warnings: [...warnings, ...losses.warnings()],
  };
}

function readControl(node: XmlNode, position: number): ControlRecord {
  const number = collapseLine(textIn(node, 'CONTROL_NUMBER'));
  const identifier = canonicalIdentifier(framework, number);
  if (identifier === null)
    throw new ImportError(
      `the CONTROL_NUMBER "${excerpt(number)}" of IACONTROL ${position} is not an IA control`,
      kind,
    );
  const required = (name: string): string => {
    const text = collapseLines(textIn(node, name));
    if (text === '') throw new ImportError(`${identifier} has no ${name}`, kind);
    return text;
  };
  return controlRecord(framework, {
    identifier,
    title: collapseLine(required('CONTROL_NAME')),
    family: collapseLine(required('SUBJECT_AREA')),
    statement: required('DESCRIPTION'),
    guidance: collapseLines(textIn(node, 'GENERAL_IMPLEMENTATION_GUIDANCE')),
    threat: collapseLines(textIn(node, 'THREAT')),
    resources: collapseLines(textIn(node, 'SYSTEM_SPECIFIC_GUIDANCE_RESOURCES')),
    macLevels: readLevels(node, 'MAC', identifier, macLevels),
    confidentialityLevels: readLevels(node, 'CONF', identifier, confidentialityLevels),
    impactCode: readImpact(required('IMPACT_CODE'), identifier),
  });
}

function readLevels(node: XmlNode, name: string, identifier: string, known: string[]): string[] {
  const stated = childrenOf(node, 'MACCONF')
    .flatMap((levels) => childrenOf(levels, name))
    .map((level) => textOf(level).trim());
  for (const level of stated) {
    if (!known.some((each) => each.replace(' ', '') === level))
      throw new ImportError(`${identifier} has the ${name} "${excerpt(level)}", which is unknown`, kind);
  }
  return known.filter((each) => stated.includes(each.replace(' ', '')));
}

function readImpact(text: string, identifier: string): ControlRecord['impactCode'] {
  const code = impactCodes.find((each) => each === text);
  if (!code)
    throw new ImportError(`${identifier} has the IMPACT_CODE "${excerpt(text)}", which is unknown`, kind);
  return code;
}
