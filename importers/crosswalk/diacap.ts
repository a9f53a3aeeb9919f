import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { XmlElement } from '../../src/read/xml.ts';
import { childrenOf, textOf, type XmlNode } from '../../src/read/xml.ts';
import type { ControlsResult } from '../controls/catalog.ts';
import type { MappingPair } from '../controls/control-record.ts';
import { dod8500Version } from '../controls/dod-8500.ts';
import { createLosses } from '../read/losses.ts';
import { excerpt } from '../read/source-text.ts';
import { countLosses } from '../read/tree-losses.ts';

const kind = 'diacap-map';

const read = {
  DiacapToRmf: { many: ['Iac'] },
  Iac: { many: ['NistControl'], attributes: ['control'] },
  NistControl: { attributes: ['revision'] },
};

/** True for the root element of the DIACAP to RMF map. */
export function isDiacapMap(root: XmlElement): boolean {
  return root.name === 'DiacapToRmf';
}

/**
 * Reads the map of DoD 8500.2 to 800-53 Rev 3 and 4 (rule F7). The published map has one empty entry whose revision
 * is a control: it gives a warning. Throws `ImportError` for other wrong entries and a repeated pair.
 */
export function parseDiacapMap(root: XmlNode): ControlsResult {
  const warnings: string[] = [];
  const pairs = new Map<string, MappingPair>();
  for (const [index, node] of childrenOf(root, 'Iac').entries()) {
    const control = node.attributes.control ?? '';
    const fromIdentifier = canonicalIdentifier('dod-8500', control);
    if (fromIdentifier === null)
      throw new ImportError(`the control "${excerpt(control)}" of Iac ${index + 1} is not in 8500.2`, kind);
    for (const entry of childrenOf(node, 'NistControl')) {
      const pair = readEntry(entry, fromIdentifier, warnings);
      if (!pair) continue;
      const key = `${fromIdentifier} -> ${pair.toIdentifier} of ${pair.toVersion}`;
      if (pairs.has(key)) throw new ImportError(`the pair ${key} occurs twice`, kind);
      pairs.set(key, pair);
    }
  }
  if (pairs.size === 0) throw new ImportError('the map has no pairs', kind);
  const losses = createLosses();
  countLosses(root, read, losses);
  const head = { fromFramework: 'dod-8500', fromVersion: dod8500Version, edition: '' };
  return {
    kind,
    records: [{ type: 'mapping', ...head, pairs: [...pairs.values()] }],
    warnings: [...warnings, ...losses.warnings()],
  };
}

function readEntry(entry: XmlNode, fromIdentifier: string, warnings: string[]): MappingPair | null {
  const revision = (entry.attributes.revision ?? '').trim();
  const reference = textOf(entry).trim();
  if (reference === '' && canonicalIdentifier('nist-800-53', revision) !== null) {
    warnings.push(`${fromIdentifier}: an entry has ${revision} for its revision and no text; it was ignored`);
    return null;
  }
  const toIdentifier = canonicalIdentifier('nist-800-53', reference);
  if (toIdentifier === null)
    throw new ImportError(`${fromIdentifier}: "${excerpt(reference)}" is not a control of 800-53`, kind);
  if (revision !== '3' && revision !== '4')
    throw new ImportError(`${fromIdentifier}: ${toIdentifier} has the revision "${excerpt(revision)}"`, kind);
  return {
    fromIdentifier,
    toFramework: 'nist-800-53',
    toVersion: `Rev ${revision}`,
    toIdentifier,
    reference,
  };
}
