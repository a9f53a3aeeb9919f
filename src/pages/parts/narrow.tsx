import type { Child } from 'hono/jsx';
import { Boxes, Select } from './forms.tsx';

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
