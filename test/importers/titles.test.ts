import * as assert from 'uvu/assert';
import type { ParsedSource } from '../../importers/content.ts';
import { parseSource } from '../../importers/parse.ts';
import { suite } from '../support/harness.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Threat P5: titles of sources are bounded, whatever the source.
const titles = suite('Titles of sources');

const oscal = (title: string) =>
  JSON.stringify({
    catalog: {
      metadata: {
        title: 'NIST Special Publication 800-53 Revision 5',
        version: '5.1.1',
        'last-modified': '2024-02-04T00:00:00Z',
      },
      groups: [{ title, controls: [{ id: 'ac-2', title, parts: [{ name: 'statement', prose: 'Lamps.' }] }] }],
    },
  });
const sources: Record<string, (title: string) => string> = {
  XCCDF: (title) => writeXccdf({ title }),
  OSCAL: oscal,
};

/** Every text of a value under a key that ends in `title`. */
function titlesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    typeof each === 'string' && /title$/i.test(key) ? [each] : titlesIn(each),
  );
}

for (const [kind, write] of Object.entries(sources))
  titles(`${kind}: longer titles are cut with one warning, others stay`, () => {
    const plain = parseSource(Buffer.from(write('Harbor Lamps')));
    assert.ok(plain.content !== null, JSON.stringify(plain).slice(0, 300));
    assert.not.match(plain.warnings.join(), / cut$/);
    for (const text of ['(', ' x', ' STIG', '\u{1f4a1}']) {
      const long = `Harbor ${text.repeat(40_000 / text.length)}`;
      const read: ParsedSource = parseSource(Buffer.from(write(long)));
      assert.match(read.warnings.join(), /title.* of more than 2,000 characters cut/);
      const found = titlesIn(read.content);
      assert.ok(found.some((title) => title.startsWith('Harbor ') && title.length > 1900));
      assert.ok(found.every((title) => title.length <= 2000 && title.isWellFormed()));
    }
  });

titles.run();
