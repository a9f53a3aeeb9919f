import { fold } from '../../base/text.ts';
import { joined } from '../../http/columns.ts';
import type { ControlService } from '../controls/queries.ts';
import type { NamedRelease } from '../stigs/queries.ts';
import type { AutomationOf } from '../stigs/rule-automation.ts';
import type { CoverageScope, CoverageService } from './coverage.ts';
import type { ReportRow, Worksheet, WorksheetControl, WorksheetRule } from './reports-schema.ts';

interface WorksheetServices {
  controls: ControlService;
  coverage: CoverageService;
  ruleAutomation: AutomationOf;
}

/** What an assessor must show of each control for some releases (rule D37.3). */
export function worksheetOf(
  { controls, coverage, ruleAutomation }: WorksheetServices,
  { framework, revision, baseline, frame, isIn }: CoverageScope,
  stigs: NamedRelease[],
  family: string | undefined,
): Worksheet {
  const byCci = new Map<string, Set<WorksheetRule>>();
  for (const stig of new Map(stigs.map((each) => [each.slug, each])).values()) {
    const { slug } = stig;
    const { of } = ruleAutomation(slug);
    for (const { title, ccis, ...ids } of coverage.rulesOf(stig)) {
      const { groupId, ruleId, ruleVersion, severity } = ids;
      const automation = of(ruleId).state;
      const rule = { slug, groupId, ruleId, ruleVersion, severity, ruleTitle: title, automation };
      for (const cci of ccis) byCci.set(cci, (byCci.get(cci) ?? new Set()).add(rule));
    }
  }
  const isWanted = isOf(controls, framework, revision ?? '', family);
  const wanted = frame.controls.filter((control) => isIn(control) && isWanted(control));
  const identifiers = wanted.map(({ identifier }) => identifier);
  const assessments = controls.assessments(framework, revision ?? '', identifiers);
  const rows = wanted.map(({ identifier, title, family }): WorksheetControl => {
    const { objectives, methods } = assessments.get(identifier)!;
    const withRules = objectives.map((objective) => {
      const rules = objective.ccis.flatMap(({ cci }) => [...(byCci.get(cci) ?? [])]);
      return { ...objective, rules: [...new Set(rules)] };
    });
    return { identifier, title, family, objectives: withRules, methods };
  });
  const objectives = rows.flatMap((control) => control.objectives);
  const objectivesWithRules = objectives.filter(({ rules }) => rules.length > 0).length;
  const totals = { controls: rows.length, objectives: objectives.length, objectivesWithRules };
  return { framework, revision, baseline, controls: rows, totals };
}

/** Whether a control is of a family, by name or code in any case; always, where none is asked for. */
function isOf(controls: ControlService, framework: string, revision: string, family: string | undefined) {
  const word = fold((family ?? '').trim());
  if (word === '') return () => true;
  const names = controls.familyNames(framework, revision);
  return ({ identifier }: { identifier: string }) => names.get(identifier)?.includes(word) ?? false;
}

/** The objects of a method of a control. */
export const objectsOf = ({ methods }: Pick<WorksheetControl, 'methods'>, name: string): string[] =>
  methods.filter(({ method }) => method === name).flatMap(({ objects }) => objects);

/** The columns of a worksheet as a file: a row for each objective, and one for a control without any. */
export const worksheetColumns = [
  'identifier',
  'title',
  'family',
  'label',
  'part',
  'context',
  'objective',
  'examine',
  'interview',
  'test',
  'ccis',
  'rules',
  'result',
  'evidence',
  'assessor',
  'date',
];

export const worksheetRows = ({ controls }: Worksheet): ReportRow[] =>
  controls.flatMap((control) => {
    const { identifier, title, family } = control;
    const ofControl = {
      identifier,
      title,
      family,
      examine: joined(objectsOf(control, 'EXAMINE')),
      interview: joined(objectsOf(control, 'INTERVIEW')),
      test: joined(objectsOf(control, 'TEST')),
    };
    if (control.objectives.length === 0) return [ofControl];
    return control.objectives.map(({ label, part, context, text, ccis, rules }) => ({
      ...ofControl,
      label,
      part,
      context,
      objective: text,
      ccis: joined(ccis.map(({ cci }) => cci)),
      rules: joined(rules.map(({ slug, groupId }) => `${slug} ${groupId}`)),
    }));
  });
