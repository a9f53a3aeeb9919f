import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { CommandError } from '../base/errors.ts';
import { rightsAround } from '../base/files.ts';
import { decodeText } from '../read/decode.ts';
import { readLargeTable, type TableRow } from '../read/table.ts';
import { isName } from './tokens.ts';
import type { Entitlement } from './viewer.ts';

/** What a person who comes by certificate may do (rule D43.4). */
export interface Rights {
  organization: string | null;
  entitlements: Entitlement[];
}

export type People = ReadonlyMap<string, Rights>;

/** The row of who has no row. */
const everybodyElse = '*';
const nothing: Rights = { organization: null, entitlements: [] };
const columns = 'subject,org,entitlements';
const mostBytes = 32 * 1024 * 1024;

export const rightsOf = (people: People | null, subject: string): Rights =>
  people?.get(subject) ?? people?.get(everybodyElse) ?? nothing;

/**
 * Reads the table of `GAPSTONE_PEOPLE`. Calls `warn` with a message if the file is neither UTF-8 nor UTF-16 and is read
 * as windows-1252. Throws a `CommandError` that names the first malformed line.
 */
export async function readPeople(file: string, warn: (message: string) => void): Promise<People> {
  const people = new Map<string, Rights>();
  try {
    if (statSync(file).size > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`);
    const { text, warnings } = decodeText(await readFile(file));
    for (const warning of warnings) warn(`the people of ${file}: ${warning}`);
    let isHead = true;
    await readLargeTable(text, (row) => {
      if (!isHead) addRow(people, row);
      else if (row.cells.join(',') !== columns) throw new Error(`its first line is not ${columns}`);
      isHead = false;
    });
    if (isHead) throw new Error('it is empty');
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(`the people of ${file} cannot be read: ${message}${rightsAround(file, error)}`);
  }
  return people;
}

function addRow(people: Map<string, Rights>, { cells, line }: TableRow): void {
  const [subject, organization = '', words = ''] = cells;
  const entitlements = words.split(';').flatMap((word) => word.trim() || []);
  const wrong = entitlements.find((each) => each !== 'regdoc' && each !== 'occ');
  if (cells.length !== 3) throw new Error(`line ${line} does not have 3 columns`);
  if (!isName(subject)) throw new Error(`line ${line} has no subject of 1 to 255 characters`);
  if (people.has(subject)) throw new Error(`line ${line} repeats the subject of another line`);
  if (organization !== '' && !isName(organization)) throw new Error(`line ${line} has a wrong organization`);
  if (wrong !== undefined) throw new Error(`line ${line} has an entitlement that is neither regdoc nor occ`);
  people.set(subject, {
    organization: organization === '' ? null : organization,
    entitlements: [...new Set(entitlements as Entitlement[])],
  });
}
