import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { ShownControl } from '../../catalog/controls/schema.ts';
import { Facts, link, Neighbors, SeverityCounts } from '../parts/components.tsx';
import { AddTo, FavoriteButton } from '../parts/forms.tsx';
import { catalogHref, controlHref, frameworkName } from '../parts/links.tsx';
import { Prose } from '../parts/prose.tsx';
import type { View } from '../parts/view.ts';
import { Marks } from './catalogs.tsx';
import { Assessment, Statement } from './control-assessment.tsx';
import { type Crosswalk, CrosswalkSection } from './crosswalk.tsx';
import { type RulesFound, RulesOfControl } from './rules-of-control.tsx';

interface ControlPage {
  control: ShownControl;
  version: string;
  crosswalk: Crosswalk;
  /** The reader's favorites and collections; null without a session. */
  mine: { isFavorite: boolean; collections: { id: string; name: string }[] } | null;
  rules: RulesFound | null;
  /** The names of files that an older version read less of. */
  readAgain: string[];
  enhancements: Enhancement[];
  neighbors: { before: string | null; after: string | null };
  /** The title of a baseline by its name. */
  titleOf(baseline: string): string;
}

export function controlPage(page: ControlPage): View {
  const { control, version, crosswalk, mine, rules, enhancements, neighbors, titleOf } = page;
  const { framework, identifier, title } = control;
  const home = controlHref(framework, identifier);
  const fields = { framework, controlId: identifier };
  const neighborOf = (id: string | null) => (id === null ? null : { id, href: controlHref(framework, id) });
  const texts: [string, string | undefined][] = [
    ['Guidance', control.guidance],
    ['Threat', control.threat],
    ['Resources', control.resources],
  ];
  return {
    title: `${identifier}${title && title !== identifier ? ` ${title}` : ''}`,
    heading: framework === 'cci' ? <Definition of={control} /> : undefined,
    actions: (
      <>
        {mine === null || framework === 'cci' ? null : (
          <>
            <FavoriteButton of="controls" isFavorite={mine.isFavorite} fields={{ ...fields, next: home }} />
            <AddTo what="collection" label="Collection" to={mine.collections} fields={fields} />
          </>
        )}
        <Neighbors
          label="Controls before and after"
          before={neighborOf(neighbors.before)}
          after={neighborOf(neighbors.after)}
        />
      </>
    ),
    section: 'controls',
    printed: `${frameworkName(framework)} ${version}`,
    crumbs: [
      ['Controls', '/controls'],
      [frameworkName(framework), catalogHref(framework)],
    ],
    body: (
      <>
        <Facts of={[...facts(control, version), ...ruleFacts(rules)]} />
        {control.withdrawn === undefined ? null : (
          <p class="warning">
            {framework === 'cci' ? 'This CCI is deprecated.' : 'This control is withdrawn.'}{' '}
            {control.withdrawn.incorporatedInto.length === 0 ? null : (
              <>
                It is incorporated into{' '}
                <Links framework={framework} to={control.withdrawn.incorporatedInto} />
              </>
            )}
          </p>
        )}
        {control.textFrom === undefined ? null : (
          <p class="warning">
            This is the text of {control.textFrom}. The text of {control.version} may differ: its file is not
            imported.
          </p>
        )}
        <div class="found">
          {framework === 'cci' ? null : (
            <section>
              <h2>Statement</h2>
              <div class="card">
                <Statement of={control} titleOf={titleOf} />
              </div>
            </section>
          )}
          <div>
            {texts
              .filter(([, text]) => text !== undefined && text.trim() !== '')
              .map(([name, text]) => (
                <section>
                  <h2>{name}</h2>
                  <Prose text={text!} />
                </section>
              ))}
            {control.related?.length ? (
              <p>
                Related: <Links framework={framework} to={control.related} />
              </p>
            ) : null}
          </div>
        </div>
        <Assessment
          of={control}
          rulesOf={rules === null ? null : (cci) => rules.rulesOfCci(cci)}
          titleOf={titleOf}
          readAgain={page.readAgain}
        >
          <EnhancementTree
            framework={framework}
            of={enhancements}
            current={identifier}
            filter={rules?.filter}
          />
        </Assessment>
        <RulesOfControl found={rules} home={home} of={control} />
        <CrosswalkSection crosswalk={crosswalk} action={home} />
      </>
    ),
  };
}

/** The id and the definition of a CCI, which has no title. */
function Definition({ of: { identifier, statement } }: { of: ShownControl }): Child {
  return (
    <>
      <span class="ids">{identifier}</span> {statement}
    </>
  );
}

function facts(control: ShownControl, version: string): [string, Child][] {
  const { family, subjectArea, status, confidentialityLevels } = control;
  const familyName = control.framework === 'cci' ? 'Type' : 'Family';
  const all: [string, Child][] = [
    ['Version', version],
    [subjectArea === undefined ? familyName : 'Subject area', family ?? subjectArea],
    ['Status', status !== 'withdrawn' ? '' : control.framework === 'cci' ? 'deprecated' : 'withdrawn'],
    [marksName(control), Marks({ control })],
    ['Confidentiality', confidentialityLevels?.join(', ')],
  ];
  return all.filter(([, value]) => String(value ?? '') !== '');
}

function ruleFacts(found: RulesFound | null): [string, Child][] {
  if (found === null || found.rules.pagination.total === 0) return [];
  const { counts, pagination } = found.rules;
  return [
    [
      'Rules',
      <>
        <a href="#rules">
          {pagination.total.toLocaleString('en-US')} in {count(found.stigs.length, 'STIG')}
        </a>{' '}
        <SeverityCounts counts={counts} />
      </>,
    ],
  ];
}

function marksName({ baselines, requirementType }: ShownControl): string {
  if (baselines !== undefined) return 'Baselines';
  return requirementType === undefined ? 'MAC levels and impact' : 'Type';
}

function Links({ framework, to }: { framework: string; to: string[] }): Child {
  return to.map((each) => (
    <span class="tag">
      <a href={controlHref(framework, each)}>{each}</a>
    </span>
  ));
}

/** A base control or an enhancement, with its number of mapped rules; null without a session. */
interface Enhancement {
  identifier: string;
  title: string;
  rules: number | null;
}

/** A base control with its enhancements below it. Each link has the same filters. */
function EnhancementTree(props: {
  framework: string;
  of: Enhancement[];
  current: string;
  filter: RulesFound['filter'] | undefined;
}): Child {
  const { framework, of, current, filter = {} } = props;
  const [base, ...below] = of;
  if (base === undefined || below.length === 0) return null;
  const node = ({ identifier, title, rules }: Enhancement) => {
    const label = `${identifier} ${title}`;
    return (
      <>
        {identifier === current ? (
          <strong aria-current="true">{label}</strong>
        ) : (
          <a href={link(controlHref(framework, identifier), { ...filter })}>{label}</a>
        )}{' '}
        {rules === null ? null : <span class="quiet">{rules === 0 ? 'no rule' : count(rules, 'rule')}</span>}
      </>
    );
  };
  return (
    <section aria-labelledby="enhancements">
      <details class="more">
        <summary id="enhancements">Enhancements {below.length}</summary>
        <ul class="tree">
          <li>
            {node(base)}
            <ul>
              {below.map((each) => (
                <li>{node(each)}</li>
              ))}
            </ul>
          </li>
        </ul>
      </details>
    </section>
  );
}
