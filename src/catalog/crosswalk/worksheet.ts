import { fold } from '../../base/text.ts';
import { joined } from '../../http/columns.ts';
import type { ControlService } from '../controls/queries.ts';
import type { NamedRelease } from '../stigs/queries.ts';
import type { AutomationOf } from '../stigs/rule-automation.ts';
import type { CoverageService } from './coverage.ts';
import type { ReportRow } from './reports.ts';
import type { Worksheet, WorksheetControl, WorksheetQuery, WorksheetRule } from './reports-schema.ts';

export type WorksheetService = ReturnType<typeof createWorksheetService>;

/** What an assessor must show of each control for some releases (rule D37.3). */
export function createWorksheetService(
  controls: ControlService,
  coverage: Pick<CoverageService, 'scopeOf' | 'rulesOf'>,
  automationOf: AutomationOf,
) {
  /** The rules of releases by the CCIs that they cite, in the order of the releases and of each document. */
  function rulesByCci(stigs: NamedRelease[]): Map<string, Set<WorksheetRule>> {
    const byCci = new Map<string, Set<WorksheetRule>>();
    for (const stig of new Map(stigs.map((each) => [each.slug, each])).values()) {
      const { slug } = stig;
      const { of } = automationOf(slug);
      for (const { groupId, ruleId, ruleVersion, severity, title, ccis } of coverage.rulesOf(stig)) {
        const automation = of(ruleId).state;
        const rule = { slug, groupId, ruleId, ruleVersion, severity, ruleTitle: title, automation };
        for (const cci of ccis) byCci.set(cci, (byCci.get(cci) ?? new Set()).add(rule));
      }
    }
    return byCci;
  }

  return {
    /**
     * The worksheet of the releases that `find` gives. Throws BAD_REQUEST for an unknown framework or
     * baseline, NOT_FOUND for an unknown revision, and what `find` throws.
     */
    of(find: () => NamedRelease[], query: WorksheetQuery): Worksheet {
      const { framework, revision, baseline, controls: scope } = coverage.scopeOf(query);
      const byCci = rulesByCci(find());
      const inFamily =
        revision === null ? [] : scope.filter(isOf(controls, framework, revision, query.family));
      const asked = controls.assessments(
        framework,
        revision ?? '',
        inFamily.map(({ identifier }) => identifier),
      );
      const rows = inFamily.map(({ identifier, title, family }): WorksheetControl => {
        const { objectives, methods } = asked.get(identifier)!;
        const withRules = objectives.map((objective) => {
          const rules = objective.ccis.flatMap(({ cci }) => [...(byCci.get(cci) ?? [])]);
          return { ...objective, rules: [...new Set(rules)] };
        });
        return { identifier, title, family, objectives: withRules, methods };
      });
      return { framework, revision, baseline, controls: rows, totals: totalsOf(rows) };
    },
  };
}

/** Whether a control is of a family, by name or code in any case; always, where none is asked for. */
function isOf(controls: ControlService, framework: string, revision: string, family: string | undefined) {
  const word = fold((family ?? '').trim());
  if (word === '') return () => true;
  const names = controls.familyNames(framework, revision);
  return ({ identifier }: { identifier: string }) => names.get(identifier)?.includes(word) ?? false;
}

function totalsOf(controls: WorksheetControl[]): Worksheet['totals'] {
  const objectives = controls.flatMap((control) => control.objectives);
  const objectivesWithRules = objectives.filter(({ rules }) => rules.length > 0).length;
  return { controls: controls.length, objectives: objectives.length, objectivesWithRules };
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
] as const;

export const worksheetRows = ({ controls }: Worksheet): ReportRow<typeof worksheetColumns>[] =>
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
