import { escapeXml } from './xccdf-writer.ts';

// Writes the results of scans in all the shapes that tools write them in.

export interface SampleResult {
  /** The id of the rule as the STIG has it. */
  id: string;
  result: string;
  message?: string;
}

export interface ScanShape {
  namespace?: '1.1' | '1.2' | 'none';
  prefix?: string | undefined;
  around?: 'nothing' | 'benchmark' | 'arf' | 'wrapper';
  /** What stands before each rule id. */
  idPrefix?: string;
  benchmarkId?: string;
  version?: string;
  releaseInfo?: string;
  target?: string;
  tool?: string;
  /** Raw XML inside the TestResult, before its rule results. */
  facts?: string;
  /** Raw XML behind the TestResult. */
  after?: string;
}

/** The XML of the results of a scan. */
export function writeResults(results: SampleResult[], shape: ScanShape = {}): string {
  const { namespace = '1.2', prefix, around = 'benchmark', idPrefix = '', after = '' } = shape;
  const p = prefix === undefined || namespace === 'none' ? '' : `${prefix}:`;
  const uri = `http://checklists.nist.gov/xccdf/${namespace}`;
  const bind = namespace === 'none' ? ' xmlns=""' : ` xmlns${p === '' ? '' : `:${prefix}`}="${uri}"`;
  const element = (name: string, text: string, attributes = '') =>
    `<${p}${name}${attributes}>${escapeXml(text)}</${p}${name}>`;
  const named = shape.benchmarkId === undefined ? '' : ` id="${escapeXml(shape.benchmarkId)}"`;
  const tool = shape.tool === undefined ? '' : ` test-system="${escapeXml(shape.tool)}"`;
  const test = [
    `<${p}TestResult${bind} id="t" end-time="2026-01-05T10:00:00"${tool}>`,
    shape.benchmarkId === undefined ? '' : `<${p}benchmark href="x.xml"${named}/>`,
    shape.target === undefined ? '' : element('target', shape.target),
    shape.facts ?? '',
    ...results.map(
      ({ id, result, message }) =>
        `<${p}rule-result idref="${escapeXml(idPrefix + id)}">${element('result', `\n${result}\n`)}${
          message === undefined ? '' : element('message', message, ' severity="info"')
        }</${p}rule-result>`,
    ),
    `</${p}TestResult>`,
  ].join('\n');
  const info =
    shape.releaseInfo === undefined ? '' : element('plain-text', shape.releaseInfo, ' id="release-info"');
  const benchmark = (inside: string) =>
    `<${p}Benchmark${bind}${named}>${info}${shape.version === undefined ? '' : element('version', shape.version)}${inside}</${p}Benchmark>`;
  const arf = 'http://scap.nist.gov/schema/asset-reporting-format/1.1';
  const texts = {
    nothing: test,
    benchmark: benchmark(test + after),
    wrapper: `<w xmlns="urn:w"><v>${test}</v></w>`,
    // The data stream that was used lies in the same file.
    arf: `<a:asset-report-collection xmlns:a="${arf}"><a:report-requests>${benchmark('')}</a:report-requests><a:reports><a:report><a:content>${test}${after}</a:content></a:report></a:reports></a:asset-report-collection>`,
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${texts[around]}`;
}
