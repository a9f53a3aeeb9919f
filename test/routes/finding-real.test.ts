import * as assert from 'uvu/assert';
import { createStigNameIndex } from '../../src/catalog/stigs/name-index.ts';
import { testApp } from '../support/app.ts';
import { suite, testIf } from '../support/harness.ts';
import { benchmarkFiles, benchmarkPaths } from '../support/real-files.ts';
import { hasReferenceData, referenceData } from '../support/reference.ts';
import { readBenchmark } from '../support/xccdf-reader.ts';

// Every real STIG is found by what people call it: all that is asked here follows from its title and its benchmark id.
const test = suite('finding the real STIGs');

const t = await testApp(benchmarkPaths);
const stigNames = createStigNameIndex(t.db);
const slugs = (text: string) => stigNames.said(text).map(({ slug }) => slug);

/** Each printing of a STIG: what its file calls it, and the slug that answers for it now. */
const printings: { slug: string; id: string; title: string }[] = [];
for (const { text } of await benchmarkFiles()) {
  const { id, title } = readBenchmark(text);
  const slug = t.db.sqlite
    .prepare(
      `SELECT s.slug FROM stigs AS s JOIN stig_releases AS r ON r.stig_id = s.id
        WHERE r.benchmark_id = ? AND r.title = ? ORDER BY r.release_order DESC`,
    )
    .pluck()
    .get(id, title) as string;
  if (!printings.some((each) => each.slug === slug && each.id === id && each.title === title))
    printings.push({ slug, id, title });
}

const small = /^(?:a|an|and|for|in|of|on|or|the|to|with)$/i;
const ending = /\(?\b(?:security technical implementation guide|security requirements guide|stig|srg)\b\)?/gi;

/** First letters of the words of a title, then its numbers. */
function initialsOf(title: string, hasSmall: boolean): { letters: string; numbers: string[] } {
  const words = title.replace(ending, ' ').match(/[A-Za-z]+|\d+/g) ?? [];
  const letters = words.filter((word) => /[A-Za-z]/.test(word) && (hasSmall || !small.test(word)));
  return {
    letters: letters.map((word) => word[0]!.toLowerCase()).join(''),
    numbers: words.filter((word) => /\d/.test(word)),
  };
}

/** What a STIG may be asked for by. */
function questionsOf({ id, title }: { id: string; title: string }): string[] {
  const bare = title.replace(ending, ' ').trim();
  const without = id.replace(/_(?:STIG|SRG)$/i, '');
  const asked = [
    id,
    id.toLowerCase(),
    without,
    `U_${without}_V1R1_STIG.zip`,
    title,
    title.toUpperCase(),
    bare,
  ];
  asked.push(id.replaceAll('_', ' '), without.replaceAll(/[_\W]/g, ''), bare.replaceAll(/\W+/g, '-'));
  for (const hasSmall of [true, false]) {
    const { letters, numbers } = initialsOf(title, hasSmall);
    if (letters.length + numbers.join('').length < 2) continue;
    asked.push(
      `${letters} ${numbers.join(' ')}`.trim(),
      letters + numbers.join(''),
      letters + numbers.join('.'),
    );
  }
  return asked;
}

test('a STIG is among the first three for its benchmark id, its title, its initials and number', () => {
  let asked = 0;
  for (const printing of printings)
    for (const question of questionsOf(printing)) {
      asked++;
      const place = slugs(question).indexOf(printing.slug);
      assert.ok(place >= 0 && place < 3, `${question}: ${printing.slug} is at ${place}`);
    }
  assert.ok(asked > (hasReferenceData ? 400 : 20), String(asked));
});

test('a benchmark id, a slug and a title find their STIG first', () => {
  for (const { slug, id, title } of printings)
    for (const question of [id, slug, title]) {
      const [first] = slugs(question);
      assert.is(first, slug, question);
    }
});

test('a plain word of the rules names no STIG but those that have it in their names', () => {
  const texts = t.db.sqlite
    .prepare(
      "SELECT title || ' ' || discussion || ' ' || check_content || ' ' || fix_text FROM searchable_rules",
    )
    .pluck()
    .all() as string[];
  const often = new Map<string, number>();
  for (const text of texts)
    for (const word of new Set(text.toLowerCase().match(/[a-z]{2,}/g)))
      often.set(word, (often.get(word) ?? 0) + 1);
  const words = [...often].sort(([, a], [, b]) => b - a).slice(0, 3000);
  const literal = (word: string) =>
    t.db.sqlite
      .prepare('SELECT count(*) FROM stigs WHERE instr(title_fold, ?) > 0 OR instr(slug, ?) > 0')
      .pluck()
      .get(word, word) as number;
  const drowning = words.filter(([word]) => slugs(word).length > literal(word));
  // What is left are abbreviations, `rhel` and `gpos`, and beginnings of words, `role`: at most one in a hundred.
  assert.ok(drowning.length <= words.length / 100, drowning.map(([word]) => word).join(' '));
  for (const word of 'the|is|in|of|to|must|be|audit|password|ssh|system administrator'.split('|'))
    assert.equal(
      slugs(word).filter((slug) => !slug.includes(word.split(' ')[0]!)),
      [],
      word,
    );
});

/** Registers a test that needs the publishers’ files. */
const onReal = testIf(referenceData, test);

/** What is asked, and what is found for it. */
const called = `
rhel 9                                = red_hat_enterprise_linux_9
rhel9                                 = red_hat_enterprise_linux_9
RHEL_9_STIG                           = red_hat_enterprise_linux_9
RHEL-9                                = red_hat_enterprise_linux_9
redhat 9                              = red_hat_enterprise_linux_9
rhel                                  = red_hat_enterprise_linux_8,red_hat_enterprise_linux_9
win 2025                              = microsoft_windows_server_2025
win2025                               = microsoft_windows_server_2025
ws2025                                = microsoft_windows_server_2025
win11                                 = microsoft_windows_11
sql server 2016                       = ms_sql_server_2016_instance
mssql 2016                            = ms_sql_server_2016_instance
ios xe router                         = cisco_ios_xe_router_rtr
IOS-XE                                = cisco_ios_xe_router_rtr
asd                                   = application_security_and_development
k8s                                   = kubernetes
gpos srg                              = general_purpose_operating_system
ocp4                                  = red_hat_openshift_container_platform_4_x
zos racf                              = ibm_z_os_racf
ubuntu 2004                           = canonical_ubuntu_20_04_lts
Übuntu 20.04                          = canonical_ubuntu_20_04_lts
fire fox                              = mozilla_firefox
U_RHEL_9_STIG_V2R8_Manual-xccdf.xml   = red_hat_enterprise_linux_9
win 20                                =
server 2022                           =
ios xe switch                         =
rhel 9 password                       =
stig                                  =
+++                                   =`;
onReal('what people call a STIG finds it; a number is whole, and a word that nobody has counts', () => {
  for (const line of called.trim().split('\n')) {
    const [question, found] = line.split('=').map((each) => each.trim()) as [string, string];
    assert.is(slugs(question).join(), found, question);
  }
  assert.equal(slugs(''), []);
});

test('no text can fail or take long', () => {
  const texts = [
    'a '.repeat(100),
    'ab1'.repeat(66),
    '('.repeat(200),
    '\u0301',
    'İ',
    '😀 9',
    '__proto__',
    'constructor',
  ];
  for (const text of texts) assert.ok(Array.isArray(slugs(text)));
});

test.after(() => t.db.close());
test.run();
