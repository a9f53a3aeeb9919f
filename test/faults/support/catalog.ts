import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { openCatalog } from '../../../src/db/database.ts';
import { catalogDigest } from '../../../src/db/digest.ts';
import { hasReferenceData, reference, shipped } from '../../support/reference.ts';
import { sampleRules, writeXccdf } from '../../support/xccdf-writer.ts';

/** Real files, or made-up ones where they are absent: a catalog to begin with, and what is imported over it. */
export const before = hasReferenceData
  ? [
      shipped('stigs'),
      shipped('controls'),
      shipped('roles'),
      reference('xccdf', 'U_Google_Chrome_STIG_V2R10_Manual-xccdf.xml'),
      reference('xccdf', 'U_Kubernetes_STIG_V1R1_Manual-xccdf.xml'),
    ]
  : [shipped('stigs'), shipped('controls')];
export const over = hasReferenceData
  ? [
      reference('xccdf', 'U_Google_Chrome_STIG_V2R11_Manual-xccdf.xml'),
      reference('xccdf', 'U_Kubernetes_STIG_V1R2_Manual-xccdf.xml'),
      reference('xccdf', 'U_RHEL_9_STIG_V2R8_Manual-xccdf.xml'),
      reference('sp800-171'),
    ]
  : [shipped('mappings'), shipped('roles'), shipped('regulatory')];

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

/** So many successive releases of RHEL 9 (of a made-up STIG where it is absent), each with one finding fewer than the one before. */
export function releases(count: number): { slug: string; releases: Release[] } {
  if (!hasReferenceData) {
    const made = Array.from({ length: count }, (_, index) => {
      const rules = sampleRules(400 - index).map((rule) => ({
        ...rule,
        description: `<VulnDiscussion>${'Long text. '.repeat(150)}</VulnDiscussion>`,
      }));
      const date = `${String(index + 1).padStart(2, '0')} Apr 2026`;
      const text = writeXccdf({ version: 2, release: 8 + index, date, rules });
      return { version: `V2R${8 + index}`, text, findings: rules.length };
    });
    return { slug: 'sample_product', releases: made };
  }
  const original = readFileSync(reference('xccdf', 'U_RHEL_9_STIG_V2R8_Manual-xccdf.xml'), 'utf8');
  const groups = [...original.matchAll(/<Group id="([^"]+)">.*?<\/Group>/gs)];
  const made = Array.from({ length: count }, (_, index) => {
    let text = original.replace(
      /Release: 8 Benchmark Date: \d\d/,
      `Release: ${8 + index} Benchmark Date: ${String(index + 1).padStart(2, '0')}`,
    );
    for (const [group, id] of groups.slice(0, index))
      text = text.replace(group, '').replaceAll(new RegExp(`<select idref="${id}"[^>]*/>`, 'g'), '');
    return { version: `V2R${8 + index}`, text, findings: groups.length - index };
  });
  return { slug: 'red_hat_enterprise_linux_9', releases: made };
}
