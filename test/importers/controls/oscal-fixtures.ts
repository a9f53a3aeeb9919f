// An invented publication in the form of NIST's, for what the real files do not show.

export interface FixturePart {
  id?: string;
  name: string;
  prose?: string;
  props?: object[];
  links?: object[];
  parts?: FixturePart[];
}

export interface FixtureControl {
  id: string;
  title: string;
  params?: object[];
  props?: object[];
  links?: object[];
  parts?: FixturePart[];
  controls?: FixtureControl[];
}

/** The label of an item, in the form of a file; u4 files have several. */
export function label(value: string, kind?: string): object {
  return { name: 'label', value, ...(kind === undefined ? {} : { class: kind }) };
}

/** An item of a statement. */
export function item(id: string, value: string, prose: string, parts: FixturePart[] = []): FixturePart {
  return { id, name: 'item', props: [label(value)], prose, parts };
}

/** A control with a one-sentence statement unless parts are given. */
export function control(id: string, more: Partial<FixtureControl> = {}): FixtureControl {
  const statement = { id: `${id}_smt`, name: 'statement', prose: `Keep the ${id} lantern lit.` };
  return { id, title: `Lantern ${id}`, parts: [statement], ...more };
}

/** A control that was withdrawn, with the links given. */
export function withdrawn(id: string, rel: string, ...hrefs: string[]): FixtureControl {
  return {
    id,
    title: `Lantern ${id}`,
    props: [{ name: 'status', value: 'withdrawn' }],
    links: hrefs.map((href) => ({ href, rel })),
  };
}

/** A catalog of 800-53 with one family; `metadata` replaces what is usual. */
export function oscalCatalog(controls: FixtureControl[], metadata: object = {}) {
  return {
    catalog: {
      uuid: '00000000-0000-4000-8000-000000000000',
      metadata: {
        title: 'NIST SP 800-53 Rev 5 as a test has it',
        'last-modified': '2024-02-04T23:16:00.000000-05:00',
        version: '5.1.1+u4',
        'oscal-version': '1.1.2',
        ...metadata,
      },
      groups: [{ id: 'ac', class: 'family', title: 'Lantern  Keeping', controls }],
    },
  };
}

/** A profile that lists controls. */
export function oscalProfile(ids: string[], metadata: object = {}) {
  return {
    profile: {
      uuid: '00000000-0000-4000-8000-000000000000',
      metadata: {
        title: 'NIST Special Publication 800-53 Revision 5.1.1 MODERATE IMPACT BASELINE',
        'last-modified': '2024-02-04T23:16:00.000000-00:00',
        version: '5.1.1+u4',
        'oscal-version': '1.1.2',
        ...metadata,
      },
      imports: [{ href: '#a', 'include-controls': [{ 'with-ids': ids }] }] as object[],
      merge: { 'as-is': true },
    },
  };
}
