import { put } from './scratch.ts';

/** The tables of an invented release, by file name. */
export type Release = Record<string, string[][]>;

/** An invented release of three occupations; every text is ours. */
export function sampleRelease(): Release {
  const ratings = ['N', 'n/a', '08/2024', 'Analyst'];
  const element = ['O*NET-SOC Code', 'Element ID', 'Element Name', 'Scale ID', 'Data Value'];
  const rest = ['Recommend Suppress', 'Not Relevant', 'Date', 'Domain Source'];
  return {
    'Occupation Data.txt': [
      ['O*NET-SOC Code', 'Title', 'Description'],
      ['15-1244.00', 'Harbor Administrators', 'Keep the machines of a harbor running.'],
      ['15-1299.99', 'Lamp Keepers', 'Keep lamps lit.'],
      ['53-7062.00', 'Dockers', 'Move what arrives.'],
    ],
    'Job Zones.txt': [
      ['O*NET-SOC Code', 'Job Zone', 'Date', 'Domain Source'],
      ['15-1244.00', '4', '08/2024', 'Analyst'],
      ['53-7062.00', '2', '08/2024', 'Analyst'],
    ],
    'Job Zone Reference.txt': [
      ['Job Zone', 'Name', 'Experience'],
      ['2', 'Job Zone Two: A Little', 'n/a'],
      ['4', 'Job Zone Four: A Lot', 'n/a'],
    ],
    'Task Statements.txt': [
      ['O*NET-SOC Code', 'Task ID', 'Task', 'Task Type', 'Date'],
      ['15-1244.00', '1', 'Start the pumps.', 'Core', '08/2024'],
      ['15-1244.00', '2', 'Stop the "pumps", and lock the door.', 'n/a', '08/2024'],
      ['53-7062.00', '3', 'Carry.', 'Supplemental', '08/2024'],
    ],
    'Technology Skills.txt': [
      ['O*NET-SOC Code', 'Example', 'Commodity Code', 'Commodity Title', 'Hot Technology', 'In Demand'],
      ['15-1244.00', 'Linux', '43233004', 'Operating system software', 'Y', 'Y'],
      ['15-1299.99', 'Linux', '43233004', 'Operating system software', 'N', 'N'],
      ['53-7062.00', 'Linux', '43233004', 'Operating system software', 'Y', 'Y'],
    ],
    'Skills.txt': [
      [...element, ...rest],
      ['15-1244.00', '2.B.1.a', 'Talking', 'LV', '3.50', ...ratings],
      ['15-1244.00', '2.A.1.a', 'Reading', 'LV', '4.12', ...ratings],
      ['15-1244.00', '2.A.1.a', 'Reading', 'IM', '3.00', ...ratings],
      ['15-1244.00', '2.A.1.b', 'Unsure', 'IM', '1.00', 'Y', 'n/a', '08/2024', 'Analyst'],
      ['15-1244.00', '2.A.1.c', 'Of no matter', 'LV', '0.00', 'N', 'Y', '08/2024', 'Analyst'],
      ['15-1244.00', '2.C.1', 'Knowledge is left out', 'IM', '5.00', ...ratings],
      ['15-1244.00', '1.A.1', 'Hearing', 'IM', '2.00', ...ratings],
      ['15-1244.00', '4.A.1', 'Looking', 'IM', '2.25', ...ratings],
    ],
    'Education, Training, and Experience.txt': [
      [...element.slice(0, 4), 'Category', 'Data Value', 'Recommend Suppress', 'Date'],
      ['15-1244.00', '2.D.1', 'Schooling', 'RL', '10', '40.00', 'N', '08/2024'],
      ['15-1244.00', '2.D.1', 'Schooling', 'RL', '6', '60.00', 'N', '08/2024'],
      ['15-1244.00', '2.D.1', 'Schooling', 'RL', '7', '0.00', 'N', '08/2024'],
      ['15-1244.00', '3.A.1', 'Experience', 'RW', '1', '10.00', 'N', '08/2024'],
    ],
    'Education, Training, and Experience Categories.txt': [
      ['Element ID', 'Element Name', 'Scale ID', 'Category', 'Category Description'],
      ['2.D.1', 'Schooling', 'RL', '6', 'Harbor school'],
    ],
  };
}

/** The text of a table. */
export function tableText(rows: string[][], lineEnd = '\r\n'): string {
  return rows.map((row) => row.join('\t') + lineEnd).join('');
}

/** Writes a release into a folder and gives its path. */
export function putRelease(folder: string, name: string, release: Release, lineEnd = '\r\n'): string {
  for (const [file, rows] of Object.entries(release))
    put(folder, `${name}/${file}`, tableText(rows, lineEnd));
  return `${folder}/${name}`;
}
