import type { Column } from './columns.ts';

type SectionValue = string | number | boolean | null;

/** A row of a flat export of a record with several lists: its list, and its values by column. */
export interface SectionRow {
  section: string;
  /** The number of the item in its section, from 1; all rows of one item share it. */
  ordinal: number;
  values: Record<string, SectionValue>;
}

/** The columns of such an export (rule D9.5): `section`, `ordinal`, then the names of all sections, each once. */
export function sectionColumns(names: string[]): Column<SectionRow>[] {
  return [
    { name: 'section', value: (row) => row.section },
    { name: 'ordinal', value: (row) => row.ordinal },
    ...names.map((name) => ({ name, value: (row: SectionRow) => row.values[name] ?? null })),
  ];
}

export function sectionRows(section: string, items: Record<string, SectionValue>[]): SectionRow[] {
  return items.map((values, index) => ({ section, ordinal: index + 1, values }));
}
