import { besideCcis, ccisIn } from '../../src/catalog/controls/id-grammar.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { childrenOf, elementsOf, type XmlNode } from '../../src/read/xml.ts';
import type { Losses } from '../read/losses.ts';
import { descriptionTagOf, readDescription, unwrap } from './xccdf-description.ts';
import { dublinCoreOf } from './xccdf-losses.ts';
import type { XccdfFinding } from './xccdf-record.ts';
import { joinTexts, plainText } from './xccdf-text.ts';

/** What reading the rules of a benchmark finds beside their texts. */
export interface RuleNotes {
  losses: Losses;
  /** What rules have that is read in a way of our own, with their ids. */
  remarks: Map<string, string[]>;
  /** The ids of the rules that were read. */
  ruleIds: Set<string>;
}

const prefix12 = /^xccdf_mil\.disa\.stig_(?:benchmark|group|rule|profile)_/;

/** An id without the prefix of XCCDF 1.2 (rule F1.7): 1.1 and 1.2 give the same ids. */
export function idOf(stated = ''): string {
  return stated.replace(prefix12, '');
}

/** The text of the first child element with a name that has text. */
export function firstText(node: XmlNode, name: string): string {
  return textsOf(node, name).find((text) => text !== '') ?? '';
}

const textsOf = (node: XmlNode, name: string) => childrenOf(node, name).map((child) => plainText(child));

/** The rules of a group itself as findings (rules F1.4 and F1.5). Throws `ImportError`. */
export function readGroup(node: XmlNode, notes: RuleNotes): XccdfFinding[] {
  const group = {
    groupId: idOf(node.attributes.id),
    groupTitle: firstText(node, 'title'),
    groupDescription: unwrap(firstText(node, 'description'), 'GroupDescription'),
  };
  if (group.groupId === '') throw new ImportError('a group has no id');
  const rules = childrenOf(node, 'Rule');
  if (rules.length === 0 && `${group.groupTitle}${group.groupDescription}` !== '')
    notes.losses.add('Group without a rule of its own');
  return rules.map((rule) => readRule(rule, group, notes));
}

type GroupFields = Pick<XccdfFinding, 'groupId' | 'groupTitle' | 'groupDescription'>;

function readRule(rule: XmlNode, group: GroupFields, notes: RuleNotes): XccdfFinding {
  const { losses, remarks, ruleIds } = notes;
  const ruleId = idOf(rule.attributes.id);
  const shortId = ruleId.slice(0, 64);
  if (ruleId.trim() === '') throw new ImportError(`a rule of group ${group.groupId.slice(0, 64)} has no id`);
  if (ruleIds.has(ruleId)) throw new ImportError(`the rule id ${shortId} occurs twice`);
  ruleIds.add(ruleId);
  const remark = (what: string) => remarks.set(what, [...(remarks.get(what) ?? []), shortId]);
  const weight = rule.attributes.weight?.trim() || '10.0';
  if (!Number.isFinite(Number(weight))) remark(`the weight "${weight.slice(0, 20)}", which is not a number`);
  const descriptions = childrenOf(rule, 'description').map((each) => plainText(each, descriptionTagOf));
  const parts = readDescription(descriptions.join('\n\n'), losses);
  const targets = childrenOf(rule, 'reference').flatMap((each) => dublinCoreOf(each, 'identifier'));
  for (const _other of targets.slice(1)) losses.add('reference/identifier beside the first');
  const fixIds = [
    ...childrenOf(rule, 'fixtext').map((each) => each.attributes.fixref),
    ...childrenOf(rule, 'fix').map((each) => each.attributes.id),
  ];
  return {
    ...group,
    ruleId,
    ruleVersion: firstText(rule, 'version'),
    severity: readSeverity(rule, remark),
    weight,
    ruleTitle: firstText(rule, 'title'),
    ...parts,
    referenceIdentifier: targets[0] ?? null,
    ...readIdents(rule, remark, losses),
    fixText: joinTexts(textsOf(rule, 'fixtext')),
    fixId: fixIds.find((id) => id) ?? '',
    ...readChecks(rule, losses),
  };
}

/** The severity of a rule. None or `unknown`, the default of XCCDF, counts as medium, `info` as low, with a remark. */
function readSeverity(rule: XmlNode, remark: (what: string) => void): XccdfFinding['severity'] {
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
      remark('no severity, and counts as medium');
      return 'medium';
    default: {
      const ruleId = idOf(rule.attributes.id).slice(0, 64);
      throw new ImportError(`the rule ${ruleId} has the severity "${stated.slice(0, 20)}"`);
    }
  }
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
  losses: Losses,
): Pick<XccdfFinding, 'checkSystem' | 'checkContent' | 'checkRefHref' | 'checkRefName'> {
  const checks = checksIn(rule).map((check) => ({
    system: check.attributes.system ?? '',
    content: joinTexts(textsOf(check, 'check-content')),
    reference: childrenOf(check, 'check-content-ref')[0]?.attributes,
  }));
  const [first, ...others] = checks;
  for (const { content, reference } of others)
    if (content === '' && reference) losses.add('check-content-ref of a check beside the first');
  return {
    checkSystem: first?.system ?? '',
    checkContent: joinTexts(checks.map(({ content }) => content)),
    checkRefHref: first?.reference ? (first.reference.href ?? '') : null,
    checkRefName: first?.reference ? (first.reference.name ?? '') : null,
  };
}

/** The checks in an element, those of complex checks too. */
export function checksIn(node: XmlNode): XmlNode[] {
  return elementsOf(node)
    .filter(({ uri }) => uri === node.uri)
    .flatMap((child) => {
      if (child.name === 'complex-check') return checksIn(child);
      return child.name === 'check' ? [child] : [];
    });
}
