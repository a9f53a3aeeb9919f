import { cciRevisions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import { excerpt, firstOf } from '../read/source-text.ts';
import { readCciIndex } from './cci-index.ts';
import type { CciItem, MappingPair } from './control-record.ts';

type Reference = CciItem['references'][number];

/** The pairs of a CCI list with 800-53 up to Rev 5, and warnings. Version 1 is 800-53A and gives none (rule F4.1). */
export function readCciReferences(items: CciItem[]): { pairs: MappingPair[]; warnings: string[] } {
  const pairs: MappingPair[] = [];
  const unread: { problem: string; name: string }[] = [];
  for (const { identifier, references } of items) {
    for (const reference of references) {
      const { revision, controls, problem } = readReference(reference);
      if (problem !== null) unread.push({ problem, name: `${identifier} ${nameOf(reference)}` });
      for (const toIdentifier of controls)
        pairs.push({
          fromIdentifier: identifier,
          toFramework: 'nist-800-53',
          toVersion: `Rev ${revision}`,
          toIdentifier,
          reference: reference.index,
        });
    }
  }
  const warnings = [...Map.groupBy(unread, (each) => each.problem)].map(
    ([problem, each]) =>
      `${each.length} references of CCIs ${problem}: ${firstOf(each.map(({ name }) => name))}`,
  );
  return { pairs, warnings };
}

function nameOf({ title, version, index }: Reference): string {
  return `"${excerpt(title)}" version "${excerpt(version)}" index "${excerpt(index)}"`;
}

function readReference({ version, index }: Reference): {
  revision: number | null;
  controls: string[];
  problem: string | null;
} {
  const revision = revisionOf(version);
  const nothing = { revision, controls: [] };
  if (revision === null) return { ...nothing, problem: 'were left out, their version is not understood' };
  if (revision === 1) return { ...nothing, problem: null };
  if (revision > cciRevisions.verified)
    return {
      ...nothing,
      problem: `were left out, as Rev ${cciRevisions.verified} is the newest that counts`,
    };
  const { controls, isWhole } = readCciIndex(index);
  if (isWhole) return { revision, controls, problem: null };
  const problem =
    controls.length === 0 ? 'were left out, their index is' : 'were read in part, their index is';
  return { revision, controls, problem: `${problem} not understood` };
}

function revisionOf(version: string): number | null {
  const key = versionKey('nist-800-53', version);
  return /^\d+$/.test(key) && Number(key) > 0 ? Number(key) : null;
}
