// Small invented sources about controls in the publishers' formats, for what the real files do not show.

/** A control to write: its OSCAL id and what is special about it. */
export interface SampleControl {
  id: string;
  title?: string;
  statement?: string;
  /** Ids of the controls that it was withdrawn into. */
  withdrawnInto?: string[];
}

/** A catalog of 800-53 in OSCAL JSON, one family for each two letters of the ids. */
export function oscalCatalog(controls: SampleControl[], version = '5.1.1', changed = '2024-02-04'): string {
  const base = (id: string) => id.replace(/\.\d+$/, '');
  const write = ({ id, title, statement, withdrawnInto }: SampleControl): object => ({
    id,
    title: title ?? `Lantern ${id}`,
    ...(withdrawnInto
      ? {
          props: [{ name: 'status', value: 'withdrawn' }],
          links: withdrawnInto.map((target) => ({ href: `#${target}`, rel: 'incorporated-into' })),
        }
      : { parts: [{ id: `${id}_smt`, name: 'statement', prose: statement ?? `Keep lantern ${id} lit.` }] }),
    controls: controls.filter((each) => base(each.id) === id && each.id !== id).map(write),
  });
  const families = [...new Set(controls.map((each) => each.id.slice(0, 2)))];
  return JSON.stringify({
    catalog: {
      metadata: {
        title:
          version === '4' ? 'NIST SP 800-53 Revision 4, a sample' : 'NIST SP 800-53 Revision 5, a sample',
        version: version === '4' ? '2015-01-22' : version,
        'last-modified': `${changed}T00:00:00Z`,
      },
      groups: families.map((family) => ({
        id: family,
        title: `Family ${family.toUpperCase()}`,
        controls: controls
          .filter((each) => each.id.startsWith(family) && base(each.id) === each.id)
          .map(write),
      })),
    },
  });
}

/** A baseline of 800-53 as an OSCAL profile. */
export function oscalProfile(
  baseline: string,
  ids: string[],
  version = '5.1.1',
  values: Record<string, string> = {},
): string {
  const settings = Object.entries(values).map(([id, value]) => ({ 'param-id': id, values: [value] }));
  const name = baseline === 'privacy' ? 'PRIVACY BASELINE' : `${baseline.toUpperCase()} IMPACT BASELINE`;
  return JSON.stringify({
    profile: {
      metadata: {
        title: `NIST Special Publication 800-53 Revision 5 ${name}, a sample`,
        version,
        'last-modified': '2024-02-04T00:00:00Z',
      },
      imports: [{ href: '#catalog', 'include-controls': [{ 'with-ids': ids }] }],
      ...(settings.length === 0 ? {} : { modify: { 'set-parameters': settings } }),
    },
  });
}

/** An item of a CCI list: number, references as `[version, index]`, and its status where it is not a draft. */
export type SampleCci = [number: number, references: [string, string][], status?: string];

/** A CCI list of an edition. */
export function cciList(edition: string, items: SampleCci[]): string {
  const body = items.map(([number, references, status = 'draft']) => {
    const rows = references.map(
      ([version, index]) =>
        `<reference creator="NIST" title="NIST SP 800-53" version="${version}" location="x" index="${index}"/>`,
    );
    return `<cci_item id="CCI-${String(number).padStart(6, '0')}"><status>${status}</status><definition>Item ${number}.</definition><type>policy</type><references>${rows.join('')}</references></cci_item>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<cci_list xmlns="http://iase.disa.mil/cci"><metadata><version>${edition}</version></metadata><cci_items>
${body.join('\n')}
</cci_items></cci_list>`;
}

const csv = (rows: string[][]) =>
  `${rows.map((row) => row.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')).join('\n')}\n`;

/** Our interchange for controls, with the columns that the first row has. */
export function controlsCsv(rows: Record<string, string>[]): string {
  const columns = Object.keys(rows[0]!);
  return csv([columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))]);
}

/** Our interchange for mappings: rows of from framework, version, identifier, to framework, version, identifier. */
export function mappingsCsv(rows: (string | undefined)[][]): string {
  const header =
    'fromFramework,fromVersion,fromIdentifier,toFramework,toVersion,toIdentifier,reference'.split(',');
  return csv([header, ...rows.map((row) => header.map((_, index) => row[index] ?? ''))]);
}
