import type { Child } from 'hono/jsx';
import type { Form } from '../../http/env.ts';
import { Menu, Severity, severityLevels } from './components.tsx';

interface FieldProps {
  name: string;
  label: string;
  hint?: Child;
  /** HTML attributes. */
  [attribute: string]: unknown;
}

/** A field with its label above and a hint below. */
export function Labelled(props: { id: string; label: Child; hint?: Child; children: Child }) {
  const { id, label, hint, children } = props;
  return (
    <div>
      <label for={id}>{label}</label>
      {children}
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

const described = (name: string, hint: Child | undefined) =>
  hint === undefined ? undefined : `${name}-hint`;

export function Input({ name, label, hint, ...attributes }: FieldProps) {
  return (
    <Labelled id={name} label={label} hint={hint}>
      <input id={name} name={name} {...attributes} aria-describedby={described(name, hint)} />
    </Labelled>
  );
}

export function TextArea({ name, label, hint, text = '', ...attributes }: FieldProps & { text?: string }) {
  return (
    <Labelled id={name} label={label} hint={hint}>
      <textarea id={name} name={name} {...attributes} aria-describedby={described(name, hint)}>
        {text}
      </textarea>
    </Labelled>
  );
}

/** A choice of one. Options are values, or values with texts; `none` is the text of the empty option. */
export function Select(props: {
  name: string;
  id?: string;
  label: string;
  of: readonly (string | [value: string, text: string])[];
  selected: string;
  none?: string;
}) {
  const { name, id = name, label, of, selected, none } = props;
  return (
    <Labelled id={id} label={label}>
      <select id={id} name={name}>
        {none === undefined ? null : <option value="">{none}</option>}
        {of
          .map((each) => (typeof each === 'string' ? [each, each] : each))
          .map(([value, text]) => (
            <option value={value} selected={value === selected}>
              {text}
            </option>
          ))}
      </select>
    </Labelled>
  );
}

/** Check boxes; `show` renders each option. */
export function Boxes<T extends string>(props: {
  name: string;
  legend: string;
  of: readonly T[];
  selected: readonly string[];
  show?: (word: T) => Child;
}) {
  const { name, legend, of, selected, show = (word) => word } = props;
  return (
    <fieldset>
      <legend>{legend}</legend>
      {of.map((word) => (
        <label>
          <input type="checkbox" name={name} value={word} checked={selected.includes(word)} />
          {show(word)}
        </label>
      ))}
    </fieldset>
  );
}

/** The check boxes of severities. */
export function SeverityBoxes({ selected }: { selected: readonly string[] }) {
  return (
    <Boxes
      name="severity"
      legend="Severity"
      of={severityLevels}
      selected={selected}
      show={(level) => <Severity level={level} />}
    />
  );
}

/** A form that filters a page. */
export function Filters(props: { action: string; submit?: string | undefined; children: Child }) {
  return (
    <form class="filters" action={props.action}>
      {props.children}
      <div>
        <button type="submit">{props.submit ?? 'Apply filters'}</button>
      </div>
    </form>
  );
}

/** A form that filters a page by a search and by the fields in it; `keep` are hidden fields, such as the order. */
export function FindForm(props: {
  action: string;
  label: string;
  search: string;
  keep?: Record<string, string | undefined>;
  submit?: string;
  children?: Child;
}) {
  const { action, label, search, keep = {}, submit, children } = props;
  return (
    <Filters action={action} submit={submit}>
      <Hidden fields={keep} />
      <Input name="search" label={label} type="search" value={search} maxlength={200} />
      {children}
    </Filters>
  );
}

/** A form that changes something: the reason of a refusal, its fields, its button. */
export function FieldsForm(props: {
  action: string;
  problem?: string | null;
  submit: string;
  autocomplete?: 'off';
  children: Child;
}) {
  const { action, problem = null, submit, autocomplete, children } = props;
  return (
    <form class="fields" method="post" action={action} autocomplete={autocomplete}>
      <Problem text={problem} />
      {children}
      <div>
        <button type="submit">{submit}</button>
      </div>
    </form>
  );
}

/** A field of a form: its input, and how what was typed is read, follow from it. */
export interface FormField<Name extends string = string> {
  name: Name;
  label: string;
  hint?: Child;
  /** A text of several lines. */
  isLong?: boolean;
  /** The values that a reader chooses from, with their texts. */
  choices?: readonly [value: string, text: string][];
  /** An input of another kind. */
  input?: (value: string) => Child;
  /** HTML attributes, such as limits. */
  attributes?: Record<string, unknown>;
}

/** The inputs of fields, with what was typed into them. */
export function Fields<Name extends string>(props: {
  of: readonly FormField<Name>[];
  typed: Partial<Record<Name, string>>;
}): Child {
  return props.of.map(({ name, label, hint, isLong, choices, input, attributes }) => {
    const value = props.typed[name] ?? '';
    if (input !== undefined) return input(value);
    if (choices !== undefined) return <Select name={name} label={label} of={choices} selected={value} />;
    return isLong ? (
      <TextArea name={name} label={label} hint={hint} text={value} {...attributes} />
    ) : (
      <Input name={name} label={label} hint={hint} value={value} {...attributes} />
    );
  });
}

/** Reads what was typed into fields. */
export function typedFields<Name extends string>(
  form: Form,
  fields: readonly FormField<Name>[],
): Record<Name, string> {
  const entries = fields.map(({ name, isLong }) => {
    const text = form.get(name);
    return [name, isLong ? lines(text) : text.trim()];
  });
  return Object.fromEntries(entries) as Record<Name, string>;
}

/** A text of several lines with LF: browsers send CR LF. */
export function lines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** A form that adds an object to a list or a collection; without one, a link to create it. */
export function AddTo(props: {
  what: 'list' | 'collection';
  label: string;
  to: { id: string; name: string }[];
  fields: Record<string, string>;
  children?: Child;
}) {
  const { what, label, to, fields, children } = props;
  const home = what === 'list' ? '/systems' : '/collections';
  return (
    <Menu label={`Add to a ${what}`}>
      {to.length === 0 ? (
        <p>
          You have no {what}s yet. <a href={`${home}#new`}>Create a {what}</a>
        </p>
      ) : (
        <form class="actions" method="post" action={`${home}/add`}>
          <Hidden fields={fields} />
          <label for={what}>{label}</label>
          <select id={what} name={what}>
            {to.map(({ id, name }) => (
              <option value={id}>{name}</option>
            ))}
          </select>
          {children}
          <button type="submit">Add</button>
        </form>
      )}
    </Menu>
  );
}

/** Check boxes of STIGs (`name="slug"`), and the choice of the list for the checked ones. */
export function AddChecked({ to, children }: { to: { id: string; name: string }[]; children: Child }) {
  if (to.length === 0) return children;
  return (
    <form method="post" action="/systems/add">
      {children}
      <div class="actions">
        <label for="add-to">List</label>
        <select id="add-to" name="list">
          {to.map(({ id, name }) => (
            <option value={id}>{name}</option>
          ))}
        </select>
        <button type="submit">Add checked STIGs to the list</button>
      </div>
    </form>
  );
}

export function CheckStig({ slug, title }: { slug: string; title: string }) {
  return (
    <label class="check">
      <input type="checkbox" name="slug" value={slug} />
      <span class="hidden">Select {title}</span>
    </label>
  );
}

/** The star of a STIG or a control; `fields` name the object. */
export function FavoriteButton(props: {
  of: 'stigs' | 'controls';
  isFavorite: boolean;
  fields: Record<string, string>;
}) {
  const { of, isFavorite, fields } = props;
  return (
    <PostButton
      action={isFavorite ? `/favorites/${of}/remove` : `/favorites/${of}`}
      label={isFavorite ? '★ Remove from favorites' : '☆ Add to favorites'}
      fields={fields}
    />
  );
}

/** A button that sends a POST with fields. */
export function PostButton(props: {
  action: string;
  label: string;
  /** The object, for screen readers: they read the label alone. */
  about?: string;
  fields?: Record<string, string>;
  /** What is lost for good: the reader confirms it. */
  loses?: string | null;
}) {
  const { action, label, about, loses = null } = props;
  return (
    <form class="inline" method="post" action={action}>
      <Hidden fields={props.fields ?? {}} />
      <Confirmed label={label} about={about} loses={loses}>
        <button type="submit" class="quiet">
          {label}
          {about === undefined ? null : <span class="hidden"> {about}</span>}
        </button>
      </Confirmed>
    </form>
  );
}

/** A button, folded away where what it removes cannot be made again: works without script. */
export function Confirmed(props: {
  label: string;
  about: string | undefined;
  loses: string | null;
  children: Child;
}): Child {
  const { label, about, loses, children } = props;
  if (loses === null) return children;
  return (
    <details class="menu">
      <summary>
        {label}
        {about === undefined ? null : <span class="hidden"> {about}</span>}
      </summary>
      <p>
        {loses} cannot be restored. {children}
      </p>
    </details>
  );
}

/** Hidden fields, but for empty ones. */
export function Hidden({ fields }: { fields: Record<string, string | undefined> }) {
  return Object.entries(fields)
    .filter(([, value]) => value)
    .map(([name, value]) => <input type="hidden" name={name} value={value} />);
}

export function Problem({ text }: { text: string | null }) {
  if (text === null) return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

/** Check boxes that filter rules by STIG, in a part that scrolls. */
export function StigBoxes(props: {
  stigs: { slug: string; title: string }[];
  selected: readonly string[];
}): Child {
  const { stigs, selected } = props;
  if (stigs.length === 0) return null;
  const titles = new Map(stigs.map(({ slug, title }) => [slug, title]));
  return (
    <div class="choices">
      <Boxes
        name="stig"
        legend="STIGs"
        of={[...titles.keys()]}
        selected={selected}
        show={(slug) => titles.get(slug)!}
      />
    </div>
  );
}

/** A choice that filters rules by list; nothing without a list. */
export function ListSelect(props: { lists: { id: string; name: string }[]; selected: string }): Child {
  const { lists, selected } = props;
  if (lists.length === 0 && selected === '') return null;
  // A list that the reader may not see appears by the id from the query.
  const isKnown = selected === '' || lists.some(({ id }) => id === selected);
  const of = [...(isKnown ? [] : [{ id: selected, name: selected }]), ...lists];
  return (
    <Select
      name="list"
      label="STIGs of a list"
      none="all"
      of={of.map(({ id, name }): [string, string] => [id, name])}
      selected={selected}
    />
  );
}
