import type { Child } from 'hono/jsx';
import type { ControlRules } from '../../catalog/crosswalk/control-rules-schema.ts';
import { RulesOfControl } from './control-rules.tsx';
import { type ListedControl, Marks } from './controls.tsx';
import { type Crosswalk, CrosswalkSection } from './crosswalk.tsx';
import { controlHref, frameworkName } from './frameworks.ts';
import { Facts, PostButton, Prose, path } from './parts.tsx';
import type { View } from './view.ts';

/** A single record of any catalog. */
export interface ShownControl extends ListedControl {
  framework: string;
  version: string;
  guidance: string;
  status?: string;
  related?: string[];
  threat?: string;
  resources?: string;
  confidentialityLevels?: string[];
  withdrawn?: { incorporatedInto: string[] };
}

export interface ControlPage {
  control: ShownControl;
  crosswalk: Crosswalk;
  /** What the reader may do with it; null without a session. */
  mine: { isFavorite: boolean; collections: { id: string; name: string }[] } | null;
  /** The STIG rules that it reaches; null without a session. */
  rules: ControlRules | null;
}

export function controlPage({ control, crosswalk, mine, rules }: ControlPage): View {
  const { framework, identifier, title } = control;
  const home = controlHref(framework, identifier)!;
  const texts: [string, string | undefined][] = [
    ['Guidance', control.guidance],
    ['Threat', control.threat],
    ['Resources', control.resources],
  ];
  return {
    title: `${identifier}${title ? ` ${title}` : ''}`,
    section: 'controls',
    body: (
      <>
        <p class="crumbs">
          <a href="/controls">Controls</a> /{' '}
          <a href={framework === 'cci' ? '/ccis' : path('controls', framework)}>{frameworkName(framework)}</a>
        </p>
        <h1>
          {identifier}
          {title ? ` ${title}` : ''}
        </h1>
        <Facts of={facts(control)} />
        {control.withdrawn === undefined ? null : <Withdrawn control={control} />}
        {mine === null || framework === 'cci' ? null : <Mine control={control} mine={mine} home={home} />}
        <h2>Statement</h2>
        <div class="section-text">
          <Prose text={control.statement} />
        </div>
        {texts
          .filter(([, text]) => text !== undefined && text.trim() !== '')
          .map(([name, text]) => (
            <details class="more">
              <summary>{name}</summary>
              <Prose text={text!} />
            </details>
          ))}
        {control.related?.length ? (
          <p>
            Related:{' '}
            {control.related.map((each) => (
              <span class="tag">
                <a href={controlHref(framework, each)!}>{each}</a>
              </span>
            ))}
          </p>
        ) : null}
        <CrosswalkSection crosswalk={crosswalk} action={home} />
        <RulesOfControl found={rules} home={home} />
      </>
    ),
  };
}

function facts(control: ShownControl): [string, Child][] {
  const { version, family, subjectArea, status, confidentialityLevels } = control;
  const all: [string, Child | undefined][] = [
    ['Version', version],
    [
      subjectArea === undefined ? (control.framework === 'cci' ? 'Type' : 'Family') : 'Subject area',
      family ?? subjectArea,
    ],
    ['Status', status === 'withdrawn' ? 'withdrawn' : undefined],
    [marksName(control), Marks({ control })],
    ['Confidentiality', confidentialityLevels?.join(', ')],
  ];
  return all.filter(
    (fact): fact is [string, Child] => fact[1] !== undefined && fact[1] !== '' && String(fact[1]) !== '',
  );
}

function marksName({ baselines, requirementType }: ShownControl): string {
  if (baselines !== undefined) return 'Baselines';
  return requirementType === undefined ? 'MAC levels and impact' : 'Type';
}

function Withdrawn({ control: { framework, withdrawn } }: { control: ShownControl }): Child {
  const targets = withdrawn!.incorporatedInto;
  return (
    <p class="notice">
      This control is withdrawn.{' '}
      {targets.length === 0 ? null : (
        <>
          It is incorporated into{' '}
          {targets.map((each) => (
            <span class="tag">
              <a href={controlHref(framework, each) ?? '#'}>{each}</a>
            </span>
          ))}
        </>
      )}
    </p>
  );
}

function Mine({
  control,
  mine,
  home,
}: {
  control: ShownControl;
  mine: NonNullable<ControlPage['mine']>;
  home: string;
}): Child {
  const { framework, identifier } = control;
  const fields = { framework, controlId: identifier, next: home };
  return (
    <>
      <div class="actions">
        <PostButton
          action={mine.isFavorite ? '/favorites/controls/remove' : '/favorites/controls'}
          label={mine.isFavorite ? '★ Remove from favorites' : '☆ Add to favorites'}
          fields={fields}
          quiet
        />
      </div>
      <details class="more">
        <summary>Add to a collection</summary>
        {mine.collections.length === 0 ? (
          <p>
            You have no collections yet. <a href="/collections#new">Create a collection</a>
          </p>
        ) : (
          <form class="actions" method="post" action="/collections/add">
            <input type="hidden" name="framework" value={framework} />
            <input type="hidden" name="controlId" value={identifier} />
            <label for="collection">Collection</label>
            <select id="collection" name="collection">
              {mine.collections.map((each) => (
                <option value={each.id}>{each.name}</option>
              ))}
            </select>
            <button type="submit">Add</button>
          </form>
        )}
      </details>
    </>
  );
}
