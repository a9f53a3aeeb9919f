import * as assert from 'uvu/assert';
import type { LedgerLine } from '../../importers/ledger-lines.ts';
import type { ImportOptions } from '../../importers/run.ts';
import { nameTwoProducts } from '../../importers/stigs/siblings.ts';
import { idKeyOf, isSlug, kindOf, reservedSlugs, slugOf, slugStemOf } from '../../importers/stigs/slug.ts';
import { numberOf } from '../../src/base/ids.ts';
import { routesOf, testApp } from '../support/app.ts';
import { dumpCatalog, importTexts, tableDigests } from '../support/catalog-dump.ts';
import { growthOf } from '../support/effort.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { type SampleBenchmark, type SampleRule, sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

async function importRuns(runs: SampleBenchmark[][], options: ImportOptions[] = []) {
  const db = emptyCatalog();
  const lines: LedgerLine[][] = [];
  for (const [index, run] of runs.entries()) {
    const texts = run.map((sample) => writeXccdf(sample));
    lines.push((await importTexts(db, texts, options[index])).lines);
  }
  return { db, lines };
}

function slugs(db: Parameters<typeof dumpCatalog>[0]): Record<string, string[]> {
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

function aliases(db: Parameters<typeof dumpCatalog>[0], of: string): string[] {
  return dumpCatalog(db).aliases.flatMap(({ alias, slug }) => (slug === of ? alias : []));
}

const titles = suite('slugOf');

for (const [title, slug] of [
  ['Red Hat Enterprise Linux 9 Security Technical Implementation Guide', 'red_hat_enterprise_linux_9'],
  ['Application Core Security Requirements Guide', 'application_core'],
  ['Google Chrome Current Windows STIG', 'google_chrome_current_windows'],
  ['Example Product SRG', 'example_product'],
  ['Example Product security technical implementation guide', 'example_product'],
  ['EXAMPLE PRODUCT SECURITY TECHNICAL IMPLEMENTATION GUIDE', 'example_product'],
  ['Example Product Stig', 'example_product'],
  ['Example Product srg', 'example_product'],
  ['Example Product (STIG)', 'example_product'],
  ['Example Product [SRG]', 'example_product'],
  ['SharePoint 2010 Security Technical Implementation Guide (STIG)', 'sharepoint_2010'],
  ['Example Product STIG STIG', 'example_product'],
  ['Example Product SRG Security Requirements Guide (SRG)', 'example_product'],
  ['Example Product STIG Security Technical Implementation Guide', 'example_product'],
  ['Voice/Video over Internet Protocol (VVoIP) STIG', 'voice_video_over_internet_protocol_vvoip'],
  ['WLAN Access Point (Enclave-NIPRNet Connected) STIG', 'wlan_access_point_enclave_niprnet_connected'],
  ['Example Product STIG SCAP Benchmark', 'example_product'],
  ['Example Product STIG - Ver 2', 'example_product'],
  ['Example Product Security Technical Implementation Guide - Ver 2', 'example_product'],
  ['Example Product - Ver 2', 'example_product'],
  ['Draft Example Product STIG', 'example_product'],
  ['DRAFT Example Product STIG', 'example_product'],
  ['Drafting Table STIG', 'drafting_table'],
  ['Apples & Pears STIG', 'apples_and_pears'],
  ['Apples&Pears STIG', 'apples_and_pears'],
  ['Active Directory Domain', 'active_directory_domain'],
  ['Mozilla Firefox', 'mozilla_firefox'],
  [
    'IBM Hardware Management Console (HMC) STIG Policies',
    'ibm_hardware_management_console_hmc_stig_policies',
  ],
  ['Windows Server 2012/2012 R2 Member Server STIG', 'windows_server_2012_2012_r2_member_server'],
  ['IBM z/OS RACF STIG', 'ibm_z_os_racf'],
  ['Example 7.x - Server  STIG', 'example_7_x_server'],
  ['Example \u2013 Server\u00a0STIG', 'example_server'],
  ['  Example Product STIG  ', 'example_product'],
  ['Example\nProduct STIG', 'example_product'],
  ['Example Product Security\nTechnical   Implementation Guide', 'example_product'],
  ['Example Product Security Technical\t\r\n Implementation\u00a0Guide', 'example_product'],
  ['Example Product Security \n Requirements  Guide\n(SRG)', 'example_product'],
  ['Example Product STIG\nSCAP   Benchmark', 'example_product'],
  ['Example Product STIG\t-\n Ver\n2', 'example_product'],
  ['Draft\n Example Product STIG', 'example_product'],
  ['Prestig', 'prestig'],
  ['Example STIGS', 'example_stigs'],
  ['Security Technical Implementation Guide', 'security_technical_implementation_guide'],
  ['STIG', 'stig'],
  ['(STIG)', 'stig'],
  // Only ` - Ver 2` is an ending: a version that is part of the product's name stays.
  ['Example Runtime Environment (ERE) Version 6 STIG', 'example_runtime_environment_ere_version_6'],
  ['Example Suite Version 11 Security Technical Implementation Guide', 'example_suite_version_11'],
] as const) {
  titles(JSON.stringify(title), () => assert.is(slugOf(title), slug));
}

titles('a slug is always one that the API takes', () => {
  for (const title of ['a'.repeat(500), `${'ab '.repeat(100)}STIG`, `${'x'.repeat(199)} y STIG`, '1']) {
    assert.ok(isSlug(slugOf(title)), title.slice(0, 20));
  }
});

titles(
  'a title without a letter or digit of ours gives none: the id is taken, and refused with neither',
  () => {
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
  },
);

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
  const cases = [
    ['RHEL_9_STIG', 'rhel_9'],
    ['RHEL_9', 'rhel_9'],
    ['xccdf_mil.disa.stig_benchmark_RHEL_9_STIG', 'rhel_9'],
    ['U_CAN_Ubuntu_18-04_STIG', 'can_ubuntu_18_04'],
    ['CAN_Ubuntu_18-04_STIG', 'can_ubuntu_18_04'],
    ['Mozilla Firefox STIG', 'mozilla_firefox'],
    ['Mozilla_FireFox_STIG', 'mozilla_firefox'],
    ['MDM_Server_Policy__STIG', 'mdm_server_policy'],
    [
      'WLAN_Access_Point_-_Enclave-NIPRNet_Connected_Role',
      'wlan_access_point_enclave_niprnet_connected_role',
    ],
    ['Application_Core_SRG', 'application_core'],
    ['RH_OpenShift_Container_Platform_4-x_STIG', 'rh_openshift_container_platform_4_x'],
    ['Google_Chrome_Current_Windows', 'google_chrome_current_windows'],
    ['STIG', 'stig'],
    ['_STIG_', 'stig'],
    ['Unix_STIG', 'unix'],
  ] as const;
  for (const [id, key] of cases) assert.is(idKeyOf(id), key, id);
});

keys('ids of two products never fold to one key, not even without a letter', () => {
  assert.is.not(idKeyOf('Example_1_STIG'), idKeyOf('Example_11_STIG'));
  assert.is.not(idKeyOf('---'), idKeyOf('***'));
  assert.is.not(idKeyOf('\u65e5'), idKeyOf('\u672c'));
});

keys.run();

const joins = suite('identity: releases that belong together');

joins('a renamed id and title is one STIG, named by the newest title (Windows 10)', async () => {
  const old = {
    id: 'Windows_10_STIG',
    title: 'Windows 10 Security Technical Implementation Guide',
    version: 1,
    release: 23,
    date: '01 Nov 2020',
    rules: sampleRules(20, 'WN10-00', 63000),
  };
  const renamed = {
    id: 'MS_Windows_10_STIG',
    title: 'Microsoft Windows 10 Security Technical Implementation Guide',
    version: 2,
    release: 1,
    date: '04 Jan 2021',
    // Renumbered V-ids, the same STIG IDs but for one.
    rules: sampleRules(21, 'WN10-00', 220000),
  };
  for (const run of [
    [old, renamed],
    [renamed, old],
  ]) {
    const { db, lines } = await importRuns([run]);
    assert.equal(slugs(db), { microsoft_windows_10: ['Windows_10_STIG V1R23', 'MS_Windows_10_STIG V2R1'] });
    const [stig] = dumpCatalog(db).stigs;
    assert.is(stig!.title, renamed.title);
    assert.is(stig!.id, numberOf('microsoft_windows_10'));
    const reasons = lines[0]!.map((line) => line.reason!);
    assert.match(reasons[run.indexOf(old)]!, /joined microsoft_windows_10: .*95 % of the STIG IDs/);
    assert.match(reasons[run.indexOf(renamed)]!, /new slug.*microsoft_windows_10/);
    assert.ok(lines[0]!.every((line) => line.target === 'microsoft_windows_10'));
  }
});

joins(
  'the title is that of the release that is served: of the highest version, whatever its date',
  async () => {
    const rules = sampleRules(20, 'SAME', 263_000);
    const { db } = await importRuns([
      [
        { id: 'Old_Name_STIG', title: 'Old Name STIG', version: 9, date: '01 Nov 2010', rules },
        { id: 'New_Name_STIG', title: 'New Name STIG', version: 1, date: '01 Nov 2020', rules },
      ],
    ]);
    assert.equal(slugs(db), { old_name: ['New_Name_STIG V1R1', 'Old_Name_STIG V9R1'] });
    assert.equal(aliases(db, 'old_name'), ['new_name', 'new_name_stig', 'old_name_stig']);
  },
);

joins('the slug follows the newest title, run by run, and every former one is an alias', async () => {
  const rules = sampleRules(20, 'WN10-00', 63000);
  const old = {
    id: 'Windows_10_STIG',
    title: 'Windows 10 STIG',
    version: 1,
    release: 23,
    date: '01 Nov 2020',
    rules,
  };
  const renamed = {
    id: 'MS_Windows_10_STIG',
    title: 'Microsoft Windows 10 STIG',
    version: 2,
    release: 1,
    date: '04 Jan 2021',
    rules,
  };
  const third = { ...renamed, title: 'Third Name STIG', release: 2, date: '05 Jan 2021' };
  const { db, lines } = await importRuns([[old], [renamed], [third]]);
  assert.equal(slugs(db), {
    third_name: ['Windows_10_STIG V1R23', 'MS_Windows_10_STIG V2R1', 'MS_Windows_10_STIG V2R2'],
  });
  const dump = dumpCatalog(db);
  assert.equal(
    dump.stigs.map(({ slug, title, current }) => [slug, title, current]),
    [['third_name', 'Third Name STIG', 'V2R2']],
  );
  assert.equal(aliases(db, 'third_name'), [
    ...['microsoft_windows_10', 'ms_windows_10', 'ms_windows_10_stig', 'windows_10', 'windows_10_stig'],
  ]);
  assert.equal(
    lines.flatMap((run) => run.map(({ warnings }) => warnings)),
    [[], ['windows_10 is microsoft_windows_10 now'], ['microsoft_windows_10 is third_name now']],
  );
});

joins('other titles and fewer than 80 % of the STIG IDs: two STIGs', async () => {
  const one = { id: 'One_STIG', title: 'One STIG', release: 1, rules: sampleRules(20, 'SAME-00', 250_000) };
  const shared = (count: number) => [
    ...sampleRules(count, 'SAME-00', 250_000),
    ...sampleRules(20 - count, 'OTH', 259_000),
  ];
  const two = (count: number) => ({ id: 'Two_STIG', title: 'Two STIG', release: 2, rules: shared(count) });
  // 17 of 20 shared: 17 / 23 = 0.74. 18 of 20 shared: 18 / 22 = 0.82.
  assert.equal(slugs((await importRuns([[one, two(17)]])).db), {
    one: ['One_STIG V1R1'],
    two: ['Two_STIG V1R2'],
  });
  assert.equal(slugs((await importRuns([[one, two(18)]])).db), { two: ['One_STIG V1R1', 'Two_STIG V1R2'] });
});

joins('other titles and the same STIG IDs, but one version with other rules in both: two STIGs', async () => {
  const one = { id: 'One_STIG', title: 'One STIG', release: 1, rules: sampleRules(20, 'SAME-00', 1000) };
  const two = { id: 'Two_STIG', title: 'Two STIG', release: 1, rules: sampleRules(20, 'SAME-00', 2000) };
  assert.equal(slugs((await importRuns([[one, two]])).db), {
    one: ['One_STIG V1R1'],
    two: ['Two_STIG V1R1'],
  });
});

/** Two products of one maker, whose STIGs name their rules alike. */
const siblings = {
  xe: {
    id: 'Maker_XE_Router_STIG',
    title: 'Maker XE Router STIG',
    version: 2,
    release: 2,
    date: '01 Jan 2021',
    rules: sampleRules(104, 'MAKE-RT', 215_000),
  },
  ios: {
    id: 'Maker_IOS_Router_STIG',
    title: 'Maker IOS Router STIG',
    version: 3,
    release: 4,
    date: '01 Oct 2025',
    rules: sampleRules(92, 'MAKE-RT', 216_000),
  },
};

joins('siblings that share STIG IDs and no V-id are two STIGs, whichever comes first', async () => {
  const { xe, ios } = siblings;
  for (const runs of [[[xe, ios]], [[ios, xe]], [[xe], [ios]], [[ios], [xe]]]) {
    const { db, lines } = await importRuns(runs);
    assert.equal(slugs(db), {
      maker_ios_router: ['Maker_IOS_Router_STIG V3R4'],
      maker_xe_router: ['Maker_XE_Router_STIG V2R2'],
    });
    // The line of the older one tells of the newer, if that is there by then.
    if (runs[0]![0] === xe && runs.length === 2) continue;
    const second = lines.flat().find((line) => /shares/.test(line.reason ?? ''))!;
    assert.match(
      second.reason!,
      /^new slug from the title: maker_xe_router; shares 88 % of the STIG IDs with maker_ios_router, but its rules have other SV-ids$/,
    );
  }
});

joins(
  'a rename with new V-ids is one STIG where the former ones stand as legacy ids, and else by its STIG IDs',
  async () => {
    const old = {
      id: 'Old_STIG',
      title: 'Thing STIG',
      release: 9,
      date: '01 Nov 2019',
      rules: sampleRules(20, 'SAME', 63_000),
    };
    const fresh = sampleRules(20, 'SAME', 220_000);
    const legacy = (from: number) =>
      fresh.map((rule, index) => ({ ...rule, legacyIds: [`SV-${from + index}`, `V-${70_000 + index}`] }));
    const renamed = { id: 'New_STIG', title: 'Maker Thing STIG', version: 2, date: '01 Feb 2021' };
    for (const rules of [legacy(63_000), fresh])
      assert.equal(slugs((await importRuns([[old], [{ ...renamed, rules }]])).db), {
        maker_thing: ['Old_STIG V1R9', 'New_STIG V2R1'],
      });
    // The former SV-ids of another product.
    assert.equal(slugs((await importRuns([[old], [{ ...renamed, rules: legacy(71_000) }]])).db), {
      maker_thing: ['New_STIG V2R1'],
      thing: ['Old_STIG V1R9'],
    });
  },
);

/** Rules as they were before the renumbering: the V-ids of a family, and SV-ids of each product's own. */
const formerRules = (count: number, svFrom: number) =>
  sampleRules(count, 'GEN', 700).map((rule, index) => ({ ...rule, ruleId: `SV-${svFrom + index}r1_rule` }));

joins(
  'siblings of before the renumbering share V-ids and STIG IDs, and are two STIGs by their SV-ids',
  async () => {
    const old = { version: 1, date: '24 Jan 2014' };
    const hat = {
      ...{ ...old, id: 'RHEL_5_STIG', title: 'Red Hat Enterprise Linux 5 STIG', release: 18 },
      rules: formerRules(40, 37_000),
    };
    const oracle = {
      ...{ ...old, id: 'Oracle_Linux_5_STIG', title: 'Oracle Linux 5 STIG', release: 14 },
      rules: formerRules(40, 63_000),
    };
    for (const runs of [[[hat, oracle]], [[oracle, hat]], [[hat], [oracle]], [[oracle], [hat]]]) {
      const { db, lines } = await importRuns(runs);
      assert.equal(slugs(db), {
        oracle_linux_5: ['Oracle_Linux_5_STIG V1R14'],
        red_hat_enterprise_linux_5: ['RHEL_5_STIG V1R18'],
      });
      if (runs.length === 1)
        assert.match(
          lines.flat().find((line) => /shares/.test(line.reason ?? ''))!.reason!,
          /; shares 100 % of the STIG IDs with \w+_linux_5, but its rules have other SV-ids$/,
        );
    }
    // A later title of one of them is a later title all the same.
    const renamed = {
      ...hat,
      id: 'RH_EL_5_STIG',
      title: 'Red Hat Enterprise Linux (RHEL) 5 STIG',
      release: 19,
    };
    assert.equal(slugs((await importRuns([[hat, oracle], [renamed]])).db), {
      oracle_linux_5: ['Oracle_Linux_5_STIG V1R14'],
      red_hat_enterprise_linux_rhel_5: ['RHEL_5_STIG V1R18', 'RH_EL_5_STIG V1R19'],
    });
  },
);

joins(
  'siblings that were renumbered are told apart by their new numbers, whatever former ones they share',
  async () => {
    const renumbered = (from: number) =>
      sampleRules(40, 'WN12', from).map((rule, index) => ({
        ...rule,
        legacyIds: [`V-${1070 + index}`, `SV-${52_800 + index}`],
      }));
    const one = { id: 'A_STIG', title: 'Server Kind A STIG', version: 3, rules: renumbered(225_000) };
    const two = {
      id: 'B_STIG',
      title: 'Server Kind B STIG',
      version: 3,
      release: 2,
      rules: renumbered(226_000),
    };
    for (const runs of [[[one, two]], [[one], [two]], [[two], [one]]])
      assert.equal(slugs((await importRuns(runs)).db), {
        server_kind_a: ['A_STIG V3R1'],
        server_kind_b: ['B_STIG V3R2'],
      });
  },
);

joins(
  'member server and domain controller share even the SV-ids until 2020: their titles tell them apart',
  async () => {
    const title = (role: string) =>
      `Windows Server 2012/2012 R2 ${role} Security Technical Implementation Guide`;
    const shared = formerRules(300, 52_000);
    const member = {
      ...{ id: 'Windows_2012_MS_STIG', title: title('Member Server') },
      ...{ version: 2, release: 19, date: '17 Jun 2020', rules: shared },
    };
    const controller = {
      ...{ id: 'Windows_2012_DC_STIG', title: title('Domain Controller') },
      ...{ version: 2, release: 21, date: '17 Jun 2020' },
      rules: [...shared, ...sampleRules(40, 'WN12-AD', 8300)],
    };
    for (const runs of [[[member, controller]], [[controller], [member]], [[member], [controller]]]) {
      const { db, lines } = await importRuns(runs);
      assert.equal(slugs(db), {
        windows_server_2012_2012_r2_domain_controller: ['Windows_2012_DC_STIG V2R21'],
        windows_server_2012_2012_r2_member_server: ['Windows_2012_MS_STIG V2R19'],
      });
      if (runs.length === 1)
        assert.match(
          lines.flat().find((line) => /shares/.test(line.reason ?? ''))!.reason!,
          /; shares 88 % of the STIG IDs with windows_server_2012_2012_r2_\w+, but its title names another product$/,
        );
    }
  },
);

joins('what one title joined is parted when a release shows that they are two products', async () => {
  const title = 'Maker Router STIG';
  const { xe, ios } = siblings;
  const known = [[{ ...xe, title }], [{ ...ios, title }]];
  assert.equal(slugs((await importRuns(known)).db), {
    maker_router: ['Maker_XE_Router_STIG V2R2', 'Maker_IOS_Router_STIG V3R4'],
  });
  const shows = { ...ios, title, version: 2, release: 2, date: '01 Jan 2024' };
  const { db, lines } = await importRuns([...known, [shows]]);
  assert.equal(slugs(db), {
    maker_router: ['Maker_IOS_Router_STIG V2R2', 'Maker_IOS_Router_STIG V3R4'],
    maker_xe_router: ['Maker_XE_Router_STIG V2R2'],
  });
  assert.equal(lines[2]![0]!.warnings, [
    '1 release of Maker_XE_Router_STIG, imported before, went from maker_router to maker_xe_router',
  ]);
  assert.equal(dumpCatalog(db), dumpCatalog((await importRuns([[shows, ...known.flat()]])).db));
});

joins(
  'two printings of one version that have rules of their own are two STIGs, and none is lost',
  async () => {
    const shared = sampleRules(40, 'WN25-00', 278_000);
    const own = sampleRules(1, 'WN25-MS', 278_100);
    const other = sampleRules(1, 'WN25-DC', 278_200);
    const a = {
      id: 'Server_25_STIG',
      title: 'Server 25 STIG',
      date: '01 Jan 2026',
      rules: [...shared, ...own],
    };
    const b = { ...a, date: '02 Jan 2026', rules: [...shared, ...other] };
    const next = { ...a, release: 2, date: '01 Feb 2026', rules: shared };
    for (const runs of [[[a, b, next]], [[b], [next], [a]], [[a], [b], [next]], [[next, a], [b]]]) {
      const { db, lines } = await importRuns(runs);
      assert.equal(slugs(db), {
        server_25: ['Server_25_STIG V1R1', 'Server_25_STIG V1R2'],
        server_25_2: ['Server_25_STIG V1R1'],
      });
      const served = 'SELECT rule_id FROM findings WHERE release_id IN (SELECT id FROM stig_releases)';
      assert.is(new Set(db.sqlite.prepare(served).pluck().all()).size, 42);
      // What comes second is told of, whichever it is.
      const told = lines
        .flat()
        .flatMap(({ reason, warnings }) => [reason ?? '', ...warnings])
        .join();
      if (runs[0]!.includes(a) && runs[0]!.includes(b))
        assert.match(
          told,
          /set apart from server_25: 1 of its 41 rules is not in the V1R1 there \(SV-278100r1_rule\); it lacks 1 of that one/,
        );
      else
        assert.match(
          told,
          runs[0]![0] === a
            ? /server_25 is server_25_2 now/
            : runs[0]![1] === a
              ? /went from server_25 to server_25_2/
              : /set apart from server_25/,
        );
    }
  },
);

joins(
  'three files of one title and version, two of them parts of the third: the largest is served',
  async () => {
    const title = 'Microsoft Windows Server 2025 Security Technical Implementation Guide';
    const [all, ms, dc] = [
      sampleRules(225, 'WN25-00', 278_000),
      sampleRules(14, 'WN25-MS', 279_000),
      sampleRules(45, 'WN25-DC', 280_000),
    ];
    const of = (id: string, rules: SampleRule[], day: number) => ({
      id,
      title,
      date: `${day} Jan 2026`,
      rules,
    });
    const files = [
      of('MS_Windows_Server_2025_STIG', [...all, ...ms, ...dc], 26),
      of('MS_Windows_Server_2025_DC_STIG', [...all, ...dc], 26),
      of('MS_Windows_Server_2025_MS_STIG', [...all, ...ms], 26),
    ] as const;
    const [whole, controllers, members] = files;
    const expected = {
      microsoft_windows_server_2025: ['MS_Windows_Server_2025_STIG V1R1'],
      ms_windows_server_2025_ms: ['MS_Windows_Server_2025_MS_STIG V1R1'],
    };
    for (const runs of [
      [[whole, controllers, members]],
      [[members], [controllers], [whole]],
      [[controllers], [whole, members]],
      [[members, whole], [controllers]],
    ]) {
      const { db, lines } = await importRuns(runs);
      assert.equal(slugs(db), expected);
      const told = lines
        .flat()
        .flatMap(({ reason, warnings }) => [reason ?? '', ...warnings])
        .join('\n');
      assert.match(
        told,
        /V1R1 of MS_Windows_Server_2025_STIG with 284 rules: it has 270 of the 270 rules of this one/,
      );
    }
  },
);

joins('the same title under several ids is one STIG, each join in the ledger with its overlap', async () => {
  const title = 'Example Browser STIG';
  const { db, lines } = await importRuns([
    [
      {
        id: 'Browser',
        title,
        version: 4,
        release: 1,
        date: '01 Jan 2015',
        rules: sampleRules(10, 'OLD', 100),
      },
      {
        id: 'EX_Browser_STIG',
        title,
        version: 6,
        release: 1,
        date: '01 Jan 2022',
        rules: sampleRules(10, 'NEW', 900),
      },
      {
        id: 'Example Browser STIG',
        title,
        version: 5,
        release: 1,
        date: '01 Jan 2018',
        rules: sampleRules(10, 'OLD', 100),
      },
    ],
  ]);
  assert.equal(slugs(db), {
    example_browser: ['Browser V4R1', 'Example Browser STIG V5R1', 'EX_Browser_STIG V6R1'],
  });
  const [browser, ex, exampleBrowser] = lines[0]!;
  assert.match(ex!.reason!, /new slug/);
  assert.match(exampleBrowser!.reason!, /joined example_browser.* 0 % .*V6R1/);
  assert.match(browser!.reason!, /joined example_browser.* 100 % .*V5R1/);
});

joins(
  'member server and domain controller: one title, one version, other rules: they stay apart',
  async () => {
    const title = 'Microsoft Windows Server 2019 Security Technical Implementation Guide';
    const member = (release: number) => ({
      id: 'Windows_Server_2019_MS_STIG',
      title,
      version: 2,
      release,
      date: `0${release} Feb 2021`,
      rules: sampleRules(30, 'WN19-MS', 205000),
    });
    const controller = (release: number) => ({
      id: 'Windows_Server_2019_DC_STIG',
      title,
      version: 2,
      release,
      date: `0${release} Feb 2021`,
      rules: [...sampleRules(20, 'WN19-MS', 205000), ...sampleRules(20, 'WN19-DC', 206000)],
    });
    const { db, lines } = await importRuns([[member(1), controller(1), member(3), controller(2)]]);
    assert.equal(slugs(db), {
      microsoft_windows_server_2019: ['Windows_Server_2019_MS_STIG V2R1', 'Windows_Server_2019_MS_STIG V2R3'],
      windows_server_2019_dc: ['Windows_Server_2019_DC_STIG V2R1', 'Windows_Server_2019_DC_STIG V2R2'],
    });
    assert.match(lines[0]![1]!.reason!, /windows_server_2019_dc: .*other rules/);
    const later = await importTexts(
      db,
      [controller(4), member(4)].map((sample) => writeXccdf(sample)),
    );
    assert.equal(
      later.lines.map((line) => line.target),
      // Of one day: the larger has the title.
      ['microsoft_windows_server_2019', 'windows_server_2019_ms'],
    );
    // Where no version meets another, the ids alone tell.
    for (const runs of [[[member(3), controller(4)]], [[controller(4)], [member(3)]]]) {
      const once = await importRuns(runs);
      assert.equal(slugs(once.db), {
        microsoft_windows_server_2019: ['Windows_Server_2019_DC_STIG V2R4'],
        windows_server_2019_ms: ['Windows_Server_2019_MS_STIG V2R3'],
      });
      assert.is(
        once.lines.flat().find((line) => line.target === 'windows_server_2019_ms')!.reason,
        'new slug windows_server_2019_ms: microsoft_windows_server_2019 is the other role of this server',
      );
    }
  },
);

joins('a taken slug and a taken id: the slug with a number', async () => {
  const { db } = await importRuns([
    [{ id: 'Example', title: 'Other Thing STIG', rules: sampleRules(5, 'A', 100) }],
    [{ id: 'First_STIG', title: 'Example STIG', version: 9, rules: sampleRules(5, 'B', 200) }],
    [{ id: 'other_thing_STIG', title: 'Other Thing STIG', rules: sampleRules(5, 'C', 300) }],
    [{ id: 'Another', title: 'Other Thing STIG', rules: sampleRules(5, 'D', 400) }],
  ]);
  assert.equal(slugs(db), {
    other_thing: ['Another V1R1'],
    example: ['First_STIG V9R1'],
    other_thing_2: ['Example V1R1'],
    other_thing_3: ['other_thing_STIG V1R1'],
  });
});

joins('the same release under another id joins and one copy is kept', async () => {
  const title = 'Oracle-like Linux 8 STIG';
  const rules = sampleRules(40, 'OL08-00', 248000);
  const one = { id: 'OracleLikeLinux_8_STIG', title, release: 2, date: '01 Jan 2022', rules };
  // One of 40 rule ids differs: 39 / 41 = 0.951.
  const almost = [...rules.slice(1), { ...rules[0]!, ruleId: 'SV-248000r2_rule' }];
  const two = { id: 'Oracle_Like_Linux_8_STIG', title, release: 2, date: '02 Jan 2022', rules: almost };
  for (const runs of [[[one, two]], [[two, one]], [[one], [two]], [[two], [one]]]) {
    const { db, lines } = await importRuns(runs);
    assert.equal(slugs(db), { oracle_like_linux_8: ['Oracle_Like_Linux_8_STIG V1R2'] });
    assert.equal(aliases(db, 'oracle_like_linux_8'), [
      ...['oracle_like_linux_8_stig', 'oraclelikelinux_8', 'oraclelikelinux_8_stig'],
    ]);
    const outcome = lines.flat().map((line) => line.outcome);
    const index = runs.flat().indexOf(one);
    const inOneRunOrLater = runs.length === 1 || index === 1;
    assert.is(outcome[index], inOneRunOrLater ? 'superseded' : 'imported');
    if (inOneRunOrLater)
      assert.is(
        lines.flat()[index]!.reason,
        'another printing is kept, V1R2 of Oracle_Like_Linux_8_STIG with 40 rules: it has 40 of the 40 rules of this one, 1 of them in another revision (SV-248000r1_rule); joined oracle_like_linux_8: same title, other benchmark id; 100 % of the STIG IDs shared with V1R2',
      );
    assert.is(outcome[1 - index], 'imported');
  }
  // Three of 40 differ: 37 / 43 = 0.86, another product.
  const other = [...rules.slice(3), ...sampleRules(3, 'NEW', 900000)];
  const apart = await importRuns([[one, { ...two, rules: other }]]);
  assert.equal(slugs(apart.db), {
    oracle_like_linux_8: ['Oracle_Like_Linux_8_STIG V1R2'],
    oraclelikelinux_8: ['OracleLikeLinux_8_STIG V1R2'],
  });
});

joins('a known id joins its STIG when its title names the same product, in another version', async () => {
  const { db, lines } = await importRuns([
    [{ id: 'Thing_STIG', title: 'Thing STIG', release: 1 }],
    [{ id: 'U_Thing', title: 'Thing Version 2 STIG', release: 2, rules: sampleRules(5, 'ZZZ', 9000) }],
  ]);
  assert.equal(slugs(db), { thing_version_2: ['Thing_STIG V1R1', 'U_Thing V1R2'] });
  assert.equal(aliases(db, 'thing_version_2'), ['thing', 'thing_stig', 'u_thing']);
  assert.match(lines[1]![0]!.reason!, /known benchmark id/);
  assert.equal(lines[1]![0]!.warnings, [
    'thing is thing_version_2 now',
    '0 of its 5 rules are in another release of thing_version_2',
  ]);
});

for (const [name, stigId, srgId] of [
  ['under ids of their own', 'Example_Broker_STIG', 'Broker_Generic'],
  ['under ids that differ by their ending alone', 'Example_Broker_STIG', 'Example_Broker_SRG'],
] as const) {
  joins(`a STIG and an SRG of one title never join, ${name}`, async () => {
    const stig = {
      id: stigId,
      title: 'Example Broker Security Technical Implementation Guide',
      version: 1,
      release: 1,
      date: '01 Jan 2024',
    };
    const srg = {
      id: srgId,
      title: 'Example Broker Security Requirements Guide',
      version: 2,
      release: 1,
      date: '01 Feb 2024',
    };
    for (const runs of [[[stig, srg]], [[srg, stig]], [[stig], [srg]], [[srg], [stig]]]) {
      const { db } = await importRuns(runs);
      const dump = dumpCatalog(db);
      assert.equal(
        dump.releases.map((release) => release.benchmark_id).sort(),
        [srgId, stigId].sort(),
        'both releases are kept',
      );
      assert.equal(dump.stigs.map((row) => row.kind).sort(), ['srg', 'stig']);
      for (const row of dump.stigs) {
        const own = dump.releases.filter((release) => release.slug === row.slug);
        assert.equal(
          own.map((release) => release.benchmark_id),
          [row.kind === 'stig' ? stigId : srgId],
        );
        assert.ok(isSlug(row.slug), row.slug);
      }
    }
  });
}

joins('a title in another script is known by the benchmark id, whatever stands there already', async () => {
  const title = '\u65e5\u672c STIG';
  const { db, lines } = await importRuns([
    [{ id: 'Example_Product_STIG', title, rules: sampleRules(5, 'A', 100) }],
    [{ id: 'Example_Product_STIG', title, release: 2, rules: sampleRules(5, 'A', 100) }],
  ]);
  assert.equal(slugs(db), { example_product: ['Example_Product_STIG V1R1', 'Example_Product_STIG V1R2'] });
  assert.is(lines[0]![0]!.reason, 'new slug example_product: the title does not give a slug');

  const own = {
    id: 'EP_STIG',
    title: 'Example Product STIG',
    date: '01 Feb 2024',
    rules: sampleRules(5, 'B', 200),
  };
  const foreign = { id: 'Example_Product_STIG', title, date: '01 Jan 2024', rules: sampleRules(5, 'A', 100) };
  for (const run of [
    [own, foreign],
    [foreign, own],
  ])
    assert.equal(slugs((await importRuns([run])).db), {
      example_product: ['EP_STIG V1R1'],
      example_product_2: ['Example_Product_STIG V1R1'],
    });
});

joins(
  'a title that is a word of the paths below /stigs gets the slug of the id, or the next number',
  async () => {
    const { db, lines } = await importRuns([
      [
        { id: 'Stats_STIG', title: 'Stats STIG', date: '01 Mar 2024', rules: sampleRules(5, 'A', 100) },
        {
          id: 'Stats_Viewer_STIG',
          title: 'STATS (STIG)',
          date: '01 Feb 2024',
          rules: sampleRules(5, 'B', 200),
        },
        { id: 'Batch', title: 'Other STIG', date: '01 Jan 2024', rules: sampleRules(5, 'C', 300) },
        { id: 'Change_Log', title: 'Changelog', date: '01 Dec 2023', rules: sampleRules(5, 'D', 400) },
        { id: 'batch_srg', title: 'Batch SRG', date: '01 Nov 2023', rules: sampleRules(5, 'E', 500) },
      ],
    ]);
    assert.equal(slugs(db), {
      stats_2: ['Stats_STIG V1R1'],
      stats_viewer: ['Stats_Viewer_STIG V1R1'],
      other: ['Batch V1R1'],
      change_log: ['Change_Log V1R1'],
      batch_2: ['batch_srg V1R1'],
    });
    assert.equal(
      lines[0]!.map((line) => line.reason),
      [
        'new slug stats_2: stats is reserved for a path of the API',
        'new slug stats_viewer: stats is reserved for a path of the API',
        'new slug from the title: other',
        'new slug change_log: changelog is reserved for a path of the API',
        'new slug batch_2: batch is reserved for a path of the API',
      ],
    );
    const { lines: next } = await importTexts(db, [
      writeXccdf({ id: 'Stats_STIG', title: 'Stats STIG', release: 2, rules: sampleRules(5, 'A', 100) }),
    ]);
    assert.is(next[0]!.target, 'stats_2', 'a slug given once stays');
  },
);

joins('slugs are always ones that the API takes, also beside long titles and ids', async () => {
  const title = `${'Long name '.repeat(30)}STIG`;
  const long = 'x'.repeat(400);
  const { db } = await importRuns([
    [
      { id: 'One', title, date: '01 Mar 2024', rules: sampleRules(5, 'A', 100) },
      { id: long, title, date: '01 Feb 2024', rules: sampleRules(5, 'B', 200) },
      { id: '---', title, date: '01 Jan 2024', rules: sampleRules(5, 'C', 300) },
    ],
  ]);
  const dump = dumpCatalog(db);
  assert.is(dump.stigs.length, 3);
  for (const { slug, id } of dump.stigs) {
    assert.ok(isSlug(slug), `${slug.length}: ${slug.slice(0, 80)}`);
    assert.is(id, numberOf(slug));
  }
});

joins('two titles name two products where each has a word that the other lacks, the maker apart', () => {
  const pairs = [
    ['Windows 10 STIG', 'Microsoft Windows 10 Security Technical Implementation Guide', false],
    ['Windows Defender Antivirus STIG', 'Microsoft Defender Antivirus STIG', false],
    ['Mozilla Firefox', 'Mozilla FireFox STIG', false],
    ['Windows Server 2012 Member Server STIG', 'Windows Server 2012 Domain Controller STIG', true],
    ['WLAN Access Point (Enclave-NIPRNet Connected) STIG', 'WLAN Controller STIG', true],
    ['Solaris 10 SPARC STIG', 'Solaris 10 X86 STIG', true],
    ['MS Word 2010 STIG', 'Microsoft Word 2013 STIG', true],
    ['Microsoft', 'Microsoft Windows', false],
  ] as const;
  for (const [a, b, expected] of pairs) {
    assert.is(nameTwoProducts(a, b), expected, a);
    assert.is(nameTwoProducts(b, a), expected, b);
  }
});

joins('a STIG ID that names thousands of rules costs no more than they are', async () => {
  const sample = (title: string, release: number, first: number, size: number): SampleBenchmark => ({
    id: `${title}_STIG`,
    title: `${title} STIG`,
    release,
    rules: sampleRules(size, 'X', first).map((rule) => ({ ...rule, version: 'X-1' })),
  });
  const growth = await growthOf(async (size) => {
    const two = [sample('Boat', 1, 300_000, size), sample('Ship', 2, 400_000, size)];
    const { db, lines } = await importRuns([two]);
    db.close();
    assert.match(
      lines[0]![0]!.reason!,
      /shares 100 % of the STIG IDs with ship, but its rules have other SV-ids/,
    );
  }, 8000);
  assert.ok(growth < 3, `twice the rules cost ${growth} times as much`);
});

joins.run();

const overrides = suite('identity: the operator has the last word');

overrides('an override wins over the title, before and after the first import', async () => {
  const sample = { id: 'Example_STIG', title: 'Example STIG' };
  const options = { overrides: new Map([['Example_STIG', 'my_example']]) };
  const fresh = await importRuns([[sample]], [options]);
  assert.equal(slugs(fresh.db), { my_example: ['Example_STIG V1R1'] });
  assert.match(fresh.lines[0]![0]!.reason!, /override.*my_example/);
  assert.is(fresh.lines[0]![0]!.target, 'my_example');
  const later = await importTexts(fresh.db, [writeXccdf({ ...sample, release: 2 })]);
  assert.is(later.lines[0]!.target, 'my_example');
});

overrides('an override joins what the rules would keep apart', async () => {
  const { db } = await importRuns(
    [
      [
        { id: 'One_STIG', title: 'One STIG', release: 1, rules: sampleRules(5, 'A', 100) },
        { id: 'Two_STIG', title: 'Two STIG', release: 2, rules: sampleRules(5, 'B', 200) },
      ],
    ],
    [
      {
        overrides: new Map([
          ['U_Two', 'one'],
          ['One', 'one'],
        ]),
      },
    ],
  );
  assert.equal(slugs(db), { one: ['One_STIG V1R1', 'Two_STIG V1R2'] });
});

overrides('an override parts what the rules would join', async () => {
  const samples = [1, 2].map((release) => ({ id: `Id${release}`, title: 'Example STIG', release }));
  assert.equal(slugs((await importRuns([samples])).db), { example: ['Id1 V1R1', 'Id2 V1R2'] });
  const parted = new Map([
    ['Id1', 'first_example'],
    ['Id2', 'second_example'],
  ]);
  const { db } = await importRuns([samples], [{ overrides: parted }]);
  assert.equal(slugs(db), { first_example: ['Id1 V1R1'], second_example: ['Id2 V1R2'] });
});

overrides('an override for an SRG leaves the STIG of the same name alone', async () => {
  const samples = [
    { id: 'Example_Broker_STIG', title: 'Example Broker STIG' },
    { id: 'Example_Broker_SRG', title: 'Example Broker SRG', date: '01 Feb 2024' },
  ];
  const { db } = await importRuns(
    [samples],
    [{ overrides: new Map([['Example_Broker_SRG', 'broker_requirements']]) }],
  );
  assert.equal(slugs(db), {
    broker_requirements: ['Example_Broker_SRG V1R1'],
    example_broker: ['Example_Broker_STIG V1R1'],
  });
});

overrides('an override finds its benchmark whatever kind the ending of the id suggests', async () => {
  const { db } = await importRuns(
    [[{ id: 'Sample_2010_SRG', title: 'Sample 2010 STIG' }]],
    [{ overrides: new Map([['Sample_2010_SRG', 'sample_share']]) }],
  );
  assert.equal(slugs(db), { sample_share: ['Sample_2010_SRG V1R1'] });
});

overrides('an override moves what is stored already, once', async () => {
  const { db } = await importRuns([
    [{ id: 'One', title: 'One STIG', release: 1 }],
    [{ id: 'One', title: 'One STIG', release: 2 }],
  ]);
  const before = db.generation();
  const text = writeXccdf({ id: 'One', title: 'One STIG', release: 1 });
  const options = { overrides: new Map([['One_STIG', 'moved']]) };
  await importTexts(db, [text], options);
  const dump = dumpCatalog(db);
  assert.equal(
    dump.stigs.filter((stig) => stig.current !== null).map(({ slug, current }) => [slug, current]),
    [['moved', 'V1R2']],
  );
  assert.equal(
    dump.releases.map((release) => [release.slug, release.version]),
    [
      ['moved', 'V1R1'],
      ['moved', 'V1R2'],
    ],
  );
  assert.equal(
    dump.sources.map((source) => source.target),
    ['moved', 'moved'],
    'the targets of the sources follow',
  );
  assert.is(db.generation(), before + 1);
  const digests = tableDigests(db);
  await importTexts(db, [text], options);
  assert.equal(tableDigests(db), digests, 'the same override again changes nothing');
});

overrides.run();
