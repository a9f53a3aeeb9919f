import { parse } from 'csv-parse/sync';
import { cut } from '../base/text.ts';
import {
  type ChecklistHost,
  maxHosts,
  readHost,
  type StigAmong,
  withSlugs,
} from '../catalog/stigs/host-schema.ts';

/** The columns of a table of hosts, and their other names; case, blanks, `_` and `-` do not count. */
const columnNames: Record<string, keyof ChecklistHost> = {
  hostname: 'hostName',
  host: 'hostName',
  name: 'hostName',
  ipaddress: 'ipAddress',
  ip: 'ipAddress',
  address: 'ipAddress',
  macaddress: 'macAddress',
  mac: 'macAddress',
  fqdn: 'fqdn',
  role: 'role',
  stigs: 'stigs',
  stig: 'stigs',
};
const columns = ['hostName', 'ipAddress', 'macAddress', 'fqdn', 'role', 'stigs'] as const;

const plainColumns = ['hostName', 'ipAddress', 'fqdn', 'role'] as const;

export interface HostTable {
  hosts: ChecklistHost[];
  problems: string[];
}

const longestLine = 16 * 1024;

const mostProblems = 10;

/**
 * Reads a table of hosts: csv or pasted cells, separated like its first line. With a header the columns are `hostName` and
 * any others; without one, where that is allowed, they are name, address, FQDN and role. `among` finds the STIGs of the
 * column `stigs`, which are separated by `;`.
 */
export function readHosts(
  text: string,
  { mustHaveHeader, among }: { mustHaveHeader: boolean; among: StigAmong },
): HostTable {
  const tooLong = text.split('\n').findIndex((line) => line.length > longestLine);
  if (tooLong >= 0)
    return { hosts: [], problems: [`Line ${tooLong + 1}: it has more than ${longestLine} characters`] };
  let rows: { record: string[]; info: { lines: number } }[];
  try {
    const options = { bom: true, info: true, skip_empty_lines: true, relax_column_count: true, trim: true };
    // One more than a header and all hosts: enough to refuse a longer table.
    const to = maxHosts + 2;
    rows = parse(text, { ...options, to, delimiter: delimiterOf(text) }) as unknown as typeof rows;
  } catch (error) {
    return { hosts: [], problems: [(error as Error).message.split('\n')[0]!] };
  }
  const filled = rows.filter(({ record }) => record.some((cell) => cell !== ''));
  const first = filled[0];
  if (first === undefined) return { hosts: [], problems: ['There is no host'] };
  const named = first.record.map((cell) => columnNames[folded(cell)]);
  // The first line is a header where every cell is a column name, or one is hostName.
  const isHeader = named.every((name) => name !== undefined) || first.record.some(isHostName);
  const hasHeader = mustHaveHeader || isHeader;
  const wrong = hasHeader ? headerProblem(first.record, named) : null;
  if (wrong !== null) return { hosts: [], problems: [`Line ${first.info.lines}: ${wrong}`] };

  const names = hasHeader ? named : plainColumns;
  const data = hasHeader ? filled.slice(1) : filled;
  const hosts: ChecklistHost[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { record, info } of data) {
    const place = `Line ${info.lines}`;
    const beyond = record.slice(names.length).some((cell) => cell !== '');
    if (beyond) {
      problems.push(`${place}: it has more than ${names.length} columns`);
      continue;
    }
    const cells = names.map((name, column) => [name!, record[column] ?? ''] as const);
    const given = Object.fromEntries(cells.filter(([name, cell]) => cell !== '' || name === 'stigs'));
    const read = readHost(place, { ...given, ...stigsIn(given) }, seen);
    if (!read.host) {
      problems.push(read.problem);
      continue;
    }
    const slugged = withSlugs(read.host, among);
    if ('host' in slugged) hosts.push(slugged.host);
    else problems.push(`${place} (${cut(read.host.hostName)}): the list has no STIG ${cut(slugged.lacking)}`);
  }
  if (problems.length === 0 && hosts.length === 0) problems.push('There is no host');
  if (hosts.length > maxHosts)
    problems.push(`There are more than ${maxHosts} hosts. One zip can have at most ${maxHosts}`);
  const more = problems.length - mostProblems;
  return {
    hosts,
    problems: more > 0 ? [...problems.slice(0, mostProblems), `${more} more lines are wrong`] : problems,
  };
}

/** The names in the cell of the column `stigs`, where the table has it. */
function stigsIn({ stigs }: { stigs?: string }): { stigs?: string[] } {
  if (stigs === undefined) return {};
  const names = stigs.split(';').map((name) => name.trim());
  return { stigs: names.filter((name) => name !== '') };
}

const folded = (cell: string) => cell.toLowerCase().replace(/[\s_-]/g, '');
const isHostName = (cell: string) => folded(cell) === 'hostname';

function delimiterOf(text: string): string {
  const first = /[^\s\uFEFF].*/.exec(text)?.[0] ?? '';
  return ['\t', ';'].find((each) => first.includes(each)) ?? ',';
}

function headerProblem(cells: string[], names: (keyof ChecklistHost | undefined)[]): string | null {
  const unknown = names.indexOf(undefined);
  if (unknown >= 0)
    return `there is no column "${cells[unknown]!.slice(0, 64)}". The columns are ${columns.join(', ')}`;
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) return `the column ${repeated} is listed twice`;
  return names.includes('hostName') ? null : 'the column hostName is missing';
}
