import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { isNistBaseline, macNames } from '../../../catalog/controls/frameworks.ts';
import type { Env } from '../../../http/env.ts';
import type { Services } from '../../../services.ts';
import { Hidden, Select } from '../forms.tsx';
import { frameworkName } from '../links.tsx';

/** What a page may choose from: values with their texts. */
interface FrameworkChoices {
  frameworks: readonly string[];
  revisions: [value: string, text: string][];
  baselines: [value: string, text: string][];
}

/** What people call a baseline: NIST's by name, others by title. */
export const baselineName = ({ name, title }: { name: string; title: string }) =>
  isNistBaseline(name) ? name : title;

/** The frameworks, the revisions of one of them, and the baselines of one revision. */
export function choicesOf(
  controls: Services['controls'],
  framework: string,
  revision: string | null,
): FrameworkChoices {
  return {
    frameworks: controls.known(),
    revisions: controls.versions(framework).map(({ version, label }) => [version, label]),
    baselines:
      framework === 'dod-8500'
        ? macNames.map((name) => [name, name])
        : controls
            .baselines(framework, revision ?? undefined)
            .baselines.map((each) => [each.name, `${baselineName(each)} (${each.controls})`]),
  };
}

/** The fields that choose framework, revision and baseline. */
export function FrameworkSelects(props: {
  choices: FrameworkChoices;
  chosen: { framework: string; revision: string | null; baseline: string | null };
}): Child {
  const { frameworks, revisions, baselines } = props.choices;
  const { framework, revision, baseline } = props.chosen;
  const isKnown = baseline === null || baselines.some(([name]) => name === baseline);
  const shown = isKnown ? baselines : [...baselines, baseline];
  return (
    <>
      <Hidden fields={{ of: framework }} />
      <Select
        name="framework"
        label="Framework"
        of={frameworks.map((each) => [each, frameworkName(each)])}
        selected={framework}
      />
      {revisions.length > 1 ? (
        <Select name="revision" label="Revision" of={revisions} selected={revision ?? ''} />
      ) : null}
      {shown.length > 0 ? (
        <Select
          name="baseline"
          label={framework === 'dod-8500' ? 'MAC level' : 'Baseline'}
          none="all controls"
          of={shown}
          selected={baseline ?? ''}
        />
      ) : null}
    </>
  );
}

/** A query without what belongs to the former framework, when the form changed the framework (`of` names the former). */
export function ofFramework<
  Query extends { framework: string; revision?: string | undefined; baseline?: string | undefined },
>(c: Context<Env>, query: Query): Query {
  const former = c.req.query('of') ?? query.framework;
  return former === query.framework ? query : { ...query, revision: undefined, baseline: undefined };
}
