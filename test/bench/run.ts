import { benchImport } from './import.ts';
import { benchPrograms } from './programs.ts';
import { benchReading } from './read.ts';
import { benchSearching } from './search.ts';
import { benchSilence } from './silence.ts';

// `npm run bench [PART...]`: measures, prints tables with the targets beside, and never fails on a figure.
const parts: Record<string, () => Promise<void>> = {
  import: benchImport,
  read: benchReading,
  search: benchSearching,
  mcp: benchPrograms,
  silence: benchSilence,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  process.stderr.write(`there is no part ${unknown.join(', ')}; there is ${Object.keys(parts).join(', ')}\n`);
  process.exitCode = 2;
} else {
  for (const [name, part] of Object.entries(parts))
    if (wanted.length === 0 || wanted.includes(name)) await part();
}
