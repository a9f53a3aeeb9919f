import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openCatalog } from '../../src/db/database.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { scapRules, writeScap } from '../support/scap-writer.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { jsonLines } from '../support/told.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

const count = 100;
const limitMb = 400;
/** With hardly more heap that lasts an import spends its time on collecting garbage. */
const lastingMb = 46;
const ruleCount = 46;
/** A benchmark of the usual size, under names of its own. */
function benchmark(number: number): string {
  const rules = sampleRules(ruleCount, `P${number}`, 1000 * number).map((rule) => ({
    ...rule,
    description: `<VulnDiscussion>${'Some text. '.repeat(500)}</VulnDiscussion>`,
  }));
  return writeXccdf({ id: `Product_${number}_STIG`, title: `Product ${number} STIG`, rules });
}

// The peak of the child's own memory: `maxRSS` would also hold what its parent used before the exec.
const reporter = `
  import { readFileSync } from 'node:fs';
  process.on('exit', () => {
    let peak = process.resourceUsage().maxRSS;
    try {
      peak = Number(/VmHWM:\\s*(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    } catch {}
    process.stderr.write('\\npeak ' + peak + ' kB\\n');
  });
`;

/** Imports a file in a child of its own: the peak of its memory in MB, its database and its summary. */
async function measure(name: string, data: string | Buffer, nodeArgs: string[] = []) {
  const folder = scratchFolder();
  const db = join(folder, 'x.db');
  const { code, stdout, stderr } = await gapstone(['import', put(folder, name, data), '--json', '--db', db], {
    nodeArgs: [...nodeArgs, '--import', `data:text/javascript,${encodeURIComponent(reporter)}`],
  });
  assert.is(code, 0, stderr.slice(-500));
  const peakMb = Number(/^peak (\d+) kB$/m.exec(stderr)?.[1]) / 1024;
  assert.ok(peakMb > 30, 'the peak was measured');
  process.stdout.write(`(${Math.round(peakMb)} MB) `);
  return { db, peakMb, summary: jsonLines(stdout).at(-1).summary };
}

const test = suite('memory of large imports');

test(`a library of ${count} benchmarks is imported in less than ${limitMb} MB`, async () => {
  const inner = Array.from({ length: count }, (_, index) => {
    const data = benchmark(index + 1);
    return {
      name: `${index}.zip`,
      data: makeZip([{ name: `U_${index}_Manual-xccdf.xml`, data }]),
      stored: true,
    };
  });
  // The heap that lasts has no room for the texts.
  assert.ok(benchmark(1).length * count > 0.4 * lastingMb * 1e6);
  const { db, peakMb, summary } = await measure('library.zip', makeZip(inner), [
    `--max-old-space-size=${lastingMb}`,
  ]);
  assert.equal([summary.sources, summary.imported], [1 + 2 * count, 1 + 2 * count]);
  assert.ok(peakMb < limitMb, `${peakMb} MB`);
  const stored = openCatalog(db);
  const number = (sql: string) => stored.sqlite.prepare(sql).pluck().get();
  assert.is(number('SELECT count(*) FROM stigs WHERE current_release_id IS NOT NULL'), count);
  assert.is(number('SELECT count(*) FROM findings'), count * ruleCount);
  stored.close();
});

test('a SCAP data stream of 30 MB takes less than 150 MB more than a small one', async () => {
  // OVAL as data streams have it: many small elements with attributes.
  const object =
    '<ind:textfilecontent54_object id="oval:mil.disa.stig.x:obj:100001" version="1" comment="the line 100001">' +
    '<ind:filepath>/etc/ssh/sshd_config</ind:filepath><ind:pattern operation="pattern match">^\\s*Ciphers</ind:pattern>' +
    '<ind:instance datatype="int">1</ind:instance></ind:textfilecontent54_object>';
  const stream = (bytes: number) => {
    const objects = object.repeat(Math.ceil(bytes / object.length));
    const before = `<ind:objects xmlns:ind="http://oval.mitre.org/XMLSchema/oval-definitions-5#independent">${objects}</ind:objects>`;
    return writeScap({ rules: scapRules(100_001, 400), before });
  };
  const [large, small] = [
    await measure('scap.xml', stream(30 * 1024 * 1024)),
    await measure('scap.xml', stream(0)),
  ];
  assert.ok(large.peakMb - small.peakMb < 150, `${large.peakMb - small.peakMb} MB`);
});

test.run();
