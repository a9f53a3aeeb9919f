import { readFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { findPlaces, foldInPlace } from '../../src/catalog/search/pattern.ts';
import { allOf, readSearchQuery } from '../../src/catalog/search/query.ts';
import { makeSnippet } from '../../src/catalog/search/snippet.ts';
import { suite } from '../support/harness.ts';
import { rowsOf } from '../support/tables.ts';

/** What FTS5 is asked for a question, without the brackets around a term of one alternative; null for no word. */
function ftsMatch(question: string): string | null {
  const { includedTerms } = readSearchQuery(question);
  return includedTerms.length === 0 ? null : allOf(includedTerms).replace(/\(("[^"]*"(?: \*)?)\)/g, '$1');
}

const query = suite('reading a question');

query('words, phrases, prefixes and ids become quoted phrases of word characters', () => {
  const cases: (readonly (string | null)[])[] = [
    ...rowsOf(`
      audit | "audit"
      Audit LOG audit | "audit" AND "log"
      audit* | "audit" *
      audit** | "audit" *
      *audit | "audit"
      au*dit | "au dit"
      a* | "a"
      a.* | "a"
      login.def* | "login def" *
      /etc/ssh/sshd_config | "etc ssh sshd_config"
      "must be configured" | "must be configured"
      "must be | "must be"
      un"quoted phrase"end | "un" AND "quoted phrase" AND "end"
      “curly quotes” | "curly quotes"
      "audit"* | "audit"
      C++ | "c"
      AC-2(1) | "ac 2 1"
      V-257777 | "v 257777"
      CCI-000366 | "cci 000366"
      cci-366 | ("cci 366" OR "cci 000366")
      SV-257777 | ("sv 257777" OR "sv 257777r" *)
      sv-257777R12 | ("sv 257777" OR "sv 257777r" *)
      SV-257777r12_rule | ("sv 257777" OR "sv 257777r" *)
      "SV-257777r12_rule" | "sv 257777r12_rule"
      SV-257777_rule | "sv 257777_rule"
      SV-257777r12_rules | "sv 257777r12_rules"
      SV-r12_rule | "sv r12_rule"
      NEAR(a b) | "near a" AND "b"
      title:audit OR -x | "title audit" AND "or"
      naïve Überprüfung 日本 | "naive" AND "uberprufung" AND "日本"
      don't | "don t"
    `),
    ...['!!! "" " ( * -', '   ', '\u0301', '😀'].map((question) => [question, null]),
  ];
  for (const [question, match] of cases) assert.is(ftsMatch(question!), match, question!);
});

query('prefixes beyond the eighth are taken as words', () => {
  const words = Array.from({ length: 10 }, (_, index) => `ab${index}`);
  const match = ftsMatch(words.map((word) => `${word}*`).join(' '));
  const expected = words.map((word, index) => `"${word}"${index < 8 ? ' *' : ''}`);
  assert.is(match, expected.join(' AND '));
});

query('whatever is asked, nothing but word characters and blanks stands between quotation marks', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.string({ unit: fc.constantFrom(...'ab1_ "“*()-+:^{}\\\'%.,AND'), maxLength: 200 }),
  );
  fc.assert(
    fc.property(anything, (question) => {
      const match = ftsMatch(question);
      if (match === null) return;
      const rest = match.replace(/"[\p{L}\p{Nd}\p{Nl}\p{M}_]+(?: [\p{L}\p{Nd}\p{Nl}\p{M}_]+)*"/gu, 'P');
      assert.match(rest, /^(?:P(?: \*)?|\(P OR P(?: \*)?\))(?: AND (?:P(?: \*)?|\(P OR P(?: \*)?\)))*$/);
    }),
    { numRuns: 500 },
  );
});

query('the spellings of an id, and without its revision, where it is the whole question', () => {
  for (const [question, ids, unrevised] of rowsOf(`
    V-257777 | v-257777 v-257777_rule | none
    "SV-1r2" | sv-1r2 sv-1r2_rule | sv-1
    sv-1R23_RULE | sv-1r23_rule sv-1r23_rule_rule | sv-1
    cci-366 | cci-366 cci-366_rule cci-000366 | none
    SV-1 | sv-1 sv-1_rule | none
    SV-1r2 sshd | none | none
    xSV-1r2 | xsv-1r2 xsv-1r2_rule | none
    audit | none | none
    257777 | none | none
    --- | none | none
    日本1 | none | none
  `)) {
    const read = readSearchQuery(question!);
    const told = (list: string[]) => list.join(' ') || 'none';
    assert.equal([told(read.ids), told(read.unrevised)], [ids, unrevised], question!);
  }
});

query.run();

const patternsOf = (question: string) =>
  readSearchQuery(question).includedTerms.map(({ patterns }) => patterns);

const places = suite('finding what was asked in a text');

const found = (question: string, text: string) => {
  const folded = foldInPlace(text);
  return patternsOf(question)
    .flat()
    .flatMap((pattern) => findPlaces(folded, pattern, 50))
    .map(({ start, end }) => text.slice(start, end));
};

places('words, prefixes, phrases and what is literal are found as they are asked for', () => {
  // Words are bounded as grep -w bounds them; diacritics are ignored as the index ignores them, not in what is literal.
  const text = 'login.defs, login defs, login.  defs; "login.defs"x';
  for (const [question, within, ...places] of [
    ['log', 'Log logs LOG, log_x xlog log-x', 'Log', 'LOG', 'log'],
    ['sshd_config', 'sshd sshd_config sshd_config.d /sshd_config2', 'sshd_config', 'sshd_config'],
    ['über', 'ÜBER über Überall', 'ÜBER', 'über'],
    ['a', 'é a éa aé 𝒜a a', 'a', 'a'],
    ['login.defs', text, 'login.defs', 'login defs', 'login.  defs', 'login.defs'],
    ['"login.defs"', text, 'login.defs', 'login.defs'],
    ['"C++"', 'C, C++; C++x c++', 'C++', 'c++'],
    ['"the  end."', 'the end. the\n\tend. the end', 'the end.', 'the\n\tend.'],
    ['aud*', 'audit Auditing, aud fraud', 'audit', 'Auditing', 'aud'],
    ['resume', 'Résumé resume résumés', 'Résumé', 'resume'],
    ['ångström', 'Angstrom ångström', 'Angstrom', 'ångström'],
    ['ель', 'ёль ель', 'ель'],
    ['"café."', 'cafe. café.', 'café.'],
    ['audit', 'İİİ audit', 'audit'],
  ])
    assert.equal(found(question!, within!), places, question!);
});

places('a letter is without its diacritics what the tokenizer of the index makes of it', () => {
  const sqlite = new Sqlite(':memory:');
  const tokenizer = /tokenize=".*"/.exec(readFileSync('migrations/catalog/0011_base.sql', 'utf8'))![0];
  sqlite.exec(`CREATE VIRTUAL TABLE words USING fts5(word, ${tokenizer});
               CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'instance')`);
  const insert = sqlite.prepare('INSERT INTO words (rowid, word) VALUES (?, ?)');
  // The long s is an s by its case, which is not what this is about; SQLite leaves an a with two marks as it is.
  const apart = [...'ſẛǠǡ'];
  const letters: number[] = [];
  for (let code = 0x80; code < 0x2000; code++)
    if (/\p{L}/u.test(String.fromCharCode(code))) letters.push(code);
  for (const code of letters) insert.run(code, String.fromCharCode(code));
  const tokens = sqlite.prepare<[], [number, string]>('SELECT doc, term FROM vocabulary').raw().all();
  // SQLite knows fewer letters than Node: those of a newer Unicode are none for it.
  assert.ok(tokens.length > 5000, `${tokens.length} of ${letters.length}`);
  let bare = 0;
  for (const [code, token] of tokens) {
    if (apart.includes(String.fromCharCode(code))) continue;
    const { words: plain } = foldInPlace(String.fromCharCode(code));
    const isLatin = /^[a-z]$/.test(token);
    if (isLatin) bare++;
    assert.is(/^[a-z]$/.test(plain) ? plain : null, isLatin ? token : null, `U+${code.toString(16)}`);
  }
  assert.ok(bare > 400, `${bare} letters`);
  sqlite.close();
});

places.run();

const snippets = suite('snippets');
const texts = (more: Partial<Record<'title' | 'discussion' | 'check' | 'fix' | 'ids', string>>) => ({
  title: '',
  discussion: '',
  check: '',
  fix: '',
  ids: '',
  ...more,
});

snippets('the text with most of the terms is shown, the first of equals', () => {
  const terms = patternsOf('audit log');
  const rule = texts({ title: 'The audit.', discussion: 'A log of the audit.', check: 'audit log' });
  const { field, text, marks } = makeSnippet(rule, terms);
  assert.equal([field, text, marks.join(' ')], ['discussion', 'A log of the audit.', '2,5 13,18']);
  assert.is(makeSnippet(texts({ title: 'audit', fix: 'audit' }), patternsOf('audit')).field, 'title');
});

snippets('what no pattern finds gives the beginning of the discussion', () => {
  const snippet = makeSnippet(texts({ discussion: 'Café.' }), patternsOf('cafes'));
  assert.equal(snippet, { field: 'discussion', text: 'Café.', marks: [] });
});

snippets('what the index finds without its diacritics is marked, on either side', () => {
  for (const asked of ['cafe', 'café', 'CAFÉ', 'cafe\u0301', 'CAF*', '"très cafe"'])
    for (const text of ['très Café.', 'tres cafe.', 'trés CAFÈ.']) {
      const { marks } = makeSnippet(texts({ discussion: text }), patternsOf(asked));
      assert.equal(marks, [[asked.startsWith('"') ? 0 : 5, 9]], `${asked} in ${text}`);
    }
});

snippets('a long text is cut at blanks around the densest stretch', () => {
  const filler = 'word '.repeat(200);
  const { text, marks } = makeSnippet(
    texts({ check: `audit ${filler}audit the log ${filler}` }),
    patternsOf('audit log'),
  );
  assert.match(text, /^…word .*audit the log .*word…$/);
  assert.equal(
    marks.map(([start, end]) => text.slice(start, end)),
    ['audit', 'log'],
  );
  assert.ok(text.length <= 242);
});

snippets('whatever is cut, marks lie in order inside and hold what was asked for', () => {
  const word = fc.constantFrom('audit', 'log', 'Überall', '😀', 'x', 'AUDIT', 'audit-log', '\n\n', '日本語');
  const text = fc.array(word, { maxLength: 300 }).map((words) => words.join(' '));
  const question = fc
    .array(fc.constantFrom('audit', 'log', 'über*', 'x', '"audit-log"', '日本語'), { minLength: 1 })
    .map((words) => words.join(' '));
  fc.assert(
    fc.property(text, text, question, (discussion, check, asked) => {
      const rule = texts({ discussion, check });
      const snippet = makeSnippet(rule, patternsOf(asked));
      const whole = rule[snippet.field];
      const bare = snippet.text.replace(/^…/, '').replace(/…$/, '');
      assert.ok(whole.includes(bare));
      assert.ok(snippet.text.isWellFormed());
      let last = -1;
      for (const [start, end] of snippet.marks) {
        assert.ok(start > last && end > start && end <= snippet.text.length);
        assert.match(snippet.text.slice(start, end), /^(?:audit|log|audit-log|überall|x|日本語)$/i);
        last = end;
      }
      if (found(asked, `${discussion} . ${check}`).length > 0) assert.ok(snippet.marks.length > 0);
    }),
    { numRuns: 200 },
  );
});

snippets.run();
