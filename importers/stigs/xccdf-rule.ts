import { besideCcis, ccisIn } from '../../src/catalog/controls/id-grammar.ts';
import { childrenOf, elementsOf, type XmlNode } from '../../src/read/xml.ts';
import type { Losses } from '../read/losses.ts';
import { descriptionTagOf, readDescription, unwrap } from './xccdf-description.ts';
import { dublinCoreOf } from './xccdf-losses.ts';
import type { XccdfFinding } from './xccdf-record.ts';
import { joinTexts, plainText } from './xccdf-text.ts';

/** What reading the groups of a benchmark finds beside their rules. */
export interface GroupNotes {
  groupIds: Set<string>;
  losses: Losses;
  /** What rules have that is read in a way of our own, with their ids. */
  remarks: Map<string, string[]>;
  /** Why a manual STIG with such rules is refused. */
  faults: string[];
  /** Whether a rule has a check in OVAL or OCIL. */
  isAutomated: boolean;
}

const prefix12 = /^xccdf_mil\.disa\.stig_(?:benchmark|group|rule|profile)_/;

/** An id without the prefix of XCCDF 1.2 (rule F1.7): 1.1 and 1.2 give the same ids. */
export function idOf(stated = ''): string {
  return stated.replace(prefix12, '');
}

/** The text of the first child element with a name that has text. */
export function firstText(node: XmlNode, name: string): string {
  return (
    childrenOf(node, name)
      .map((child) => plainText(child))
      .find((text) => text !== '') ?? ''
  );
}

/** The rules of a group as findings, and those of the groups in it, in document order (rules F1.4 and F1.5). */
export function readGroup(node: XmlNode, notes: GroupNotes): XccdfFinding[] {
  const groupId = idOf(node.attributes.id);
  const rules = childrenOf(node, 'Rule');
  const group = {
    groupId,
    groupTitle: firstText(node, 'title'),
    groupDescription: unwrap(firstText(node, 'description'), 'GroupDescription'),
  };
  notes.groupIds.add(groupId);
  if (groupId === '') notes.faults.push('a group has no id');
  if (rules.length === 0 && `${group.groupTitle}${group.groupDescription}` !== '')
    notes.losses.add('Group without a rule of its own');
  return [
    ...rules.map((rule) => readRule(rule, group, notes)),
    ...childrenOf(node, 'Group').flatMap((inner) => readGroup(inner, notes)),
  ];
}

type GroupFields = Pick<XccdfFinding, 'groupId' | 'groupTitle' | 'groupDescription'>;

function readRule(rule: XmlNode, group: GroupFields, notes: GroupNotes): XccdfFinding {
  const { losses } = notes;
  const ruleId = idOf(rule.attributes.id);
  const remark = (what: string) => {
    const ids = notes.remarks.get(what) ?? [];
    ids.push(ruleId.slice(0, 64));
    notes.remarks.set(what, ids);
  };
  if (ruleId.trim() === '') notes.faults.push(`a rule of group ${group.groupId.slice(0, 64)} has no id`);
  const weight = rule.attributes.weight?.trim() || '10.0';
  if (!Number.isFinite(Number(weight))) remark(`the weight "${weight.slice(0, 20)}", which is not a number`);
  const descriptions = childrenOf(rule, 'description').map((each) => plainText(each, descriptionTagOf));
  const parts = readDescription(descriptions.join('\n\n'), losses);
  const targets = childrenOf(rule, 'reference').flatMap((each) => dublinCoreOf(each, 'identifier'));
  for (const _other of targets.slice(1)) losses.add('reference/identifier beside the first');
  const fixTexts = childrenOf(rule, 'fixtext');
  const fixIds = [
    ...fixTexts.map((each) => each.attributes.fixref),
    ...childrenOf(rule, 'fix').map((each) => each.attributes.id),
  ];
  const { ccis, legacyIds } = readIdents(rule, remark, losses);
  const checks = readChecks(rule, notes);
  return {
    groupId: group.groupId,
    groupTitle: group.groupTitle,
    groupDescription: group.groupDescription,
    ruleId,
    ruleVersion: firstText(rule, 'version'),
    severity: readSeverity(rule, ruleId, remark, notes.faults),
    weight,
    ruleTitle: firstText(rule, 'title'),
    vulnDiscussion: parts.VulnDiscussion,
    falsePositives: parts.FalsePositives,
    falseNegatives: parts.FalseNegatives,
    documentable: parts.Documentable,
    mitigations: parts.Mitigations,
    severityOverrideGuidance: parts.SeverityOverrideGuidance,
    potentialImpacts: parts.PotentialImpacts,
    thirdPartyTools: parts.ThirdPartyTools,
    mitigationControl: parts.MitigationControl,
    responsibility: parts.Responsibility,
    iaControls: parts.IAControls,
    referenceIdentifier: targets[0] ?? null,
    ccis,
    legacyIds,
    fixText: joinTexts(fixTexts.map((each) => plainText(each))),
    fixId: fixIds.find((id) => id) ?? '',
    checkSystem: checks.checkSystem,
    checkContent: checks.checkContent,
    checkRefHref: checks.checkRefHref,
    checkRefName: checks.checkRefName,
  };
}

/** The severity of a rule. None or `unknown`, the default of XCCDF, counts as medium, `info` as low, with a remark. */
function readSeverity(
  rule: XmlNode,
  ruleId: string,
  remark: (what: string) => void,
  faults: string[],
): XccdfFinding['severity'] {
  const stated = (rule.attributes.severity ?? '').trim().toLowerCase();
  switch (stated) {
    case 'high':
    case 'medium':
    case 'low':
      return stated;
    case 'info':
      remark('the severity "info", and counts as low');
      return 'low';
    case 'unknown':
    case '':
      break;
    default:
      faults.push(`the rule ${ruleId.slice(0, 64)} has the severity "${stated.slice(0, 20)}"`);
  }
  remark('no severity, and counts as medium');
  return 'medium';
}

function systemIs(system: string, name: string): boolean {
  const end = system.trim().slice(-40).toLowerCase().replace(/\/+$/, '');
  return end.endsWith(`/${name}`) || end === name;
}

/** The CCIs of idents, each once, and the former ids; one ident may hold several (rule F1.4). */
function readIdents(
  rule: XmlNode,
  remark: (what: string) => void,
  losses: Losses,
): Pick<XccdfFinding, 'ccis' | 'legacyIds'> {
  const ccis = new Set<string>();
  const legacyIds: string[] = [];
  for (const ident of childrenOf(rule, 'ident')) {
    const { system = '' } = ident.attributes;
    const text = plainText(ident);
    if (systemIs(system, 'legacy')) legacyIds.push(...text.split(/[\s,;]+/).filter((id) => id !== ''));
    else if (systemIs(system, 'cci') || (system.trim() === '' && /^cci/i.test(text))) {
      // Some write the number alone.
      const named = /^\d{6}(?!\d)/.test(text) ? `CCI-${text}` : text;
      for (const cci of ccisIn(named)) ccis.add(cci);
      if (besideCcis(named) !== '') remark(`the CCI "${text.slice(0, 40)}", which is not a CCI`);
    } else if (text !== '') losses.add(`Rule/ident of the system "${system}"`);
  }
  return { ccis: [...ccis], legacyIds };
}

/** The checks of a rule as one: the texts of all, the system and the reference of the first. */
function readChecks(
  rule: XmlNode,
  notes: GroupNotes,
): Pick<XccdfFinding, 'checkSystem' | 'checkContent' | 'checkRefHref' | 'checkRefName'> {
  const checks = checksIn(rule).map((check) => ({
    system: check.attributes.system ?? '',
    content: joinTexts(childrenOf(check, 'check-content').map((each) => plainText(each))),
    reference: childrenOf(check, 'check-content-ref')[0]?.attributes,
  }));
  notes.isAutomated ||= checks.some(({ system }) => /oval|ocil/i.test(system));
  const [first, ...others] = checks;
  for (const { content, reference } of others)
    if (content === '' && reference) notes.losses.add('check-content-ref of a check beside the first');
  return {
    checkSystem: first?.system ?? '',
    checkContent: joinTexts(checks.map(({ content }) => content)),
    checkRefHref: first?.reference ? (first.reference.href ?? '') : null,
    checkRefName: first?.reference ? (first.reference.name ?? '') : null,
  };
}

/** The checks in an element, those of complex checks too. */
function checksIn(node: XmlNode): XmlNode[] {
  return elementsOf(node)
    .filter(({ uri }) => uri === node.uri)
    .flatMap((child) => {
      if (child.name === 'complex-check') return checksIn(child);
      return child.name === 'check' ? [child] : [];
    });
}
