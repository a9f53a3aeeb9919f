import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openCatalog } from '../../src/db/database.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { hasReferenceData, reference } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { readBenchmark } from '../support/xccdf-reader.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

const count = 160;
const limitMb = 500;
/** An import needs some 30 MB that last; with hardly more it spends its time on collecting garbage. */
const neededMb = 30;
const lastingMb = 46;

/** A benchmark of the usual size: a real one, or one made up where the reference data is absent. */
function original(): string {
  if (hasReferenceData)
    return readFileSync(reference('xccdf', 'U_Google_Chrome_STIG_V2R11_Manual-xccdf.xml'), 'utf8');
  const rules = sampleRules(46).map((rule) => ({
    ...rule,
    description: `<VulnDiscussion>${'Some text. '.repeat(250)}</VulnDiscussion>`,
  }));
  return writeXccdf({ rules });
}

/** The same benchmark under other names: id, title, V-, SV- and STIG IDs. */
function rename(text: string, number: number): string {
  return text
    .replace(/(<Benchmark\b[^>]*\sid=")[^"]*"/, `$1Product_${number}_STIG"`)
    .replace(/<title>[^<]*</, `<title>Product ${number} Security Technical Implementation Guide<`)
    .replace(/\bV-(\d{5,6})\b/g, `V-${number}$1`)
    .replace(/\bSV-(\d{5,6})(r\d+_rule)/g, `SV-${number}$1$2`)
    .replace(/<version>([A-Z]+)(-[^<]*)</g, `<version>$1${number}$2<`);
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

interface Measured {
  db: string;
  peakMb: number;
  summary: { sources: number; imported: number; ms: number };
}

/** Imports a library of so many benchmarks, a zip of zips, in a child of its own. */
async function measure(text: string, count: number): Promise<Measured> {
  const inner = Array.from({ length: count }, (_, index) => {
    const name = `U_Product_${index + 1}_V1R1`;
    const data = rename(text, index + 1);
    return {
      name: `${name}_STIG.zip`,
      data: makeZip([{ name: `${name}_Manual_STIG/${name}_Manual-xccdf.xml`, data }]),
      stored: true,
    };
  });
  const folder = scratchFolder();
  const zip = put(folder, 'library.zip', makeZip(inner));
  const db = join(folder, 'x.db');
  const { code, stdout, stderr } = await gapstone(['import', zip, '--json', '--db', db], {
    nodeArgs: [
      `--max-old-space-size=${lastingMb}`,
      '--import',
      `data:text/javascript,${encodeURIComponent(reporter)}`,
    ],
  });
  assert.is(code, 0, stderr.slice(-500));
  const { summary } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!);
  const peakMb = Number(/^peak (\d+) kB$/m.exec(stderr)?.[1]) / 1024;
  assert.ok(peakMb > 30, 'the peak was measured');
  return { db, peakMb, summary };
}

const test = suite('memory and time of large imports');

test(`a library of ${count} benchmarks is imported in less than ${limitMb} MB`, async () => {
  const text = original();
  const { rules } = readBenchmark(text);
  // The heap that lasts has no room for the texts.
  assert.ok(text.length * count > (lastingMb - neededMb) * 1e6);
  const { db, peakMb, summary } = await measure(text, count);
  process.stdout.write(`(${Math.round(peakMb)} MB) `);
  assert.is(summary.sources, 1 + 2 * count);
  assert.is(summary.imported, 1 + 2 * count);
  assert.ok(peakMb < limitMb, `${peakMb} MB`);
  const stored = openCatalog(db);
  const number = (sql: string) => stored.sqlite.prepare(sql).pluck().get();
  assert.is(number('SELECT count(*) FROM stigs WHERE current_release_id IS NOT NULL'), count);
  assert.is(number('SELECT count(*) FROM findings'), count * rules.length);
  assert.is(number(`SELECT count(*) FROM stigs WHERE slug = 'product_${count}'`), 1);
  stored.close();
});

test.run();
