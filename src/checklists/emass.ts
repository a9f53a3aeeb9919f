import { count } from '../base/text.ts';
import { ccisIn } from '../catalog/controls/id-grammar.ts';
import type { CklbRule, CklbStig } from '../catalog/stigs/cklb-schema.ts';
import { longestCell } from '../http/xlsx.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { deviceName } from './device-name.ts';
import type { Fields } from './emass-columns.ts';
import type { EmassBody } from './emass-schema.ts';

export interface CciFacts {
  ccis: Map<string, { definition: string; controls: string[] }>;
  controls: Map<string, string>;
}

export interface CheckedRule {
  host: string;
  stig: CklbStig;
  rule: CklbRule;
  ccis: string[];
}

/** All rules of all checklists, in order. */
export function rulesOf(checklists: OldChecklist[]): CheckedRule[] {
  return checklists.flatMap(({ checklist: { target_data, stigs } }) => {
    const host = deviceName(target_data);
    return stigs.flatMap((stig) =>
      stig.rules.map((rule) => ({ host, stig, rule, ccis: [...new Set(rule.ccis.flatMap(ccisIn))] })),
    );
  });
}

/** The rows of a sheet of test results (rule D30.2): one for each CCI of a rule. */
export function testResultRows(rules: CheckedRule[], facts: CciFacts, asked: EmassBody): Fields[] {
  const cited = rules.flatMap((each) => each.ccis.map((cci) => ({ cci, each })));
  const byCci = Map.groupBy(cited, ({ cci }) => cci);
  // Once for each rule, however many CCIs it has.
  const lines = new Map(
    rules.filter(({ rule }) => rule.status === 'open').map((each) => [each, lineOf(each)] as const),
  );
  return [...byCci.keys()].sort().map((cci) => {
    const found = facts.ccis.get(cci);
    const controls = found?.controls ?? [];
    const { status, results } = tested(
      byCci.get(cci)!.map(({ each }) => each),
      lines,
    );
    return new Map([
      ['control acronym', controls.join(', ')],
      ['control information', controls.map((control) => facts.controls.get(control)).join('\n\n')],
      ['cci', cci.slice('CCI-'.length)],
      ['cci definition', found?.definition ?? ''],
      ['compliance status', status],
      ['date tested', asked.dateTested ?? ''],
      ['tested by', asked.testedBy ?? ''],
      ['test results', results],
    ]);
  });
}

/** The result of a CCI: blank when no rule is open, but one is not reviewed. */
function tested(
  rules: CheckedRule[],
  lines: ReadonlyMap<CheckedRule, string>,
): { status: string; results: string } {
  const of = (status: CklbRule['status']) => rules.filter(({ rule }) => rule.status === status);
  const open = of('open');
  const checks = (number: number) => count(number, 'technical STIG/SRG check');
  if (open.length > 0) {
    const head = 'Non-Compliant. The following technical STIG/SRG checks are open:';
    return {
      status: 'Non-Compliant',
      results: fitted(
        head,
        open.map((each) => lines.get(each)!),
        'open check',
      ),
    };
  }
  const notApplicable = of('not_applicable').length;
  if (notApplicable === rules.length)
    return {
      status: 'Not Applicable',
      results: `Not Applicable. ${checks(notApplicable)}, none applicable.`,
    };
  if (of('not_reviewed').length > 0) return { status: '', results: '' };
  const others = notApplicable === 0 ? '' : `, ${notApplicable} of them not applicable`;
  return { status: 'Compliant', results: `Compliant. ${checks(rules.length)}, none open${others}.` };
}

const categories = { high: 'CAT I', medium: 'CAT II', low: 'CAT III' };
const severities = { high: 'High', medium: 'Moderate', low: 'Low' };
const rawSeverities = { high: 'I', medium: 'II', low: 'III' };

const severityOf = ({ overrides, severity }: CklbRule) => overrides.severity?.severity ?? severity;

const shownHost = ({ host }: CheckedRule) => host || '(no host name)';

function lineOf(checked: CheckedRule): string {
  const { rule } = checked;
  const details = rule.finding_details.trim();
  const named = `${shownHost(checked)}: ${rule.rule_id_src} (${rule.rule_version}) - ${categories[severityOf(rule)]}`;
  return details === '' ? named : `${named} - ${details}`;
}

/** Joins a head and its lines, without duplicates, up to the size of a cell, and says how many lines are left out. */
function fitted(head: string, given: string[], what: string): string {
  const lines = [...new Set(given)];
  const room = longestCell - 100;
  let text = head;
  for (const [index, line] of lines.entries()) {
    const next = text === '' ? line : `${text}\n${line}`;
    if (next.length > room) {
      const begun = index > 0 ? text : next.slice(0, room).replace(/[\ud800-\udbff]$/, '');
      const left = lines.length - Math.max(index, 1);
      const cut = index > 0 ? '' : ' [cut]';
      return left === 0 ? `${begun}${cut}` : `${begun}${cut}\n${count(left, `more ${what}`)} left out`;
    }
    text = next;
  }
  return text;
}

/** The rows of a POA&M (rule D30.2): one for each rule that is open in some checklist, sorted by rule number. */
export function poamRows(rules: CheckedRule[], facts: CciFacts, asked: EmassBody): Fields[] {
  const open = rules.filter(({ rule }) => rule.status === 'open');
  const byRule = Map.groupBy(open, ({ rule }) => rule.rule_id_src);
  const ids = [...byRule.keys()].sort(new Intl.Collator('en', { numeric: true }).compare);
  return ids.map((id) => poamRow(byRule.get(id)!, facts, asked));
}

function poamRow(same: CheckedRule[], facts: CciFacts, asked: EmassBody): Fields {
  const { rule } = same[0]!;
  const ccis = [...new Set(same.flatMap((each) => each.ccis))].sort();
  const named = new Set(ccis.flatMap((cci) => facts.ccis.get(cci)?.controls ?? []));
  const controls = [...facts.controls.keys()].filter((control) => named.has(control));
  const worst = (['high', 'medium', 'low'] as const).find((severity) =>
    same.some((each) => severityOf(each.rule) === severity),
  )!;
  const details = same
    .filter((each) => each.rule.finding_details.trim() !== '')
    .map((each) => `${shownHost(each)}: ${each.rule.finding_details.trim()}`);
  const hosts = same.map(({ host }) => host).filter((host) => host !== '');
  const source = ({ stig }: CheckedRule) =>
    `${stig.stig_id} :: Version ${stig.version}, ${stig.release_info}`.trim();
  return new Map([
    ['name', rule.rule_title],
    ['control vulnerability description', `${rule.rule_title}\n\n${rule.discussion}`.trim()],
    ['controls / aps', controls.join(', ')],
    ['office/org', asked.officeOrg ?? ''],
    ['security checks', rule.rule_id_src],
    ['resources required', asked.resources ?? ''],
    ['scheduled completion date', asked.scheduledCompletionDate ?? ''],
    ['source identifying vulnerability', fitted('', same.map(source), 'source')],
    ['status', 'Ongoing'],
    ['comments', fitted(ccis.join(', '), details, 'finding detail')],
    ['raw severity', rawSeverities[rule.severity]],
    ['devices affected', fitted('', hosts, 'host')],
    ['severity', severities[worst]],
    ['impact description', rule.discussion],
    ['recommendations', rule.fix_text],
  ]);
}
