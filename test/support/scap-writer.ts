/** A rule of synthetic SCAP content; `checks` are what each of its checks refers to. */
export interface SampleScapRule {
  ruleId: string;
  groupId: string;
  checks?: ('oval' | 'ocil' | 'oval without a reference' | 'oval in a complex check')[];
}

/** Synthetic SCAP content in the publishers' format. */
export interface SampleScap {
  collection?: string;
  benchmarkId?: string;
  title?: string;
  version?: string;
  scapVersion?: string | null;
  releaseInfo?: string;
  statusDate?: string;
  rules?: SampleScapRule[];
  /** Raw XML in a component before the benchmark's. */
  before?: string;
}

const systems = {
  oval: 'http://oval.mitre.org/XMLSchema/oval-definitions-5',
  ocil: 'http://scap.nist.gov/schema/ocil/2',
};
const xccdf = 'http://checklists.nist.gov/xccdf/1.2';

/** Makes up rules of the numbers from `first` on, of which each tests its revision. */
export function scapRules(first: number, count: number, revision = 1): SampleScapRule[] {
  return Array.from({ length: count }, (_, index) => ({
    ruleId: `SV-${first + index}r${revision}_rule`,
    groupId: `V-${first + index}`,
  }));
}

function writeCheck(kind: NonNullable<SampleScapRule['checks']>[number]): string {
  const ref = '<x:check-content-ref href="a.xml" name="a:1"/>';
  const check = (system: string, content: string) => `<x:check system="${system}">${content}</x:check>`;
  if (kind === 'oval without a reference') return check(systems.oval, '');
  if (kind === 'oval in a complex check')
    return `<x:complex-check operator="OR">${check(systems.ocil, ref)}${check(systems.oval, ref)}</x:complex-check>`;
  return check(systems[kind], ref);
}

/** The benchmark of a content, as a component has it. */
export function writeScapBenchmark(sample: SampleScap = {}): string {
  const { benchmarkId = 'SAMPLE', title = 'Sample STIG SCAP Benchmark', version = '001.001' } = sample;
  const { releaseInfo = 'Benchmark Date: 12 Jan 2024', statusDate = '2023-12-20' } = sample;
  const rules = (sample.rules ?? scapRules(100001, 3)).map(
    ({ ruleId, groupId, checks = ['oval', 'ocil'] }) =>
      `<x:Group id="xccdf_mil.disa.stig_group_${groupId}"><x:title>SRG</x:title>` +
      `<x:Rule id="xccdf_navy.navwar.niwcatlantic.scc.ms_rule_${ruleId}"><x:version>S-1</x:version>` +
      `<x:title>A rule</x:title>${checks.map(writeCheck).join('')}</x:Rule></x:Group>`,
  );
  return (
    `<x:Benchmark xmlns:x="${xccdf}" id="xccdf_mil.disa.stig_benchmark_${benchmarkId}">` +
    `<x:status date="${statusDate}">accepted</x:status><x:title>${title}</x:title>` +
    `<x:plain-text id="release-info">${releaseInfo}</x:plain-text><x:version>${version}</x:version>` +
    `<x:Profile id="p"><x:title>Not the name</x:title></x:Profile>${rules.join('')}</x:Benchmark>`
  );
}

/** Writes a data stream as the publishers do; several samples are benchmarks of one. */
export function writeScap(...samples: SampleScap[]): string {
  const [{ collection = 'scap_mil.disa.stig_collection_S', scapVersion = '1.3', before = '' } = {}] = samples;
  const stated = scapVersion === null ? '' : ` scap-version="${scapVersion}"`;
  const components = (samples.length === 0 ? [{}] : samples).map(
    (sample, index) => `<component id="c${index}">${writeScapBenchmark(sample)}</component>`,
  );
  const refs = components.map((_, index) => `<component-ref id="r${index}" l:href="#c${index}"/>`);
  return (
    `<data-stream-collection xmlns="http://scap.nist.gov/schema/scap/source/1.2" xmlns:l="http://www.w3.org/1999/xlink" ` +
    `id="${collection}"><data-stream id="d"${stated}><checklists>${refs.join('')}</checklists></data-stream>` +
    `<component id="o">${before}</component>${components.join('')}</data-stream-collection>`
  );
}
