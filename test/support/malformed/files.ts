import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { hasReferenceData, reference, shipped } from '../reference.ts';
import { writeXccdf } from '../xccdf-writer.ts';
import { makeZip } from '../zip.ts';

/** A valid file of every format that an import takes, small, with the name that it goes by. */
export interface SampleFile {
  name: string;
  bytes: Buffer;
}

/** One or more samples of every format: XCCDF, CCI list, OSCAL, CSV, JSON and Markdown, loose and zipped. */
export function sampleFiles(): SampleFile[] {
  const cciList = `<?xml version="1.0" encoding="utf-8"?>
<cci_list xmlns="http://iase.disa.mil/cci"><metadata><version>2016-06-27</version><publishdate>2016-06-27</publishdate></metadata><cci_items>
<cci_item id="CCI-000001"><status>draft</status><publishdate>2009-05-13</publishdate><contributor>DISA</contributor><definition>Sample.</definition><type>policy</type>
<references><reference creator="NIST" title="NIST SP 800-53" version="3" location="x" index="AC-1 a"/></references></cci_item></cci_items></cci_list>`;
  const files: SampleFile[] = [
    { name: 'sample.xml', bytes: Buffer.from(writeXccdf({ rules: 3, before: '<!-- sample -->' })) },
    { name: 'prefixed.xml', bytes: Buffer.from(writeXccdf({ rules: 1, prefix: 'x', id: 'Other_STIG', title: 'Other STIG' })) },
    { name: 'wide.xml', bytes: Buffer.from(`\ufeff${writeXccdf({ rules: 1, declaration: '<?xml version="1.0" encoding="UTF-16"?>' })}`, 'utf16le') },
    { name: 'cci.xml', bytes: Buffer.from(cciList) },
  ];
  const loose = [
    ...['mappings', 'roles', 'regulatory'].map((folder) => shipped(folder)),
    ...(hasReferenceData
      ? [
          reference('oscal', 'NIST_SP-800-53_rev5_LOW-baseline_profile.json'),
          reference('sp800-171', 'sp800-171r2_to_sp800-53r4.csv'),
          reference('dod-8500', 'DiacapToRmf.xml'),
          reference('xccdf', 'U_Citrix_XenDesktop_7-x_StoreFront_V1R1_STIG.xml'),
        ]
      : []),
  ];
  for (const path of loose) for (const file of smallFiles(path)) files.push(file);
  const zipped = files.slice(0, 6).map(({ name, bytes }) => ({ name: `folder/${name}`, data: bytes }));
  const inner = makeZip(zipped.slice(0, 2));
  files.push(
    { name: 'sample.zip', bytes: makeZip(zipped) },
    { name: 'nested.zip', bytes: makeZip([{ name: 'inner.zip', data: inner, stored: true }, ...zipped.slice(2, 4)]) },
  );
  return files;
}
