import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { childrenOf, textOf, type XmlElement, type XmlNode } from '../../src/read/xml.ts';
import { type ControlsResult, withKind } from '../controls/catalog.ts';
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
 * is a control: it gives a warning. Throws `ImportError` for other wrong entries.
 */
export function parseDiacapMap(root: XmlNode): ControlsResult {
  return withKind(kind, () => {
    const warnings: string[] = [];
    const pairs = childrenOf(root, 'Iac').flatMap((node, index) => {
      const control = node.attributes.control ?? '';
      const fromIdentifier = canonicalIdentifier('dod-8500', control);
      if (fromIdentifier === null)
        throw new ImportError(`the control "${excerpt(control)}" of Iac ${index + 1} is not in 8500.2`);
      return childrenOf(node, 'NistControl').flatMap((entry) => readEntry(entry, fromIdentifier, warnings));
    });
    if (pairs.length === 0) throw new ImportError('the map has no pairs');
    const losses = createLosses();
    countLosses(root, read, losses);
    return {
      kind,
      records: [{ type: 'mapping', edition: '', pairs }],
      warnings: [...warnings, ...losses.warnings()],
    };
  });
}

function readEntry(entry: XmlNode, fromIdentifier: string, warnings: string[]): MappingPair[] {
  const revision = (entry.attributes.revision ?? '').trim();
  const reference = textOf(entry).trim();
  if (reference === '' && canonicalIdentifier('nist-800-53', revision) !== null) {
    warnings.push(`${fromIdentifier}: an entry has ${revision} for its revision and no text; it was ignored`);
    return [];
  }
  const toIdentifier = canonicalIdentifier('nist-800-53', reference);
  if (toIdentifier === null)
    throw new ImportError(`${fromIdentifier}: "${excerpt(reference)}" is not a control of 800-53`);
  if (revision !== '3' && revision !== '4')
    throw new ImportError(`${fromIdentifier}: ${toIdentifier} has the revision "${excerpt(revision)}"`);
  return [
    {
      fromFramework: 'dod-8500',
      fromVersion: dod8500Version,
      fromIdentifier,
      toFramework: 'nist-800-53',
      toVersion: `Rev ${revision}`,
      toIdentifier,
      reference,
    },
  ];
}
