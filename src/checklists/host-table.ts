import { cut } from '../base/text.ts';
import {
  type ChecklistHost,
  maxHosts,
  readHost,
  type StigAmong,
  withSlugs,
} from '../catalog/stigs/host-schema.ts';
import { readTable, type TableRow } from '../read/table.ts';

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

interface HostTable {
  hosts: ChecklistHost[];
  problems: string[];
}

const longestLine = 16 * 1024;

/** Spreadsheets save empty rows, too. */
const mostRows = 20_000;

const mostProblems = 10;

/**
 * Reads a table of hosts: csv or pasted cells. With a header the columns are `hostName` and any others; without one, where
 * that is allowed, they are name, address, FQDN and role. `among` finds the STIGs of the column `stigs`, which are
 * separated by `;`.
 */
export function readHosts(
  text: string,
  { mustHaveHeader, among }: { mustHaveHeader: boolean; among: StigAmong },
): HostTable {
  const tooLong = text.split('\n').findIndex((line) => line.length > longestLine);
  if (tooLong >= 0)
    return { hosts: [], problems: [`Line ${tooLong + 1}: it has more than ${longestLine} characters`] };
  let rows: TableRow[];
  try {
    rows = readTable(text, mostRows);
  } catch (error) {
    return { hosts: [], problems: [(error as Error).message.split('\n')[0]!] };
  }
  const [first] = rows;
  if (first === undefined) return { hosts: [], problems: ['There is no host'] };
  const named = first.cells.map((cell) => columnNames[folded(cell)]);
  // The first line is a header where every cell is a column name, or one is hostName.
  const isHeader = named.every((name) => name !== undefined) || first.cells.some(isHostName);
  const hasHeader = mustHaveHeader || isHeader;
  const wrong = hasHeader ? headerProblem(first.cells, named) : null;
  if (wrong !== null) return { hosts: [], problems: [`Line ${first.line}: ${wrong}`] };

  const names = hasHeader ? named : plainColumns;
  const data = hasHeader ? rows.slice(1) : rows;
  const hosts: ChecklistHost[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { cells, line } of data) {
    const place = `Line ${line}`;
    if (cells.slice(names.length).some((cell) => cell !== '')) {
      problems.push(`${place}: it has more than ${names.length} columns`);
      continue;
    }
    const named = names.map((name, column) => [name!, cells[column] ?? ''] as const);
    const given = Object.fromEntries(named.filter(([name, cell]) => cell !== '' || name === 'stigs'));
    const read = readHost(place, { ...given, ...stigsIn(given) }, seen);
    if (!('host' in read)) {
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

function headerProblem(cells: string[], names: (keyof ChecklistHost | undefined)[]): string | null {
  const unknown = names.indexOf(undefined);
  if (unknown >= 0)
    return `there is no column "${cells[unknown]!.slice(0, 64)}". The columns are ${columns.join(', ')}`;
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) return `the column ${repeated} is listed twice`;
  return names.includes('hostName') ? null : 'the column hostName is missing';
}
