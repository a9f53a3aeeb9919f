import * as assert from 'uvu/assert';
import type { ImportOptions, ImportResult } from '../../importers/run.ts';
import { idKeyOf, isSlug, kindOf, reservedSlugs, slugOf, slugStemOf } from '../../importers/stigs/slug.ts';
import { numberOf } from '../../src/base/ids.ts';
import type { Database } from '../../src/db/database.ts';
import { tableDigests } from '../../src/db/digest.ts';
import { unserved } from '../support/any-order.ts';
import { routesOf, testApp } from '../support/app.ts';
import { dumpCatalog, importTexts } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { linesOf as rowsOf } from '../support/tables.ts';
import { type SampleBenchmark, type SampleRule, sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

const titles = suite('slugOf');

titles('titles and their slugs', () => {
  const table = String.raw`
    Red Hat Enterprise Linux 9 Security Technical Implementation Guide => red_hat_enterprise_linux_9
    Application Core Security Requirements Guide => application_core
    Example Product SRG => example_product
    Example Product security technical implementation guide => example_product
    EXAMPLE PRODUCT SECURITY TECHNICAL IMPLEMENTATION GUIDE => example_product
    Example Product [SRG] => example_product
    SharePoint 2010 Security Technical Implementation Guide (STIG) => sharepoint_2010
    Example Product STIG STIG => example_product
    Example Product SRG Security Requirements Guide (SRG) => example_product
    Example Product STIG Security Technical Implementation Guide => example_product
    Voice/Video over Internet Protocol (VVoIP) STIG => voice_video_over_internet_protocol_vvoip
    Example Product STIG SCAP Benchmark => example_product
    Example Product STIG - Ver 2 => example_product
    Example Product Security Technical Implementation Guide - Ver 2 => example_product
    Example Product - Ver 2 => example_product
    Draft Example Product STIG => example_product
    Drafting Table STIG => drafting_table
    Apples & Pears STIG => apples_and_pears
    IBM Hardware Management Console (HMC) STIG Policies => ibm_hardware_management_console_hmc_stig_policies
    Windows Server 2012/2012 R2 Member Server STIG => windows_server_2012_2012_r2_member_server
    Example \u2013 Server\u00a0STIG => example_server
    \u0020 Example Product STIG \u0020 => example_product
    Example Product Security\nTechnical   Implementation Guide => example_product
    Example Product Security \n Requirements  Guide\n(SRG) => example_product
    Prestig => prestig
    Example STIGS => example_stigs
    Security Technical Implementation Guide => security_technical_implementation_guide
    STIG => stig
    Example Runtime Environment (ERE) Version 6 STIG => example_runtime_environment_ere_version_6
    Example Suite Version 11 Security Technical Implementation Guide => example_suite_version_11`;
  for (const line of rowsOf(table)) {
    const [title, slug] = line.split(' => ');
    assert.is(slugOf(JSON.parse(`"${title}"`)), slug, title);
  }
});

titles('a title without a letter or digit of ours gives no slug', () => {
  for (const title of ['', ' ', '---', '\u65e5\u672c', '\u65e5\u672c STIG', '(']) {
    assert.is(slugOf(title), '');
    assert.is(slugStemOf({ title, benchmarkId: 'Example_Product_STIG' }), 'example_product');
    const long = slugStemOf({ title, benchmarkId: 'x'.repeat(400) });
    assert.is(long, 'x'.repeat(200));
    for (const benchmarkId of ['', '---', '\u65e5\u672c'])
      assert.throws(
        () => slugStemOf({ title, benchmarkId }),
        /neither the title .* nor the id .* gives a slug$/,
      );
  }
  assert.is(slugStemOf({ title: 'Example STIG', benchmarkId: 'Other_STIG' }), 'example');
});

titles('no slug is a word that stands in its place below /stigs', async () => {
  const t = await testApp([]);
  const words = (paths: string[]) =>
    paths.flatMap((path) => /^(?:\/api\/v1)?\/stigs\/([a-z0-9][a-z0-9_-]*)(?:\/|$)/.exec(path)?.[1] ?? []);
  const paths = [...t.app.routes.map(({ path }) => path), ...routesOf(t.app).map(({ path }) => path)];
  t.db.close();
  assert.ok(paths.includes('/stigs/:slug') && paths.includes('/api/v1/stigs/{slug}'));
  assert.equal([...new Set(words(paths))].sort(), [...reservedSlugs].sort());
});

titles('the kind comes from the ending of the title', () => {
  const cases = [
    ['Example Security Requirements Guide', 'srg'],
    ['Example SRG', 'srg'],
    ['Example (srg)', 'srg'],
    ['Example Security Requirements Guide (SRG)', 'srg'],
    ['Example Security Requirements Guide - Ver 2', 'srg'],
    ['Example Security Technical Implementation Guide', 'stig'],
    ['Example STIG', 'stig'],
    ['Example', 'stig'],
    ['SRG Reader STIG', 'stig'],
    ['Example Security\nRequirements  Guide', 'srg'],
  ] as const;
  for (const [title, kind] of cases) assert.is(kindOf(title), kind, title);
});

titles.run();

const keys = suite('idKeyOf');

keys('benchmark ids fold to one key', () => {
  const table = `
    RHEL_9_STIG => rhel_9
    RHEL_9 => rhel_9
    xccdf_mil.disa.stig_benchmark_RHEL_9_STIG => rhel_9
    U_CAN_Ubuntu_18-04_STIG => can_ubuntu_18_04
    CAN_Ubuntu_18-04_STIG => can_ubuntu_18_04
    Mozilla_FireFox_STIG => mozilla_firefox
    MDM_Server_Policy__STIG => mdm_server_policy
    Application_Core_SRG => application_core
    RH_OpenShift_Container_Platform_4-x_STIG => rh_openshift_container_platform_4_x
    STIG => stig
    _STIG_ => stig
    Unix_STIG => unix`;
  for (const line of rowsOf(table)) {
    const [id, key] = line.split(' => ');
    assert.is(idKeyOf(id!), key, id);
  }
});

keys('ids of two products never fold to one key, not even without a letter', () => {
  assert.is.not(idKeyOf('Example_1_STIG'), idKeyOf('Example_11_STIG'));
  assert.is.not(idKeyOf('---'), idKeyOf('***'));
  assert.is.not(idKeyOf('\u65e5'), idKeyOf('\u672c'));
});

keys.run();

async function importRuns(runs: SampleBenchmark[][], options: ImportOptions[] = []) {
  const db = emptyCatalog();
  const lines: ImportResult['lines'][] = [];
  for (const [index, run] of runs.entries()) {
    const texts = run.map((sample) => writeXccdf(sample));
    lines.push((await importTexts(db, texts, options[index])).lines);
  }
  return { db, lines };
}

function slugs(db: Database): Record<string, string[]> {
  const dump = dumpCatalog(db);
  assert.is(dump.strays, 0);
  return Object.fromEntries(
    dump.stigs.map(({ slug }) => [
      slug,
      dump.releases
        .filter((release) => release.slug === slug)
        .map((release) => `${release.benchmark_id} ${release.version}`),
    ]),
  );
}

function aliases(db: Database, of: string): string[] {
  return dumpCatalog(db).aliases.flatMap(({ alias, slug }) => (slug === of ? alias : []));
}

const identity = suite('identity');

/** Rules of `STEM:COUNT@FIRST`, joined by `+`; `!SV` gives SV-ids of their own, `<SV` and `<SV/V` former ids. */
function rulesOf(text: string): SampleRule[] {
  return text.split('+').flatMap((part) => {
    const [, stem, count, first, own, sv, v] =
      /^\s*([\w-]+):(\d+)@(\d+)(?:!(\d+))?(?:<(\d+))?(?:\/(\d+))?\s*$/.exec(part)!;
    return sampleRules(Number(count), stem, Number(first)).map((rule, index) => ({
      ...rule,
      ...(own === undefined ? {} : { ruleId: `SV-${Number(own) + index}r1_rule` }),
      ...(sv === undefined
        ? {}
        : {
            legacyIds: [`SV-${Number(sv) + index}`, ...(v === undefined ? [] : [`V-${Number(v) + index}`])],
          }),
    }));
  });
}

/** A benchmark of `ID | TITLE | VERSION | DATE | RULES`. */
function benchmarkOf(line: string): SampleBenchmark {
  const [id, title, name, date, rules] = line.split('|').map((cell) => cell.trim());
  const [, version, release] = /^V(\d+)R(\d+)$/.exec(name!)!;
  return {
    ...{ id: id!, title: title!, version: Number(version), release: Number(release) },
    ...(date === '' ? {} : { date: date! }),
    ...(rules === '' ? {} : { rules: rulesOf(rules!) }),
  };
}

/** The ways to import benchmarks: at once, one by one in two orders, and of three with the second as the last. */
function waysOf(list: SampleBenchmark[]): SampleBenchmark[][][] {
  const orders = [list, [...list].reverse()];
  if (list.length === 3) orders.push([list[0]!, list[2]!, list[1]!]);
  return [[list], ...orders.map((order) => order.map((each) => [each]))];
}

/**
 * Sections of a name, benchmarks (a line each), overrides (`> ID SLUG`), the STIGs that they give (`= SLUG: ID VERSION, ...`)
 * and what the ledger tells in some way of importing them: a whole text (`!`) or an expression (`~`).
 */
const scenarios = String.raw`
  # a renamed id and title is one STIG, named by the newest title
  Windows_10_STIG    | Windows 10 Security Technical Implementation Guide | V1R23 | 01 Nov 2020 | WN10-00:20@63000
  MS_Windows_10_STIG | Microsoft Windows 10 STIG                          | V2R1  | 04 Jan 2021 | WN10-00:21@220000
  = microsoft_windows_10: Windows_10_STIG V1R23, MS_Windows_10_STIG V2R1
  ~ joined microsoft_windows_10: .*95 % of the STIG IDs
  ~ new slug.*microsoft_windows_10
  ! windows_10 is microsoft_windows_10 now

  # the title is that of the highest version, whatever its date
  Old_Name_STIG | Old Name STIG | V9R1 | 01 Nov 2010 | SAME:20@263000
  New_Name_STIG | New Name STIG | V1R1 | 01 Nov 2020 | SAME:20@263000
  = old_name: New_Name_STIG V1R1, Old_Name_STIG V9R1

  # other titles and fewer than 80 % of the STIG IDs: two
  One_STIG | One STIG | V1R1 | | SAME-00:20@250000
  Two_STIG | Two STIG | V1R2 | | SAME-00:17@250000 + OTH:3@259000
  = one: One_STIG V1R1
  = two: Two_STIG V1R2

  # other titles and more of them: one
  One_STIG | One STIG | V1R1 | | SAME-00:20@250000
  Two_STIG | Two STIG | V1R2 | | SAME-00:18@250000 + OTH:2@259000
  = two: One_STIG V1R1, Two_STIG V1R2

  # other titles and the same STIG IDs, but one version with other rules: two
  One_STIG | One STIG | V1R1 | | SAME-00:20@1000
  Two_STIG | Two STIG | V1R1 | | SAME-00:20@2000
  = one: One_STIG V1R1
  = two: Two_STIG V1R1

  # siblings that share STIG IDs and no V-id: two
  Maker_XE_Router_STIG  | Maker XE Router STIG  | V2R2 | 01 Jan 2021 | MAKE-RT:104@215000
  Maker_IOS_Router_STIG | Maker IOS Router STIG | V3R4 | 01 Oct 2025 | MAKE-RT:92@216000
  = maker_ios_router: Maker_IOS_Router_STIG V3R4
  = maker_xe_router: Maker_XE_Router_STIG V2R2
  ! new slug from the title: maker_xe_router; shares 88 % of the STIG IDs with maker_ios_router, but its rules have other SV-ids

  # a rename with new V-ids is one STIG by the former ids
  Old_STIG | Thing STIG       | V1R9 | 01 Nov 2019 | SAME:20@63000
  New_STIG | Maker Thing STIG | V2R1 | 01 Feb 2021 | SAME:20@220000<63000/70000
  = maker_thing: Old_STIG V1R9, New_STIG V2R1

  # and without them by its STIG IDs
  Old_STIG | Thing STIG       | V1R9 | 01 Nov 2019 | SAME:20@63000
  New_STIG | Maker Thing STIG | V2R1 | 01 Feb 2021 | SAME:20@220000
  = maker_thing: Old_STIG V1R9, New_STIG V2R1

  # a rename with the former SV-ids of another product: two
  Old_STIG | Thing STIG       | V1R9 | 01 Nov 2019 | SAME:20@63000
  New_STIG | Maker Thing STIG | V2R1 | 01 Feb 2021 | SAME:20@220000<71000/70000
  = maker_thing: New_STIG V2R1
  = thing: Old_STIG V1R9

  # siblings of before the renumbering: two by their SV-ids, and a later title of one is one
  RHEL_5_STIG         | Red Hat Enterprise Linux 5 STIG        | V1R18 | 24 Jan 2014 | GEN:40@700!37000
  Oracle_Linux_5_STIG | Oracle Linux 5 STIG                    | V1R14 | 24 Jan 2014 | GEN:40@700!63000
  RH_EL_5_STIG        | Red Hat Enterprise Linux (RHEL) 5 STIG | V1R19 | 24 Jan 2014 | GEN:40@700!37000
  = oracle_linux_5: Oracle_Linux_5_STIG V1R14
  = red_hat_enterprise_linux_rhel_5: RHEL_5_STIG V1R18, RH_EL_5_STIG V1R19
  ~ ; shares 100 % of the STIG IDs with \w+_linux_\w+, but its rules have other SV-ids$

  # siblings that were renumbered: two, whatever former ids they share
  A_STIG | Server Kind A STIG | V3R1 | | WN12:40@225000<52800/1070
  B_STIG | Server Kind B STIG | V3R2 | | WN12:40@226000<52800/1070
  = server_kind_a: A_STIG V3R1
  = server_kind_b: B_STIG V3R2

  # roles of a server that share even the SV-ids: two by their titles
  Windows_2012_MS_STIG | Windows Server 2012/2012 R2 Member Server STIG     | V2R19 | 17 Jun 2020 | GEN:300@700!52000
  Windows_2012_DC_STIG | Windows Server 2012/2012 R2 Domain Controller STIG | V2R21 | 17 Jun 2020 | GEN:300@700!52000 + WN12-AD:40@8300
  = windows_server_2012_2012_r2_domain_controller: Windows_2012_DC_STIG V2R21
  = windows_server_2012_2012_r2_member_server: Windows_2012_MS_STIG V2R19
  ~ ; shares 88 % of the STIG IDs with windows_server_2012_2012_r2_\w+, but its title names another product$

  # until a release shows that they are two
  Maker_XE_Router_STIG  | Maker Router STIG | V2R2 | 01 Jan 2021 | MAKE-RT:104@215000
  Maker_IOS_Router_STIG | Maker Router STIG | V3R4 | 01 Oct 2025 | MAKE-RT:92@216000
  Maker_IOS_Router_STIG | Maker Router STIG | V2R2 | 01 Jan 2024 | MAKE-RT:92@216000
  = maker_router: Maker_IOS_Router_STIG V2R2, Maker_IOS_Router_STIG V3R4
  = maker_xe_router: Maker_XE_Router_STIG V2R2
  ! 1 release of Maker_XE_Router_STIG, imported before, went from maker_router to maker_xe_router

  # two printings of one version that have rules of their own are two, and none is lost
  Server_25_STIG | Server 25 STIG | V1R1 | 01 Jan 2026 | WN25-00:40@278000 + WN25-MS:1@278100
  Server_25_STIG | Server 25 STIG | V1R1 | 02 Jan 2026 | WN25-00:40@278000 + WN25-DC:1@278200
  Server_25_STIG | Server 25 STIG | V1R2 | 01 Feb 2026 | WN25-00:40@278000
  = server_25: Server_25_STIG V1R1, Server_25_STIG V1R2
  = server_25_2: Server_25_STIG V1R1
  ~ set apart from server_25: 1 of its 41 rules is not in the V1R1 there \(SV-278100r1_rule\); it lacks 1 of that one
  ~ server_25 is server_25_2 now
  ~ went from server_25 to server_25_2

  # a newer printing without a rule of the older one is a part of it: the larger is served
  Harbor_STIG | Harbor STIG | V1R1 | 01 Jan 2026 | HARB:20@278000
  Harbor_STIG | Harbor STIG | V1R1 | 02 Jan 2026 | HARB:19@278000
  = harbor: Harbor_STIG V1R1
  ~ V1R1 of Harbor_STIG with 20 rules: it has 19 of the 19 rules of this one

  # one title, two files that are parts of the third: the largest is served
  MS_Windows_Server_2025_STIG    | Microsoft Windows Server 2025 STIG | V1R1 | 26 Jan 2026 | WN25-00:225@278000 + WN25-MS:14@279000 + WN25-DC:45@280000
  MS_Windows_Server_2025_DC_STIG | Microsoft Windows Server 2025 STIG | V1R1 | 26 Jan 2026 | WN25-00:225@278000 + WN25-DC:45@280000
  MS_Windows_Server_2025_MS_STIG | Microsoft Windows Server 2025 STIG | V1R1 | 26 Jan 2026 | WN25-00:225@278000 + WN25-MS:14@279000
  = microsoft_windows_server_2025: MS_Windows_Server_2025_STIG V1R1
  = ms_windows_server_2025_ms: MS_Windows_Server_2025_MS_STIG V1R1
  ~ V1R1 of MS_Windows_Server_2025_STIG with 284 rules: it has 270 of the 270 rules of this one

  # and with the whole the controllers are in it
  Windows_Server_2019_DC_STIG | Microsoft Windows Server 2019 STIG | V2R9 | 15 May 2024 | WN19-00:225@205000 + WN19-DC:45@205400
  Windows_Server_2019_MS_STIG | Microsoft Windows Server 2019 STIG | V2R9 | 15 May 2024 | WN19-00:225@205000 + WN19-MS:14@205300
  Windows_Server_2019_DC_STIG | Microsoft Windows Server 2019 STIG | V3R8 | 01 Apr 2026 | WN19-00:225@205000 + WN19-DC:45@205400
  Windows_Server_2019_MS_STIG | Microsoft Windows Server 2019 STIG | V3R8 | 01 Apr 2026 | WN19-00:225@205000 + WN19-MS:14@205300
  = windows_server_2019_ms: Windows_Server_2019_MS_STIG V2R9, Windows_Server_2019_MS_STIG V3R8
  Windows_Server_2019_STIG | Microsoft Windows Server 2019 STIG | V2R9 | 15 May 2024 | WN19-00:225@205000 + WN19-MS:14@205300 + WN19-DC:45@205400
  Windows_Server_2019_STIG | Microsoft Windows Server 2019 STIG | V3R8 | 01 Apr 2026 | WN19-00:225@205000 + WN19-MS:14@205300 + WN19-DC:45@205400
  = microsoft_windows_server_2019: Windows_Server_2019_STIG V2R9, Windows_Server_2019_STIG V3R8

  # one title and version, other rules: they stay apart, the newest has the title
  Windows_Server_2019_MS_STIG | Microsoft Windows Server 2019 STIG | V2R1 | 01 Feb 2021 | WN19-MS:30@205000
  Windows_Server_2019_DC_STIG | Microsoft Windows Server 2019 STIG | V2R1 | 01 Feb 2021 | WN19-MS:20@205000 + WN19-DC:20@206000
  Windows_Server_2019_MS_STIG | Microsoft Windows Server 2019 STIG | V2R3 | 03 Feb 2021 | WN19-MS:30@205000
  Windows_Server_2019_DC_STIG | Microsoft Windows Server 2019 STIG | V2R2 | 02 Feb 2021 | WN19-MS:20@205000 + WN19-DC:20@206000
  = microsoft_windows_server_2019: Windows_Server_2019_MS_STIG V2R1, Windows_Server_2019_MS_STIG V2R3
  = windows_server_2019_dc: Windows_Server_2019_DC_STIG V2R1, Windows_Server_2019_DC_STIG V2R2
  ~ windows_server_2019_dc: .*other rules

  # of one day the larger has it
  Windows_Server_2019_MS_STIG | Microsoft Windows Server 2019 STIG | V2R1 | 01 Feb 2021 | WN19-MS:30@205000
  Windows_Server_2019_DC_STIG | Microsoft Windows Server 2019 STIG | V2R1 | 01 Feb 2021 | WN19-MS:20@205000 + WN19-DC:20@206000
  Windows_Server_2019_MS_STIG | Microsoft Windows Server 2019 STIG | V2R3 | 03 Feb 2021 | WN19-MS:30@205000
  Windows_Server_2019_DC_STIG | Microsoft Windows Server 2019 STIG | V2R2 | 02 Feb 2021 | WN19-MS:20@205000 + WN19-DC:20@206000
  Windows_Server_2019_DC_STIG | Microsoft Windows Server 2019 STIG | V2R4 | 04 Feb 2021 | WN19-MS:20@205000 + WN19-DC:20@206000
  Windows_Server_2019_MS_STIG | Microsoft Windows Server 2019 STIG | V2R4 | 04 Feb 2021 | WN19-MS:30@205000
  = microsoft_windows_server_2019: Windows_Server_2019_DC_STIG V2R1, Windows_Server_2019_DC_STIG V2R2, Windows_Server_2019_DC_STIG V2R4
  = windows_server_2019_ms: Windows_Server_2019_MS_STIG V2R1, Windows_Server_2019_MS_STIG V2R3, Windows_Server_2019_MS_STIG V2R4

  # where no version meets another, the ids alone tell the roles
  Windows_Server_2019_MS_STIG | Microsoft Windows Server 2019 STIG | V2R3 | 03 Feb 2021 | WN19-MS:30@205000
  Windows_Server_2019_DC_STIG | Microsoft Windows Server 2019 STIG | V2R4 | 04 Feb 2021 | WN19-MS:20@205000 + WN19-DC:20@206000
  = microsoft_windows_server_2019: Windows_Server_2019_DC_STIG V2R4
  = windows_server_2019_ms: Windows_Server_2019_MS_STIG V2R3
  ! new slug windows_server_2019_ms: microsoft_windows_server_2019 is the other role of this server

  # one title under several ids is one STIG, each join told with its overlap
  Browser              | Example Browser STIG | V4R1 | 01 Jan 2015 | OLD:10@100
  EX_Browser_STIG      | Example Browser STIG | V6R1 | 01 Jan 2022 | NEW:10@900
  Example Browser STIG | Example Browser STIG | V5R1 | 01 Jan 2018 | OLD:10@100
  = example_browser: Browser V4R1, Example Browser STIG V5R1, EX_Browser_STIG V6R1
  ~ joined example_browser.* 0 % .*V6R1
  ~ joined example_browser.* 100 % .*V5R1

  # a taken slug and a taken id: the slug with a number
  Example          | Other Thing STIG | V1R1 | | A:5@100
  First_STIG       | Example STIG     | V9R1 | | B:5@200
  other_thing_STIG | Other Thing STIG | V1R1 | | C:5@300
  Another          | Other Thing STIG | V1R1 | | D:5@400
  = other_thing: Another V1R1
  = example: First_STIG V9R1
  = other_thing_2: Example V1R1
  = other_thing_3: other_thing_STIG V1R1

  # a known id joins its STIG when its title names the same product, in another version
  Thing_STIG | Thing STIG           | V1R1 | | SAMP-01:3@100001
  U_Thing    | Thing Version 2 STIG | V1R2 | | ZZZ:5@9000
  = thing_version_2: Thing_STIG V1R1, U_Thing V1R2
  ~ known benchmark id
  ! 0 of its 5 rules are in another release of thing_version_2
  ! thing is thing_version_2 now

  # a STIG and an SRG of one title never join: Broker_Generic
  Example_Broker_STIG | Example Broker Security Technical Implementation Guide | V1R1 | 01 Jan 2024 |
  Broker_Generic | Example Broker Security Requirements Guide | V2R1 | 01 Feb 2024 |
  = example_broker: Broker_Generic V2R1
  = example_broker_2: Example_Broker_STIG V1R1

  # a title in another script: the benchmark id gives the slug
  Example_Product_STIG | 日本 STIG | V1R1 | | A:5@100
  Example_Product_STIG | 日本 STIG | V1R2 | | A:5@100
  = example_product: Example_Product_STIG V1R1, Example_Product_STIG V1R2
  ! new slug example_product: the title does not give a slug

  # whatever stands there already
  EP_STIG              | Example Product STIG | V1R1 | 01 Feb 2024 | B:5@200
  Example_Product_STIG | 日本 STIG    | V1R1 | 01 Jan 2024 | A:5@100
  = example_product: EP_STIG V1R1
  = example_product_2: Example_Product_STIG V1R1

  # a title that is a word of the paths below /stigs: the slug of the id, or a number
  Stats_STIG        | Stats STIG   | V1R1 | 01 Mar 2024 | A:5@100
  Stats_Viewer_STIG | STATS (STIG) | V1R1 | 01 Feb 2024 | B:5@200
  Batch             | Other STIG   | V1R1 | 01 Jan 2024 | C:5@300
  Change_Log        | Changelog    | V1R1 | 01 Dec 2023 | D:5@400
  batch_srg         | Batch SRG    | V1R1 | 01 Nov 2023 | E:5@500
  Stats_STIG        | Stats STIG   | V1R2 | 01 Apr 2024 | A:5@100
  = stats_2: Stats_STIG V1R1, Stats_STIG V1R2
  = stats_viewer: Stats_Viewer_STIG V1R1
  = other: Batch V1R1
  = change_log: Change_Log V1R1
  = batch_2: batch_srg V1R1
  ! new slug stats_2: stats is reserved for a path of the API
  ! new slug stats_viewer: stats is reserved for a path of the API
  ! new slug change_log: changelog is reserved for a path of the API
  ! new slug batch_2: batch is reserved for a path of the API

  # an override wins over the title
  Example_STIG | Example STIG | V1R1 | |
  Example_STIG | Example STIG | V1R2 | |
  > Example_STIG my_example
  = my_example: Example_STIG V1R1, Example_STIG V1R2
  ~ override.*my_example

  # overrides join what the rules would keep apart
  One_STIG | One STIG | V1R1 | | A:5@100
  Two_STIG | Two STIG | V1R2 | | B:5@200
  > U_Two one
  > One one
  = one: One_STIG V1R1, Two_STIG V1R2

  # overrides part what the rules would join
  Id1 | Example STIG | V1R1 | |
  Id2 | Example STIG | V1R2 | |
  > Id1 first_example
  > Id2 second_example
  = first_example: Id1 V1R1
  = second_example: Id2 V1R2

  # an override for an SRG leaves the STIG of the same name alone
  Example_Broker_STIG | Example Broker STIG | V1R1 | |
  Example_Broker_SRG  | Example Broker SRG  | V1R1 | 01 Feb 2024 |
  > Example_Broker_SRG broker_requirements
  = broker_requirements: Example_Broker_SRG V1R1
  = example_broker: Example_Broker_STIG V1R1

  # an override finds its benchmark whatever kind the ending of the id suggests
  Sample_2010_SRG | Sample 2010 STIG | V1R1 | |
  > Sample_2010_SRG sample_share
  = sample_share: Sample_2010_SRG V1R1

  # Oracle Linux 8: what two ids have alike is one release, and RHEL 8 another product
  OracleLinux_8_STIG  | Oracle Linux 8 STIG             | V1R2  | 27 Apr 2022 | OL08-00:40@248000
  Oracle_Linux_8_STIG | Oracle Linux 8 STIG             | V1R2  | 28 Apr 2022 | OL08-00:40@248000
  Oracle_Linux_8_STIG | Oracle Linux 8 STIG             | V2R1  | 24 Jul 2024 | OL08-00:41@248000
  RHEL_8_STIG         | Red Hat Enterprise Linux 8 STIG | V1R12 | 25 Oct 2023 | RHEL-08:40@230000
  = oracle_linux_8: Oracle_Linux_8_STIG V1R2, Oracle_Linux_8_STIG V2R1
  = red_hat_enterprise_linux_8: RHEL_8_STIG V1R12
  ~ another printing is kept, V1R2 of Oracle_Linux_8_STIG with 40 rules: it has 40 of the 40 rules of this one; joined oracle_linux_8: same title, other benchmark id; 100 % of the STIG IDs

  # a version under two ids of which less than 90 % is alike is another product
  OracleLikeLinux_8_STIG   | Oracle-like Linux 8 STIG | V1R2 | 01 Jan 2022 | OL08-00:40@248000
  Oracle_Like_Linux_8_STIG | Oracle-like Linux 8 STIG | V1R2 | 02 Jan 2022 | OL08-00:37@248003 + NEW:3@900000
  = oracle_like_linux_8: Oracle_Like_Linux_8_STIG V1R2
  = oraclelikelinux_8: OracleLikeLinux_8_STIG V1R2
  # three products with one benchmark id stay apart, whatever their versions and new numbers
  PostgreSQL | Alpha PostgreSQL STIG Readiness Guide | V1R1 | 09 Jan 2026 | ALFA-00:40@300000
  PostgreSQL | Alpha PostgreSQL STIG Readiness Guide | V1R2 | 02 Jan 2026 | ALFA-00:35@300000
  PostgreSQL | Beta PostgreSQL STIG Readiness Guide  | V1R1 | 04 Jan 2026 | BETA-00:40@310000
  PostgreSQL | Beta PostgreSQL STIG Readiness Guide  | V1R2 | 08 Jan 2026 | N-BETA:40@310000
  PostgreSQL | Gamma PostgreSQL STIG Readiness Guide | V1R2 | 05 Jan 2026 | GAMA-00:40@320000
  PostgreSQL | Gamma PostgreSQL STIG Readiness Guide | V1R3 | 03 Jan 2026 | GNEW:40@330000<320000/320000
  = alpha_postgresql_stig_readiness_guide: PostgreSQL V1R1, PostgreSQL V1R2
  = beta_postgresql_stig_readiness_guide: PostgreSQL V1R1, PostgreSQL V1R2
  = gamma_postgresql_stig_readiness_guide: PostgreSQL V1R2, PostgreSQL V1R3
  ~ alpha_postgresql_stig_readiness_guide has the same benchmark id, but names another product and shares no rule

  # a release of one benchmark id joins the product with which it shares most; few are a warning
  PostgreSQL | Alpha PostgreSQL STIG Readiness Guide   | V1R1 | 01 Jan 2026 | ALFA-00:40@300000
  PostgreSQL | Beta PostgreSQL STIG Readiness Guide    | V1R2 | 02 Jan 2026 | BETA-00:40@310000
  PostgreSQL | Delta PostgreSQL STIG Readiness Guide   | V1R3 | 20 Jan 2026 | ALFA-00:30@300000 + BETA-00:10@310000
  PostgreSQL | Epsilon PostgreSQL STIG Readiness Guide | V1R4 | 21 Jan 2026 | BETA-00:2@310000 + EPSI-00:38@340000
  = delta_postgresql_stig_readiness_guide: PostgreSQL V1R1, PostgreSQL V1R3
  = epsilon_postgresql_stig_readiness_guide: PostgreSQL V1R2, PostgreSQL V1R4
  ! 2 of its 40 rules are in another release of epsilon_postgresql_stig_readiness_guide

  # releases that are set apart from one title go to the STIG with which they share most; the newest leads
  PostgreSQL   | Alpha PostgreSQL STIG | V1R1 | 08 Jan 2026 | ALFA-00:40@300000
  PostgreSQL   | Alpha PostgreSQL STIG | V1R2 | 02 Jan 2026 | ALFA-00:39@300000
  U_PostgreSQL | Alpha PostgreSQL STIG | V1R1 | 03 Jan 2026 | BETA-00:40@310000
  U_PostgreSQL | Alpha PostgreSQL STIG | V1R2 | 09 Jan 2026 | BETA-00:39@310000
  = alpha_postgresql: U_PostgreSQL V1R1, U_PostgreSQL V1R2
  = postgresql: PostgreSQL V1R1, PostgreSQL V1R2`;

for (const section of scenarios.split('# ').slice(1)) {
  const [name, ...lines] = rowsOf(section) as [string, ...string[]];
  const of = (mark: string) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2));
  identity(name, async () => {
    const samples = lines.filter((line) => !/^[=>~!]/.test(line)).map(benchmarkOf);
    const overrides = new Map(of('>').map((line) => line.split(' ') as [string, string]));
    const says = new Set<string>();
    let first: unknown;
    for (const runs of waysOf(samples)) {
      const { db, lines: ledger } = await importRuns(runs, Array(runs.length).fill({ overrides }));
      for (const { reason, warnings } of ledger.flat())
        for (const said of [reason ?? '', ...warnings]) says.add(said);
      const served = Object.entries(slugs(db)).map(([slug, list]) => `${slug}: ${list.join(', ')}`);
      assert.equal(served.sort(), of('=').sort());
      assert.equal(unserved(db), []);
      const state = { dump: dumpCatalog(db), digests: tableDigests(db.sqlite) };
      first ??= state;
      assert.equal(state, first);
      db.close();
    }
    const all = [...says].join('\n');
    for (const text of of('!')) assert.ok(says.has(text), `${text}\n${all}`);
    for (const text of of('~')) assert.match(all, new RegExp(text, 'm'));
  });
}

identity('every former slug is an alias, run by run', async () => {
  const [old, renamed, third] = rowsOf(`
    Windows_10_STIG    | Windows 10 STIG           | V1R23 | 01 Nov 2020 | WN10-00:20@63000
    MS_Windows_10_STIG | Microsoft Windows 10 STIG | V2R1  | 04 Jan 2021 | WN10-00:20@63000
    MS_Windows_10_STIG | Third Name STIG           | V2R2  | 05 Jan 2021 | WN10-00:20@63000`).map(
    benchmarkOf,
  );
  const { db, lines } = await importRuns([[old!], [renamed!], [third!]]);
  const [stig, ...others] = dumpCatalog(db).stigs;
  assert.equal(
    [stig!.slug, stig!.title, stig!.current, stig!.id, others],
    ['third_name', 'Third Name STIG', 'V2R2', numberOf('third_name'), []],
  );
  assert.equal(
    aliases(db, 'third_name').join(' '),
    'microsoft_windows_10 ms_windows_10 ms_windows_10_stig windows_10 windows_10_stig',
  );
  assert.equal(
    lines.flatMap((run) => run.map(({ warnings }) => warnings.join())),
    ['', 'windows_10 is microsoft_windows_10 now', 'microsoft_windows_10 is third_name now'],
  );
});

identity('slugs are always ones that the API takes, also beside long titles and ids', async () => {
  const title = `${'Long name '.repeat(30)}STIG`;
  const of = (id: string, date: string, stem: string) => ({
    id,
    title,
    date,
    rules: sampleRules(5, stem, 100),
  });
  const samples = [
    of('One', '03 Jan 2024', 'A'),
    of('x'.repeat(400), '02 Jan 2024', 'B'),
    of('---', '01 Jan 2024', 'C'),
  ];
  samples[1]!.rules = sampleRules(5, 'B', 200);
  samples[2]!.rules = sampleRules(5, 'C', 300);
  const { stigs } = dumpCatalog((await importRuns([samples])).db);
  assert.is(stigs.length, 3);
  for (const { slug, id } of stigs) assert.ok(isSlug(slug) && id === numberOf(slug), slug);
});

identity.run();
