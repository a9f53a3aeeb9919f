// Makes the facts of a CCI list that ship, from DISA's U_CCI_List.xml: node packaging/cci-facts.mjs FILE
// Facts alone, for D40.3: ids, statuses, types and references. Definitions stay with DISA.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { parseSource } from '../importers/parse.ts';

const { content } = parseSource(readFileSync(process.argv[2]));
const [{ edition, items, pairs }] = content.records;

const write = (name, rows) =>
  writeFileSync(join(import.meta.dirname, '..', 'data', name), stringify(rows, { header: true }));

write(
  'controls/cci.csv',
  items.map(({ identifier, status, type }) => ({
    framework: 'cci',
    version: edition,
    identifier,
    status,
    type: type.replaceAll(', ', ';'),
  })),
);
// A pair that several references state ships once, with the first of them.
const stated = new Map();
for (const { fromIdentifier, toVersion, toIdentifier, reference } of pairs) {
  const pair = [fromIdentifier, toVersion, toIdentifier].join();
  if (stated.has(pair)) continue;
  const ends = { fromFramework: 'cci', fromVersion: edition, fromIdentifier };
  stated.set(pair, { ...ends, toFramework: 'nist-800-53', toVersion, toIdentifier, reference });
}
write('mappings/cci_to_nist-800-53.csv', [...stated.values()]);
