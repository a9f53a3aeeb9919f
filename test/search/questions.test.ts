import * as assert from 'uvu/assert';
import { createCciService } from '../../src/catalog/crosswalk/cci.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { createSearchService } from '../../src/catalog/search/queries.ts';
import { testApp } from '../support/app.ts';
import { suiteIf } from '../support/harness.ts';
import { ownQuestions, srgQuestions, successOf } from '../support/questions.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { referenceData, shipped } from '../support/reference.ts';

// A question in a person's words finds what answers it (rule D35.1), measured on the real rules.

const onReal = suiteIf(referenceData, 'Questions to the real rules');

onReal?.('a right rule is among the first ten, and nothing stays empty', async () => {
  const t = await testApp([...benchmarkPaths, shipped('search')]);
  const service = createSearchService(t.db, createCciService(t.db, createCrosswalkService(t.db)));
  const own = await successOf(service, ownQuestions());
  assert.ok(own.success >= 0.9, `questions.tsv: ${own.success}`);
  assert.is(own.empty, 0);
  const slugs = ['red_hat_enterprise_linux_9', 'microsoft_windows_11', 'canonical_ubuntu_20_04_lts'];
  for (const isCut of [false, true]) {
    const each = await Promise.all(slugs.map((slug) => successOf(service, srgQuestions(t.db, slug, isCut))));
    for (const [index, { success, empty }] of each.entries()) {
      assert.ok(success >= 0.9, `${slugs[index]}: ${success}`);
      assert.is(empty, 0);
    }
    const mean = each.reduce((sum, { success }) => sum + success, 0) / each.length;
    assert.ok(mean >= 0.95, `mean: ${mean}`);
  }
  t.db.close();
});

onReal?.run();
