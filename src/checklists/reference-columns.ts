import type { Column } from '../http/columns.ts';
import type { Reference } from './reference-schema.ts';

/** A reference and the file that has it; empty for pasted text. */
export interface FileReference extends Reference {
  file: string;
}

export const referenceColumns: Column<FileReference>[] = (
  ['file', 'line', 'column', 'text', 'kind', 'state', 'id', 'title', 'slug', 'version', 'advice'] as const
).map((name) => ({ name, value: (row) => row[name] ?? '' }));
