import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { Objective, ShownControl } from '../../catalog/controls/schema.ts';
import { ReadAgain, Table } from '../parts/components.tsx';
import { controlHref } from '../parts/links.tsx';
import { Prose } from '../parts/prose.tsx';

type Parameter = ShownControl['parameters'][number];
type TitleOf = (baseline: string) => string;

/** The statement of a control by lines; each parameter stands out, and opens to the values that baselines give it. */
export function Statement({ of, titleOf }: { of: ShownControl; titleOf: TitleOf }): Child {
  const { statement, parameters } = of;
  if (statement.trim() === '') return <Prose text="" />;
  const places = statement.length > mostCharacters ? [] : placesOf(parameters);
  return (
    <div class="prose statement">
      {statement.split('\n').map((line) => (
        <div class={classOf(line)}>
          {cutAt(line.trimStart(), places).map((piece) =>
            typeof piece === 'string' ? piece : <PlaceOf place={piece} titleOf={titleOf} />,
          )}
        </div>
      ))}
    </div>
  );
}

function PlaceOf({ place: { text, values }, titleOf }: { place: Place; titleOf: TitleOf }): Child {
  if (values.length === 0) return <span class="parameter">{text}</span>;
  return (
    <details class="parameter">
      <summary>{text}</summary>
      <dl>
        {values.map(([value, sources]) => (
          <>
            <dt>{sources.map(titleOf).join(', ')}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </details>
  );
}

/** How deep a line of a statement stands, and whether it begins with its letter or number. */
function classOf(line: string): string {
  const depth = Math.min(3, Math.floor(line.search(/\S|$/) / 2));
  return /^\s*\(?\w{1,3}[.)] /.test(line) ? `in${depth} labelled` : `in${depth}`;
}

/** The words of parameters at a place; each value once with its sources. */
interface Place {
  text: string;
  values: [value: string, sources: string[]][];
}

/** A longer statement is plain text: each place of a parameter becomes an element. */
const mostCharacters = 20_000;

/**
 * The words of parameters, the longest first. Where several parameters have the same words, these do not tell which one
 * a place is: it shows values only where all of them have the same.
 */
function placesOf(parameters: Parameter[]): Place[] {
  const sameWords = Map.groupBy(parameters, ({ text }) => text);
  sameWords.delete('');
  return [...sameWords]
    .sort(([a], [b]) => b.length - a.length)
    .map(([text, same]) => {
      const isShared = new Set(same.map(({ values }) => JSON.stringify(values))).size === 1;
      return { text, values: isShared ? valuesOf(same) : [] };
    });
}

/** A line cut at the places with words of parameters. */
function cutAt(line: string, places: Place[]): (string | Place)[] {
  let pieces: (string | Place)[] = [line];
  for (const place of places)
    pieces = pieces.flatMap((piece) =>
      typeof piece === 'string'
        ? piece.split(place.text).flatMap((part, index) => (index === 0 ? [part] : [place, part]))
        : [piece],
    );
  return pieces;
}

function valuesOf(parameters: Pick<Parameter, 'values'>[]): Place['values'] {
  const all = parameters.flatMap(({ values }) => values);
  return [...Map.groupBy(all, ({ value }) => value)].map(([value, stated]) => [
    value,
    [...new Set(stated.map(({ source }) => source))],
  ]);
}

/**
 * What an assessor looks for (rule D37): objectives by part, methods, parameters. `rulesOf` is null without a session;
 * the children stand before the methods.
 */
export function Assessment(props: {
  of: ShownControl;
  rulesOf: ((cci: string) => number) | null;
  titleOf: TitleOf;
  readAgain: string[];
  children: Child;
}): Child {
  const { titleOf, children } = props;
  const { objectives, methods, parameters } = props.of;
  if (objectives.length + methods.length + parameters.length === 0)
    return (
      <>
        <ReadAgain of={props.readAgain} />
        {children}
      </>
    );
  return (
    <section aria-labelledby="assessment">
      <h2 id="assessment">Assessment</h2>
      {objectives.length === 0 ? null : <Objectives of={objectives} rulesOf={props.rulesOf} />}
      {children}
      {methods.map(({ method, objects }) => (
        <details class="more">
          <summary>
            {method.charAt(0) + method.slice(1).toLowerCase()} {objects.length}
          </summary>
          <ul>
            {objects.map((each) => (
              <li>{each}</li>
            ))}
          </ul>
        </details>
      ))}
      {parameters.length === 0 ? null : <Parameters of={parameters} titleOf={titleOf} />}
    </section>
  );
}

function Objectives({ of, rulesOf }: { of: Objective[]; rulesOf: ((cci: string) => number) | null }): Child {
  const byPart = Map.groupBy(of, ({ part }) => part);
  const counts = new Map<string, number>();
  const countOf = (cci: string) => {
    if (rulesOf !== null && !counts.has(cci)) counts.set(cci, rulesOf(cci));
    return counts.get(cci);
  };
  return (
    <>
      <p class="quiet">
        Gapstone joins objectives with CCIs by the part that both name. A rule is evidence, not proof.
      </p>
      <Table
        caption="Objectives by part"
        class="objectives"
        head={['Part', 'Objectives', rulesOf === null ? 'CCIs' : 'CCIs and rules']}
        rows={[...byPart].map(([part, objectives]) => [
          part || 'all',
          objectives.map(({ id, label, context, text }) => (
            <p>
              <span class="ids">{label || id}</span>{' '}
              {context === '' ? null : <span class="quiet">{context} </span>}
              {text}
            </p>
          )),
          // Objectives of one part have the same CCIs.
          <PartCcis of={objectives[0]!.ccis} countOf={countOf} />,
        ])}
      />
    </>
  );
}

/** The CCIs of a part, those with rules first; a gap says that no rule is evidence for it. */
function PartCcis(props: { of: Objective['ccis']; countOf: (cci: string) => number | undefined }): Child {
  const all = props.of.map((each) => ({ ...each, rules: props.countOf(each.cci) }));
  const [cited, others] = [true, false].map((isCited) =>
    all.filter(({ rules }) => isCited === (rules ?? 0) > 0),
  );
  const line = ({ cci, relation }: (typeof all)[number]) => (
    <>
      <a class="ids" href={controlHref('cci', cci)}>
        {cci}
      </a>
      {relation === 'equal' ? null : <span class="quiet"> {relation}</span>}{' '}
    </>
  );
  return (
    <>
      {cited!.map((each) => (
        <p>
          {line(each)}
          <a href={`${controlHref('cci', each.cci)}#rules`}>{count(each.rules!, 'rule')}</a>
        </p>
      ))}
      {others!.length === 0 ? null : (
        <p>
          {others!.map(line)}
          {others![0]!.rules === undefined ? null : <span class="quiet">no rule</span>}
        </p>
      )}
      {all.length === 0 ? <span class="quiet">no CCI</span> : null}
    </>
  );
}

function Parameters({ of, titleOf }: { of: Parameter[]; titleOf: TitleOf }): Child {
  return (
    <details class="more">
      <summary>Parameters {of.length}</summary>
      <Table
        caption="Parameters"
        head={['ID', 'In the statement', 'Values of baselines']}
        rows={of.map(({ id, label, text, values }) => [
          label || id,
          text,
          valuesOf([{ values }]).map(([value, sources]) => (
            <p>
              {value} <span class="quiet">{sources.map(titleOf).join(', ')}</span>
            </p>
          )),
        ])}
      />
    </details>
  );
}
