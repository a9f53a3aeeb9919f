import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import fc from 'fast-check';
import { cciList } from '../control-sources.ts';
import { hasReferenceData, reference, shipped } from '../reference.ts';
import { writeScap } from '../scap-writer.ts';
import { writeXccdf } from '../xccdf-writer.ts';
import { makeZip } from '../zip.ts';

/** A valid file of every format that an import takes, small, with the name that it goes by. */
export interface SampleFile {
  name: string;
  bytes: Buffer;
}

const document = `---
id: sample-directive
title: A sample directive
publisher: Sample Agency
doctype: directive
published: 2026-01-05
---
# A sample directive

The agency must keep a list. It shall be reviewed every year.

## Required actions

1. Agencies must patch within 14 days.
`;

/** One or more samples of every format: XCCDF, CCI list, OSCAL, CSV, JSON and Markdown, loose and zipped. */
export function sampleFiles(): SampleFile[] {
  const wide = writeXccdf({ rules: 1, declaration: '<?xml version="1.0" encoding="UTF-16"?>' });
  const other = { rules: 1, prefix: 'x', id: 'Other_STIG', title: 'Other STIG' };
  const files: SampleFile[] = [
    { name: 'sample.xml', bytes: Buffer.from(writeXccdf({ rules: 3, before: '<!-- sample -->' })) },
    { name: 'prefixed.xml', bytes: Buffer.from(writeXccdf(other)) },
    { name: 'wide.xml', bytes: Buffer.from(`\ufeff${wide}`, 'utf16le') },
    { name: 'cci.xml', bytes: Buffer.from(cciList('2016-06-27', [[1, [['3', 'AC-1 a']]]])) },
    { name: 'scap.xml', bytes: Buffer.from(writeScap()) },
  ];
  const loose = [
    shipped('controls', 'nist-800-171_rev2.csv'),
    shipped('mappings', 'nist-800-171_to_nist-800-53.csv'),
    shipped('regulatory', 'harbor-basic-directive.json'),
    shipped('roles', 'nice-work-roles.json'),
    ...(hasReferenceData
      ? [
          reference('oscal', 'NIST_SP-800-53_rev5_LOW-baseline_profile.json'),
          reference('sp800-171', 'sp800-171r2_to_sp800-53r4.csv'),
          reference('dod-8500', 'DiacapToRmf.xml'),
          reference('xccdf', 'U_Citrix_XenDesktop_7-x_StoreFront_V1R1_STIG.xml'),
        ]
      : []),
  ];
  for (const path of loose) files.push({ name: basename(path), bytes: readFileSync(path) });
  files.push({ name: 'document.md', bytes: Buffer.from(document) });
  const zipped = files.slice(0, 6).map(({ name, bytes }) => ({ name: `folder/${name}`, data: bytes }));
  const inner = { name: 'inner.zip', data: makeZip(zipped.slice(0, 2)), stored: true };
  files.push({ name: 'sample.zip', bytes: makeZip(zipped) });
  files.push({ name: 'nested.zip', bytes: makeZip([inner, ...zipped.slice(2, 4)]) });
  return files;
}

const inserts = [
  ...String.raw`<!DOCTYPE x [<!ENTITY a "b">]>  &a;  &#0;  &#xD800;  &#1114112;  <![CDATA[  ]]>  <!--  -->  <?x  <Group>
    </Group>  </Benchmark>  encoding="utf-16"  {"__proto__":  "constructor":  ]  1e999  \ud800  \u0000  null  "  {  }
    """  ,,,,  &x *x  !!js/function  =cmd|`.split(/\s{2,}/),
  ...['<a '.repeat(200), '<a>'.repeat(100), ' x="1"'.repeat(70), '['.repeat(5000), ' '.repeat(10_000)],
  ...['PK\x01\x02', 'PK\x03\x04', 'PK\x05\x06', 'PK\x06\x06', '\r', '\n\n', '\t', '---\n'],
  ...['\x00', '\x00'.repeat(100), '\x7f', '\u202e', 'İ'],
].map((text) => Buffer.from(text));
const bytes = ['ff', 'fffe', 'feff', 'efbbbf', 'c0af', 'eda080', 'f4908080', '80'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

type Edit = (file: Buffer, at: number, length: number, other: Buffer) => Buffer;
const edits: Record<string, Edit> = {
  flipBit(file, at, length) {
    const copy = Buffer.from(file);
    copy[at] = copy[at]! ^ (1 << (length % 8));
    return copy;
  },
  cutEnd: (file, at) => file.subarray(0, at),
  cutOut: (file, at, length) => Buffer.concat([file.subarray(0, at), file.subarray(at + length)]),
  repeat: (file, at, length) => Buffer.concat([file.subarray(0, at + length), file.subarray(at)]),
  insert(file, at, length) {
    const all = [...inserts, ...bytes];
    return Buffer.concat([file.subarray(0, at), all[length % all.length]!, file.subarray(at)]);
  },
  splice: (file, at, length, other) =>
    Buffer.concat([file.subarray(0, at), other.subarray(length % (other.length + 1))]),
  overwrite: (file, at, length) => Buffer.from(file).fill(length % 256, at, Math.min(at + 4, file.length)),
};

/** How a file is damaged: which sample, what is done to it where, and whether a whole zip is put around it. */
export interface Damage {
  sample: number;
  edits: { how: string; where: number; length: number; other: number }[];
  zip: boolean;
}

/** Damages in one to three places: bits flipped, parts cut, doubled, spliced or put in. Small, so that a failure can be read. */
export function damages(samples: number): fc.Arbitrary<Damage> {
  const sample = fc.nat({ max: samples - 1 });
  const edit = fc.record({
    how: fc.constantFrom(...Object.keys(edits), 'insert'),
    where: fc.integer({ min: 0, max: 9999 }),
    length: fc.nat({ max: 3000 }),
    other: sample,
  });
  return fc.record({ sample, edits: fc.array(edit, { minLength: 1, maxLength: 3 }), zip: fc.boolean() });
}

/** Does to a sample what a damage says. */
export function damaged(samples: SampleFile[], damage: Damage): SampleFile {
  const { name, bytes: sound } = samples[damage.sample]!;
  let file = sound;
  for (const { how, where, length, other } of damage.edits)
    if (file.length > 0)
      file = edits[how]!(file, Math.floor((where / 10_000) * file.length), length, samples[other]!.bytes);
  // A share of them lies in a zip that is whole, so that what is damaged is met inside.
  if (!damage.zip || name.endsWith('.zip')) return { name, bytes: file };
  return { name: `${name}.zip`, bytes: makeZip([{ name, data: file }]) };
}
