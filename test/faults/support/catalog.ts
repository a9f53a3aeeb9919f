import * as assert from 'uvu/assert';
import { openCatalog } from '../../../src/db/database.ts';
import { catalogDigest } from '../../../src/db/digest.ts';
import { hasReferenceData, reference, shipped } from '../../support/reference.ts';
import { sampleRules, writeXccdf } from '../../support/xccdf-writer.ts';
import { scaled } from './profile.ts';

/** Real files, or made-up ones where they are absent: a catalog to begin with, and what is imported over it. */
const chrome = (release: string) => reference('xccdf', `U_Google_Chrome_STIG_${release}_Manual-xccdf.xml`);
const kubernetes = (release: string) => reference('xccdf', `U_Kubernetes_STIG_${release}_Manual-xccdf.xml`);
export const before = [
  shipped('stigs'),
  shipped('controls'),
  ...(hasReferenceData ? [chrome('V2R10'), kubernetes('V1R1')] : []),
];
export const over = hasReferenceData
  ? [chrome('V2R11'), kubernetes('V1R2')]
  : [shipped('mappings'), shipped('regulatory')];

/** The digest of the catalog in a database file; asserts that SQLite finds the file whole. */
export function contentOf(file: string): string {
  const db = openCatalog(file);
  try {
    assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
    assert.equal(db.sqlite.pragma('foreign_key_check'), []);
    return catalogDigest(db);
  } finally {
    db.close();
  }
}

/** A release of one STIG: its bytes, and what the catalog must say of it. */
export interface Release {
  version: string;
  text: string;
  findings: number;
}

/** So many successive releases of a made-up STIG, each with one finding fewer than the one before. */
export function releases(
  count: number,
  { rules = scaled(400, 60), words = scaled(300, 60) } = {},
): { slug: string; releases: Release[] } {
  const description = `<VulnDiscussion>${'word '.repeat(words)}</VulnDiscussion>`;
  const made = Array.from({ length: count }, (_, index) => {
    const findings = sampleRules(rules - index).map((rule) => ({ ...rule, description }));
    const date = `${String(index + 1).padStart(2, '0')} Apr 2026`;
    const text = writeXccdf({ version: 2, release: 8 + index, date, rules: findings });
    return { version: `V2R${8 + index}`, text, findings: findings.length };
  });
  return { slug: 'sample_product', releases: made };
}
