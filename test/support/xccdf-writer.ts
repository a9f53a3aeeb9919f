/** One rule of a synthetic benchmark. What is left out is made up from the rule's number. */
export interface SampleRule {
  groupId?: string;
  groupTitle?: string;
  ruleId?: string;
  severity?: string;
  version?: string;
  title?: string;
  /** The description before XML escaping. */
  description?: string;
  fixTexts?: string[];
  checks?: string[];
  checkSystem?: string;
  ccis?: string[];
  legacyIds?: string[];
}

/** A synthetic benchmark in the publisher's format. */
export interface SampleBenchmark {
  id?: string;
  title?: string;
  version?: number | string;
  release?: number | string;
  /** `12 Jan 2024`; null leaves it out. */
  date?: string | null;
  /** The whole release-info; null leaves the element out. */
  releaseInfo?: string | null;
  status?: string;
  statusDate?: string | null;
  description?: string;
  /** The rules, or how many to make up from `stem` (the STIG IDs) and `first` (the V- and SV-numbers). */
  rules?: SampleRule[] | number;
  stem?: string;
  first?: number;
  /** Raw XML before the first group and after the last. */
  before?: string;
  after?: string;
  declaration?: string;
  prefix?: string;
}

const namespace = 'http://checklists.nist.gov/xccdf/1.1';

/** Makes up `count` rules whose names follow from `stem` and `first`. */
export function sampleRules(count: number, stem = 'SAMP-01', first = 100001): SampleRule[] {
  return Array.from({ length: count }, (_, index) => ({
    groupId: `V-${first + index}`,
    ruleId: `SV-${first + index}r1_rule`,
    version: `${stem}-${String(index + 1).padStart(6, '0')}`,
  }));
}

/** Writes a benchmark as DISA does: XCCDF 1.1, pseudo-XML escaped in the descriptions. */
export function writeXccdf(sample: SampleBenchmark = {}): string {
  const p = sample.prefix === undefined ? '' : `${sample.prefix}:`;
  const bind = sample.prefix === undefined ? 'xmlns' : `xmlns:${sample.prefix}`;
  const rules = Array.isArray(sample.rules)
    ? sample.rules
    : sampleRules(sample.rules ?? 3, sample.stem, sample.first);
  const date = sample.date === undefined ? '12 Jan 2024' : sample.date;
  const said = date === null ? '' : ` Benchmark Date: ${date}`;
  const info =
    sample.releaseInfo === undefined ? `Release: ${sample.release ?? 1}${said}` : sample.releaseInfo;
  const statusDate = sample.statusDate === undefined ? '2023-12-20' : sample.statusDate;
  const element = (name: string, text: string, attributes = '') =>
    `<${p}${name}${attributes}>${escapeXml(text)}</${p}${name}>`;
  const attribute = (name: string, value: string) => ` ${name}="${escapeXml(value)}"`;

  const writeRule = (rule: SampleRule, index: number): string => {
    const id = rule.ruleId ?? `SV-${100001 + index}r1_rule`;
    const checks = rule.checks ?? [`Look whether setting ${index + 1} is on.`];
    return [
      `<${p}Group${attribute('id', rule.groupId ?? `V-${100001 + index}`)}>`,
      element('title', rule.groupTitle ?? 'SRG-SAMPLE-000001'),
      element('description', '<GroupDescription></GroupDescription>'),
      `<${p}Rule${attribute('id', id)} weight="10.0"${attribute('severity', rule.severity ?? 'medium')}>`,
      element('version', rule.version ?? `SAMP-01-${String(index + 1).padStart(6, '0')}`),
      element('title', rule.title ?? `Setting ${index + 1} must be on.`),
      element('description', rule.description ?? `<VulnDiscussion>Why ${index + 1}.</VulnDiscussion>`),
      `<${p}reference><dc:title>Sample</dc:title><dc:identifier>4711</dc:identifier></${p}reference>`,
      ...(rule.legacyIds ?? []).map((text) =>
        element('ident', text, attribute('system', 'http://cyber.mil/legacy')),
      ),
      ...(rule.ccis ?? ['CCI-000366']).map((text) =>
        element('ident', text, attribute('system', 'http://cyber.mil/cci')),
      ),
      ...(rule.fixTexts ?? [`Switch setting ${index + 1} on.`]).map((text) =>
        element('fixtext', text, attribute('fixref', `F-${index + 1}_fix`)),
      ),
      `<${p}fix id="F-${index + 1}_fix"></${p}fix>`,
      ...checks.map(
        (text) =>
          `<${p}check${attribute('system', rule.checkSystem ?? `C-${index + 1}_chk`)}><${p}check-content-ref href="Sample.xml" name="M"></${p}check-content-ref>${element('check-content', text)}</${p}check>`,
      ),
      `</${p}Rule></${p}Group>`,
    ].join('');
  };

  return [
    sample.declaration ?? '<?xml version="1.0" encoding="utf-8"?>',
    `<${p}Benchmark ${bind}="${namespace}" xmlns:dc="http://purl.org/dc/elements/1.1/"${attribute('id', sample.id ?? 'Sample_Product_STIG')}>`,
    element('status', sample.status ?? 'accepted', statusDate === null ? '' : attribute('date', statusDate)),
    element('title', sample.title ?? 'Sample Product Security Technical Implementation Guide'),
    element('description', sample.description ?? 'An invented product.'),
    info === null ? '' : element('plain-text', info, ' id="release-info"'),
    element('version', String(sample.version ?? 1)),
    sample.before ?? '',
    ...rules.map(writeRule),
    sample.after ?? '',
    `</${p}Benchmark>`,
  ].join('\n');
}

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
