import type { Parsed } from '../format.ts';
import { readXml, type XmlElement } from '../read/xml.ts';
import { BenchmarkBuilder } from './xccdf-builder.ts';
import { interpretBenchmark, xccdfNamespaces } from './xccdf-parse.ts';
import { toRows } from './xccdf-rows.ts';

const namespaces = Object.values(xccdfNamespaces);

/** True for the root element of an XCCDF benchmark; whose it is only shows when it is read. */
export function isBenchmark(root: XmlElement): boolean {
  return root.local === 'Benchmark' && namespaces.includes(root.uri);
}

/** Whether bytes begin like a benchmark; only reading them tells. */
export function looksLikeBenchmark(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, 4096);
  return (
    /^(?:\xef\xbb\xbf)?\s*</.test(head) &&
    /<(?:[\w.-]+:)?Benchmark\s/.test(head) &&
    namespaces.some((namespace) => head.includes(namespace))
  );
}

/** What a benchmark that was read turned out to be. Throws `ImportError` for a bad one. */
export function fromBenchmark(builder: BenchmarkBuilder, warnings: string[]): Parsed {
  const result = interpretBenchmark(builder);
  if (!('release' in result)) return { kind: result.kind, content: null, reason: result.reason, warnings };
  const content = { type: 'stig' as const, release: toRows(result.release) };
  return { kind: 'xccdf', content, warnings: [...warnings, ...result.warnings] };
}

/** Reads the bytes of a benchmark; null where the root is another. Pure; throws `ImportError`. */
export function parseBenchmark(bytes: Uint8Array, options: { strict: boolean }): Parsed | null {
  const read: { builder?: BenchmarkBuilder } = {};
  const { warnings } = readXml(bytes, options, (root) => {
    if (!isBenchmark(root)) return null;
    read.builder = new BenchmarkBuilder(root.uri);
    return read.builder;
  });
  return read.builder === undefined ? null : fromBenchmark(read.builder, warnings);
}
