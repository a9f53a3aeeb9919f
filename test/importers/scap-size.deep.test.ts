import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { scapRules, writeScap } from '../support/scap-writer.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const size = suite('The size of SCAP content');

const megabyte = 1024 * 1024;

/** OVAL as data streams have it: many small elements with attributes. */
function oval(bytes: number): string {
  const one = (index: number) =>
    `<ind:textfilecontent54_object id="oval:mil.disa.stig.x:obj:${index}" version="1" comment="the line ${index}">` +
    '<ind:filepath>/etc/ssh/sshd_config</ind:filepath><ind:pattern operation="pattern match">^\\s*Ciphers</ind:pattern>' +
    '<ind:instance datatype="int">1</ind:instance></ind:textfilecontent54_object>';
  const many = Math.ceil(bytes / one(100_000).length);
  const rows = Array.from({ length: many }, (_, index) => one(100_000 + index));
  return `<ind:objects xmlns:ind="http://oval.mitre.org/XMLSchema/oval-definitions-5#independent">${rows.join('')}</ind:objects>`;
}

const stream = (bytes: number) => writeScap({ rules: scapRules(100_001, 400), before: oval(bytes) });

const peakReporter = `
  import { readFileSync } from 'node:fs';
  process.on('exit', () => {
    let peak = process.resourceUsage().maxRSS;
    try {
      peak = Number(/VmHWM:\\s*(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    } catch {}
    process.stderr.write('\\npeak ' + peak + ' kB\\n');
  });
`;

/** The peak memory of an import in a process of its own, in MB. */
async function peakOf(text: string): Promise<number> {
  const folder = scratchFolder();
  const file = put(folder, 'scap.xml', text);
  const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(peakReporter)}`];
  const { code, stderr } = await gapstone(['import', file, '--db', join(folder, 'x.db')], { nodeArgs });
  assert.is(code, 0, stderr.slice(-500));
  return Number(/^peak (\d+) kB$/m.exec(stderr)?.[1]) / 1024;
}

size('a data stream of 30 MB takes less than 150 MB more than a small one', async () => {
  const text = stream(30 * megabyte);
  assert.ok(text.length > 30 * megabyte);
  const more = (await peakOf(text)) - (await peakOf(stream(0)));
  process.stdout.write(`(${Math.round(more)} MB) `);
  assert.ok(more < 150, `${more} MB`);
});

size.run();
