import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import type { DocumentRecord } from '../../../importers/guidance/document-record.ts';
import { parseSource } from '../../../importers/parse.ts';
import { suite } from '../../support/harness.ts';
import { shipped } from '../../support/reference.ts';

// The worked examples of data/REGULATORY.md are read and compared: the page and the rule cannot disagree.
const examples = suite('The examples of data/REGULATORY.md');

const page = readFileSync(shipped('REGULATORY.md'), 'utf8');
const pairs = [...page.matchAll(/```markdown\n([\s\S]*?)```\s+```json\n([\s\S]*?)```/g)];

type Expected = Partial<Omit<DocumentRecord, 'signposts' | 'actionableItems'>> & {
  signposts: (Record<string, unknown> & { nistCsf: string[] })[];
  actionableItems: Record<string, unknown>[];
};

function read(markdown: string): DocumentRecord {
  const parsed = parseSource(Buffer.from(markdown));
  assert.is(parsed.kind, 'regdoc-markdown');
  assert.ok(parsed.content?.type === 'documents');
  return parsed.content.documents[0]!;
}

examples('there are three', () => assert.is(pairs.length, 3));

for (const [index, [, markdown, json]] of pairs.entries()) {
  examples(`number ${index + 1} gives what the page says`, () => {
    const { signposts, actionableItems, ...head } = JSON.parse(json!) as Expected;
    const document = read(markdown!);
    for (const [name, value] of Object.entries(head))
      assert.equal(document[name as keyof DocumentRecord], value, name);
    assert.equal(
      document.signposts.map((each) => ({ ...each, nistCsf: each.nistCsf.map((csf) => csf.csfCategory) })),
      signposts as never,
    );
    assert.equal(
      document.actionableItems.map((each) => each.text),
      actionableItems.map((each) => each.text as string),
    );
    for (const [at, expected] of actionableItems.entries()) {
      const item = document.actionableItems[at] as unknown as Record<string, unknown>;
      for (const [name, value] of Object.entries(expected)) assert.equal(item[name], value, `${at} ${name}`);
    }
  });
}

examples('Windows line ends change nothing', () => {
  for (const [, markdown] of pairs) assert.equal(read(markdown!.replaceAll('\n', '\r\n')), read(markdown!));
});

examples.run();
