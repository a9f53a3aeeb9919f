import { besideCcis, ccisIn } from '../../src/catalog/controls/id-grammar.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { Losses } from '../read/losses.ts';
import type { RawRule, XccdfGroup } from './xccdf-builder.ts';
import { readDescription, unwrap } from './xccdf-description.ts';
import type { XccdfFinding } from './xccdf-record.ts';
import { joinTexts } from './xccdf-text.ts';

/** What rules have that is read in a way of our own, with their ids. */
export type Remarks = Map<string, string[]>;

function remark(remarks: Remarks, { id }: RawRule, what: string): void {
  const known = remarks.get(what);
  if (known) known.push(id.slice(0, 64));
  else remarks.set(what, [id.slice(0, 64)]);
}

/** A rule of a benchmark as a finding (rules F1.4 and F1.5). Throws `ImportError` for one without an id. */
export function interpretRule(
  group: XccdfGroup,
  rule: RawRule,
  { remarks, losses }: { remarks: Remarks; losses: Losses },
): XccdfFinding {
  if (rule.id.trim() === '') throw new ImportError(`a rule of group ${group.id.slice(0, 64)} has no id`);
  const weight = rule.weight.trim() || '10.0';
  if (!Number.isFinite(Number(weight)))
    remark(remarks, rule, `the weight "${weight.slice(0, 20)}", which is not a number`);
  const parts = readDescription(rule.descriptions.join('\n\n'), losses);
  for (const _other of rule.identifiers.slice(1)) losses.add('reference/identifier beside the first');
  const [check, ...others] = rule.checks;
  for (const { content, refHref } of others)
    if (content.trim() === '' && refHref !== null)
      losses.add('check-content-ref of a check beside the first');
  return {
    groupId: group.id,
    groupTitle: group.title.trim(),
    groupDescription: unwrap(group.description, 'GroupDescription'),
    ruleId: rule.id,
    ruleVersion: rule.version.trim(),
    severity: readSeverity(rule, remarks),
    weight,
    ruleTitle: rule.title.trim(),
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
    referenceIdentifier: rule.identifiers[0] ?? null,
    ...readIdents(rule, remarks, losses),
    fixText: joinTexts(rule.fixTexts),
    fixId: rule.fixRef || rule.fixId,
    checkSystem: check?.system ?? '',
    checkContent: joinTexts(rule.checks.map((each) => each.content)),
    checkRefHref: check?.refHref ?? null,
    checkRefName: check?.refName ?? null,
  };
}

/** The severity of a rule. None or `unknown`, the default of XCCDF, counts as medium, `info` as low, with a remark. */
function readSeverity(rule: RawRule, remarks: Remarks): XccdfFinding['severity'] {
  const stated = rule.severity.trim().toLowerCase();
  const known = (['high', 'medium', 'low'] as const).find((each) => each === stated);
  if (known !== undefined) return known;
  const id = rule.id.slice(0, 64);
  const counted = stated === 'info' ? 'low' : 'medium';
  if (!['info', 'unknown', ''].includes(stated))
    throw new ImportError(`the rule ${id} has the severity "${stated.slice(0, 20)}"`);
  const named = stated === 'info' ? 'the severity "info"' : 'no severity';
  remark(remarks, rule, `${named}, and counts as ${counted}`);
  return counted;
}

function systemIs(system: string, name: string): boolean {
  const end = system.trim().slice(-40).toLowerCase().replace(/\/+$/, '');
  return end.endsWith(`/${name}`) || end === name;
}

/** The CCIs of idents, each once, and the former ids; one ident may hold several (rule F1.4). */
function readIdents(
  rule: RawRule,
  remarks: Remarks,
  losses: Losses,
): { ccis: string[]; legacyIds: string[] } {
  const ccis = new Set<string>();
  const legacyIds: string[] = [];
  for (const { system, text } of rule.idents) {
    if (systemIs(system, 'legacy')) legacyIds.push(...text.split(/[\s,;]+/).filter((id) => id !== ''));
    else if (systemIs(system, 'cci') || (system.trim() === '' && /^cci/i.test(text))) {
      // Some write the number alone.
      const named = /^\d{6}(?!\d)/.test(text) ? `CCI-${text}` : text;
      for (const cci of ccisIn(named)) ccis.add(cci);
      if (besideCcis(named) !== '')
        remark(remarks, rule, `the CCI "${text.slice(0, 40)}", which is not a CCI`);
    } else if (text !== '') losses.add(`Rule/ident of the system "${system}"`);
  }
  return { ccis: [...ccis], legacyIds };
}
