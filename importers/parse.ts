import { ImportError } from './errors.ts';
import type { Parsed } from './format.ts';
import { BenchmarkBuilder } from './xccdf/builder.ts';
import { interpretBenchmark, xccdfNamespace } from './xccdf/parse.ts';
import { readXml, type XmlElement } from './xml/gate.ts';

/**
 * Finds the kind of a source from its bytes, never from its name, and reads it. Pure: no database, no files.
 * Throws `ImportError` for a kind of ours that is bad and for what begins with `<` and is no XML.
 */
export function parseSource(bytes: Uint8Array, options: { strict?: boolean } = {}): Parsed {
  if (bytes.byteLength === 0) return skipped('the file is empty');
  if (beginsWith(bytes, '<')) return parseXml(bytes, options);
  return skipped('the content is of no known kind');
}

function skipped(reason: string): Parsed {
  return { kind: 'other', record: null, reason, warnings: [] };
}

/** True when the first character that is no blank (after a byte-order mark, in UTF-8 or UTF-16) is the one given. */
function beginsWith(bytes: Uint8Array, character: string): boolean {
  const head = Buffer.from(bytes.subarray(0, 1024));
  const wide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  const text = wide ? head.toString('latin1').replaceAll('\0', '') : head.toString('latin1');
  return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*([^\s])/.exec(text)?.[1] === character;
}

const scapRoots = new Set(['data-stream-collection', 'data-stream']);

function parseXml(bytes: Uint8Array, options: { strict?: boolean }): Parsed {
  let builder: BenchmarkBuilder | null = null;
  try {
    const { warnings, root } = readXml(bytes, options, (element) => {
      if (element.local === 'Benchmark' && element.uri === xccdfNamespace)
        builder = new BenchmarkBuilder(element.uri);
      return builder;
    });
    return builder === null ? skipXml(root, warnings) : fromBenchmark(builder, warnings);
  } catch (error) {
    if (error instanceof ImportError && builder !== null) error.kind = 'xccdf';
    throw error;
  }
}

function fromBenchmark(builder: BenchmarkBuilder, warnings: string[]): Parsed {
  const result = interpretBenchmark(builder);
  return 'release' in result
    ? { kind: 'xccdf', record: result.release, warnings: [...warnings, ...result.warnings] }
    : { kind: result.kind, record: null, reason: result.reason, warnings };
}

function skipXml(root: XmlElement, warnings: string[]): Parsed {
  if (isScap(root)) {
    const reason = `SCAP content (automated checks, root <${root.local}>): it never creates or replaces a STIG`;
    return { kind: 'scap', record: null, reason, warnings };
  }
  return {
    kind: 'other',
    record: null,
    reason: `XML of no kind of ours: root <${root.local.slice(0, 64)}>`,
    warnings,
  };
}

function isScap(root: XmlElement): boolean {
  if (scapRoots.has(root.local) && root.uri.startsWith('http://scap.nist.gov/schema/scap/source/'))
    return true;
  return root.local === 'Benchmark' && root.uri === 'http://checklists.nist.gov/xccdf/1.2';
}
