import * as assert from 'uvu/assert';
import { createCciService } from '../../src/catalog/crosswalk/cci.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { createSearchService } from '../../src/catalog/search/queries.ts';
import { testApp } from '../support/app.ts';
import { suiteIf } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { referenceData, shipped } from '../support/reference.ts';

// Questions that are made to cost much, over the real rules: each answers, and its page fits.

const onReal = suiteIf(referenceData, 'Hostile questions to the real rules');

const longest = 500;

const cut = (text: string) => [...text].slice(0, longest).join('').trim();
const repeated = (text: string) => cut(text.repeat(Math.ceil(longest / text.length)));
const stem = (last: number) => `administrationalizationingnessesfulation${'abcdefghijklm'[last]}`.slice(-40);

/** Questions by what they press on. `words`: those of the index, the commonest first. */
function questionsOf(words: string[]): Record<string, string> {
  const letters = words.filter((word) => /^[a-z]+$/.test(word));
  const every = (step: number, from: number) =>
    cut(letters.filter((_, index) => index % step === from).join(' '));
  return {
    'the commonest words': cut(letters.filter((word) => word.length > 1).join(' ')),
    'the shortest words': cut(letters.filter((word) => word.length === 3).join(' ')),
    'words of every frequency': every(13, 1),
    'the rarest words': cut(letters.toReversed().join(' ')),
    'common words as a path': cut(words.join('/')),
    '250 one-letter words': repeated('a b c d e f g h i j k l m n o p q r s t u v w x y z '),
    'one-letter words of every script': repeated(`${[...'éüñçßαβγабв日本語中文한글0123456789_'].join(' ')} `),
    'the same word 250 times in one': repeated('a.'),
    'stems of 40 letters': cut(Array.from({ length: 13 }, (_, index) => stem(index)).join(' ')),
    '500 stars': '*'.repeat(500),
    prefixes: repeated('se* co* th* in* re* de* au* ad* '),
    'prefixes of nothing': repeated('zq* qz* xq* '),
    operators: repeated('NEAR(audit log, 5) AND (title: ssh OR {title ids}: x) NOT ^sudo + - '),
    brackets: repeated('((({[<'),
    'quotation marks': '"'.repeat(500),
    'open quotation marks': repeated('"a "b “c ” '),
    'literal phrases of common words': repeated('"the." "of." "to," "and:" "system;" '),
    'a literal phrase that nobody wrote': '"the. of. the" zzz',
    'literal phrases excluded': repeated('-"the." -"of the," -"system." security zzz '),
    'words excluded': cut(`security zzz ${words.map((word) => `-${word}`).join(' ')}`),
    emoji: '😀'.repeat(500),
    'emoji between words': repeated('audit😀log 😀 '),
    'ids of 800-171': cut(Array.from({ length: 90 }, (_, at) => `3.${(at % 14) + 1}.${at + 1}`).join(' ')),
    'phrases of common words': cut(
      Array.from({ length: 90 }, (_, at) => `1.${(at % 14) + 1}.${at}`).join(' '),
    ),
    'names of STIGs': repeated('rhel 9 windows 11 server 2025 word 2016 ios 12 macos 11 ubuntu 20 '),
    'what might be names': repeated('rhel 1 linux 2 win 3 server 4 apple 5 cisco 6 oracle 7 '),
    'misspelt words': repeated('pasword acount sesion lokc audti enryption '),
    'long misspelt words': repeated('authenticatoin configuratoin administratro '),
    'what might be ids': repeated('AB-1 CD-2(3) RHEL-09-99999 SV-1 CCI-9 mode 0600 '),
    ids: cut(Array.from({ length: 50 }, (_, index) => `V-${257_777 + index}`).join(' ')),
    'marks alone': repeated('\u0301 \u200b \u202e \ufeff '),
    'letters that fold longer': repeated('İ ß ﬁ ŉ ΐ '),
    'names of JavaScript': 'constructor __proto__ toString hasOwnProperty zzz',
  };
}

onReal?.('each answers, alone and with filters, and its pages fit', async () => {
  const t = await testApp([...benchmarkPaths, shipped('search')]);
  const service = createSearchService(t.db, createCciService(t.db, createCrosswalkService(t.db)));
  const words = t.db.sqlite
    .prepare<[], string>('SELECT term FROM rule_words ORDER BY doc DESC, term')
    .pluck()
    .all();
  const questions = Object.entries(questionsOf(words));
  for (const [name, q] of questions) {
    assert.ok([...q].length <= longest && q !== '', name);
    for (const filter of [
      {},
      { severity: new Set(['high', 'medium', 'low'] as const) },
      { stig: ['red_hat_enterprise_linux_9'], sort: 'id' as const },
    ]) {
      const { results, exact, relaxed, counts, pagination } = service.search({
        q,
        page: 1,
        limit: 20,
        ...filter,
      });
      assert.is(results.length, Math.min(20, pagination.total), name);
      assert.is(relaxed, pagination.total > exact, name);
      const { high, medium, low } = counts.severity;
      assert.is(high + medium + low, pagination.total, name);
    }
    const path = `/api/v1/search?q=${encodeURIComponent(q)}&severity=high,medium,low`;
    assert.is((await t.get(path)).status, 200, name);
  }
  for (const q of ['a\0b', '\0', `${'audit '.repeat(20)}\0`]) {
    const { status } = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}`);
    assert.is(status, 400, 'NUL');
  }
  assert.is((await t.get(`/api/v1/search?q=${'x'.repeat(501)}`)).status, 400);
  t.db.close();
});

onReal?.run();
