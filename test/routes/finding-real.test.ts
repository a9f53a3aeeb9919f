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
const slugs = (text: string) => stigNames.stigsNamedIn(text).map(({ slug }) => slug);

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

const ending = /\(?\b(?:security technical implementation guide|security requirements guide|stig|srg)\b\)?/gi;

/** What a STIG may be asked for by. */
function questionsOf({ id, title }: { id: string; title: string }): string[] {
  const bare = title.replace(ending, ' ').trim();
  const without = id.replace(/_(?:STIG|SRG)$/i, '');
  const letters = (bare.match(/[A-Za-z]+|\d+/g) ?? []).filter(
    (word) => !/^(?:a|an|and|for|in|of|on|or|the|to|with)$/i.test(word),
  );
  const initials = letters.map((word) => (/\d/.test(word) ? '' : word[0]!)).join('');
  const numbers = letters.filter((word) => /\d/.test(word));
  const called =
    initials.length + numbers.join('').length < 2 ? [] : [`${initials} ${numbers.join(' ')}`.trim()];
  return [
    ...[id.toLowerCase(), without, `U_${without}_V1R1_STIG.zip`, title.toUpperCase(), bare, ...called],
    ...[id.replaceAll('_', ' '), without.replaceAll(/[_\W]/g, ''), bare.replaceAll(/\W+/g, '-')],
  ];
}

test('a STIG is among the first three for its benchmark id, its title, its initials and number', () => {
  let asked = 0;
  for (const printing of printings)
    for (const question of questionsOf(printing)) {
      asked++;
      const place = slugs(question).indexOf(printing.slug);
      assert.ok(place >= 0 && place < 3, `${question}: ${printing.slug} is at ${place}`);
    }
  assert.ok(asked > (hasReferenceData ? 300 : 16), String(asked));
});

test('a benchmark id, a slug and a title find their STIG first', () => {
  for (const { slug, id, title } of printings)
    for (const question of [id, slug, title]) {
      const [first] = slugs(question);
      assert.is(first, slug, question);
    }
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

test.after(() => t.db.close());
test.run();
