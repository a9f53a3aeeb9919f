import * as assert from 'uvu/assert';
import type { LedgerLine } from '../../importers/ledger-lines.ts';
import { catalogDigests } from '../../src/db/digest.ts';
import { unserved } from '../support/any-order.ts';
import { dumpCatalog, importTexts } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { type SampleBenchmark, type SampleRule, sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// What rules F2.3 and F2.4 expect of benchmarks as they were published: the ids, titles and versions are the publisher's,
// how their rules overlap as it was measured; the rules themselves are samples.

const expected = suite('benchmarks as they were published');

type Dated = SampleBenchmark & { version: number; release: number; date: string };

/** One release; the endings of titles and ids vary as they do, and are said in full. */
const of = (id: string, title: string, version: string, date: string, rules: SampleRule[]): Dated => {
  const [, major, minor] = /^V(\d+)R(\d+)$/.exec(version)!;
  return { id, title, version: Number(major), release: Number(minor), date, rules };
};

/** Rules with numbers from 2020 on, which name the former ones of the same STIG IDs. */
const renumbered = (stem: string, count: number, first: number, former: number): SampleRule[] =>
  sampleRules(count, stem, first).map((rule, index) => ({ ...rule, legacyIds: [`SV-${former + index}`] }));

const guide = 'Security Technical Implementation Guide';

/** The three files of a Windows server: the whole one, and what two roles need of it. */
function server(year: string, stem: string, version: string, date: string, first: number): Dated[] {
  const title = `Microsoft Windows Server ${year} ${guide}`;
  const prefix = year === '2019' ? 'Windows' : 'MS_Windows';
  const all = sampleRules(225, `${stem}-00`, first);
  const members = sampleRules(14, `${stem}-MS`, first + 300);
  const controllers = sampleRules(45, `${stem}-DC`, first + 400);
  return [
    of(`${prefix}_Server_${year}_STIG`, title, version, date, [...all, ...members, ...controllers]),
    of(`${prefix}_Server_${year}_DC_STIG`, title, version, date, [...all, ...controllers]),
    of(`${prefix}_Server_${year}_MS_STIG`, title, version, date, [...all, ...members]),
  ];
}

const server2019 = [
  ...server('2019', 'WN19', 'V2R9', '15 May 2024', 205_000),
  ...server('2019', 'WN19', 'V3R8', '01 Apr 2026', 205_000),
];
const server2022 = server('2022', 'WN22', 'V2R8', '01 Apr 2026', 254_000);
const server2025 = server('2025', 'WN25', 'V1R1', '26 Jan 2026', 278_000);

const firefox = (id: string, version: string, date: string, rules: SampleRule[]) =>
  of(
    id,
    id === 'Mozilla_FireFox_STIG' ? `Mozilla FireFox ${guide}` : `Mozilla Firefox ${guide}`,
    ...[version, date, rules],
  );

const cases: [name: string, benchmarks: Dated[], slugs: Record<string, string[]>][] = [
  [
    'Windows Server 2019, whole and by roles: the whole one with the controllers in it, and the members',
    server2019,
    {
      microsoft_windows_server_2019: ['Windows_Server_2019_STIG V2R9', 'Windows_Server_2019_STIG V3R8'],
      windows_server_2019_ms: ['Windows_Server_2019_MS_STIG V2R9', 'Windows_Server_2019_MS_STIG V3R8'],
    },
  ],
  [
    'Windows Server 2019 by roles alone: they stay apart',
    server2019.filter(({ id }) => id !== 'Windows_Server_2019_STIG'),
    {
      microsoft_windows_server_2019: ['Windows_Server_2019_DC_STIG V2R9', 'Windows_Server_2019_DC_STIG V3R8'],
      windows_server_2019_ms: ['Windows_Server_2019_MS_STIG V2R9', 'Windows_Server_2019_MS_STIG V3R8'],
    },
  ],
  [
    'Windows Server 2022 by roles alone: they stay apart',
    server2022.slice(1),
    {
      microsoft_windows_server_2022: ['MS_Windows_Server_2022_DC_STIG V2R8'],
      ms_windows_server_2022_ms: ['MS_Windows_Server_2022_MS_STIG V2R8'],
    },
  ],
  [
    'Windows Server 2025 without one of its roles: one STIG of 284 rules',
    server2025.slice(0, 2),
    { microsoft_windows_server_2025: ['MS_Windows_Server_2025_STIG V1R1'] },
  ],
  [
    'Firefox: one STIG of its six ids',
    [
      firefox('Mozilla_FireFox', 'V4R9', '22 Apr 2014', sampleRules(25, 'DTBF', 15_000)),
      firefox('Mozilla Firefox STIG', 'V4R11', '25 Jul 2015', sampleRules(25, 'DTBF', 15_000)),
      firefox('Mozilla_FireFox_STIG', 'V4R24', '25 Jan 2019', sampleRules(23, 'DTBF', 15_000)),
      firefox('Firefox', 'V4R27', '25 Oct 2019', sampleRules(21, 'DTBF', 15_000)),
      firefox('Mozilla_Firefox_STIG', 'V5R1', '22 Jan 2021', renumbered('DTBF', 21, 223_000, 15_000)),
      firefox('MOZ_Firefox_STIG', 'V6R7', '05 Jan 2026', sampleRules(34, 'FFOX-00', 251_000)),
    ],
    {
      mozilla_firefox: [
        ...[
          'Mozilla_FireFox V4R9',
          'Mozilla Firefox STIG V4R11',
          'Mozilla_FireFox_STIG V4R24',
          'Firefox V4R27',
        ],
        ...['Mozilla_Firefox_STIG V5R1', 'MOZ_Firefox_STIG V6R7'],
      ],
    },
  ],
  [
    'Windows 10: one STIG of two ids and titles',
    [
      of('Windows_10_STIG', `Windows 10 ${guide}`, 'V1R23', '17 Jun 2020', sampleRules(40, 'WN10', 63_000)),
      of(
        ...(['MS_Windows_10_STIG', `Microsoft Windows 10 ${guide}`, 'V3R7', '01 Apr 2026'] as const),
        renumbered('WN10', 42, 220_000, 63_000),
      ),
    ],
    { microsoft_windows_10: ['Windows_10_STIG V1R23', 'MS_Windows_10_STIG V3R7'] },
  ],
  [
    'Red Hat Enterprise Linux 7 and 8: one STIG each, of two ids',
    [
      of(
        ...(['Red_Hat_Enterprise_Linux_7_STIG', `Red Hat Enterprise Linux 7 ${guide}`, 'V1R4'] as const),
        ...(['28 Jul 2017', sampleRules(40, 'RHEL-07', 86_000)] as const),
      ),
      of(
        ...(['RHEL_7_STIG', `Red Hat Enterprise Linux 7 ${guide}`, 'V3R15', '24 Jul 2024'] as const),
        renumbered('RHEL-07', 41, 204_000, 86_000),
      ),
      of(
        'RHEL_8',
        `Red Hat Enterprise Linux 8 ${guide}`,
        'V1R1',
        '04 Jan 2021',
        sampleRules(40, 'RHEL-08', 230_000),
      ),
      of(
        'RHEL_8_STIG',
        `Red Hat Enterprise Linux 8 ${guide}`,
        'V1R12',
        '25 Oct 2023',
        sampleRules(44, 'RHEL-08', 230_000),
      ),
    ],
    {
      red_hat_enterprise_linux_7: ['Red_Hat_Enterprise_Linux_7_STIG V1R4', 'RHEL_7_STIG V3R15'],
      red_hat_enterprise_linux_8: ['RHEL_8 V1R1', 'RHEL_8_STIG V1R12'],
    },
  ],
  [
    'Oracle Linux 8: what two ids have alike is one release, and Red Hat Enterprise Linux 8 is another product',
    [
      // Of two that are all alike the hash would decide.
      ...['OracleLinux_8_STIG', 'Oracle_Linux_8_STIG'].map((id, index) =>
        of(
          id,
          `Oracle Linux 8 ${guide}`,
          'V1R2',
          `${27 + index} Apr 2022`,
          sampleRules(40, 'OL08-00', 248_000),
        ),
      ),
      of(
        'Oracle_Linux_8_STIG',
        `Oracle Linux 8 ${guide}`,
        'V2R1',
        '24 Jul 2024',
        sampleRules(41, 'OL08-00', 248_000),
      ),
      of(
        'RHEL_8_STIG',
        `Red Hat Enterprise Linux 8 ${guide}`,
        'V1R12',
        '25 Oct 2023',
        sampleRules(40, 'RHEL-08', 230_000),
      ),
    ],
    {
      oracle_linux_8: ['Oracle_Linux_8_STIG V1R2', 'Oracle_Linux_8_STIG V2R1'],
      red_hat_enterprise_linux_8: ['RHEL_8_STIG V1R12'],
    },
  ],
  [
    'SLES 12: one id, two titles',
    [
      of('SLES_12_STIG', `SLES 12 ${guide}`, 'V2R13', '24 Jan 2024', sampleRules(40, 'SLES-12', 217_000)),
      of(
        'SLES_12_STIG',
        `SUSE Linux Enterprise Server 12 ${guide}`,
        'V3R1',
        '24 Oct 2024',
        sampleRules(40, 'SLES-12', 217_000),
      ),
    ],
    { suse_linux_enterprise_server_12: ['SLES_12_STIG V2R13', 'SLES_12_STIG V3R1'] },
  ],
  [
    'Solaris: two architectures with the same STIG IDs and, until 2020, the same SV-ids',
    [10, 11].flatMap((major) =>
      ['SPARC', 'X86'].flatMap((machine, index) => {
        const [id, title] = [`Solaris_${major}_${machine}_STIG`, `Solaris ${major} ${machine} ${guide}`];
        const stem = `SOL-${major}`;
        const former = 1000 * major + 40_000;
        return [
          of(id, title, 'V1R20', '24 Jan 2020', sampleRules(40, stem, former)),
          of(
            id,
            title,
            'V2R1',
            '24 Nov 2020',
            renumbered(stem, 40, 216_000 + 2000 * major + 1000 * index, former),
          ),
        ];
      }),
    ),
    Object.fromEntries(
      ['10_SPARC', '10_X86', '11_SPARC', '11_X86'].map((name) => [
        `solaris_${name.toLowerCase()}`,
        [`Solaris_${name}_STIG V1R20`, `Solaris_${name}_STIG V2R1`],
      ]),
    ),
  ],
  [
    'Cisco routers: siblings with nine in ten STIG IDs in common, and SV-ids of their own',
    [
      of(
        'Cisco_IOS_Router_RTR_STIG',
        `Cisco IOS Router RTR ${guide}`,
        'V2R2',
        '23 Apr 2021',
        sampleRules(92, 'CISC-RT', 216_500),
      ),
      of(
        'Cisco_IOS-XE_Router_RTR_STIG',
        `Cisco IOS XE Router RTR ${guide}`,
        'V2R2',
        '23 Apr 2021',
        sampleRules(104, 'CISC-RT', 215_800),
      ),
      of(
        'Cisco_IOS_XR_Router_RTR_STIG',
        `Cisco IOS XR Router RTR ${guide}`,
        'V2R1',
        '23 Apr 2021',
        sampleRules(96, 'CISC-RT', 216_700),
      ),
      of(
        'Cisco_IOS-XE_Router_NDM_STIG',
        `Cisco IOS XE Router NDM ${guide}`,
        'V2R2',
        '23 Apr 2021',
        sampleRules(44, 'CISC-ND', 215_600),
      ),
    ],
    {
      cisco_ios_router_rtr: ['Cisco_IOS_Router_RTR_STIG V2R2'],
      cisco_ios_xe_router_ndm: ['Cisco_IOS-XE_Router_NDM_STIG V2R2'],
      cisco_ios_xe_router_rtr: ['Cisco_IOS-XE_Router_RTR_STIG V2R2'],
      cisco_ios_xr_router_rtr: ['Cisco_IOS_XR_Router_RTR_STIG V2R1'],
    },
  ],
];

async function importAll(runs: Dated[][]) {
  const db = emptyCatalog();
  const lines: LedgerLine[] = [];
  for (const run of runs)
    lines.push(
      ...(
        await importTexts(
          db,
          run.map((each) => writeXccdf(each)),
        )
      ).lines,
    );
  assert.equal(unserved(db), []);
  const dump = dumpCatalog(db);
  const slugs = Object.fromEntries(
    dump.stigs.map(({ slug }) => [
      slug,
      dump.releases.flatMap((each) => (each.slug === slug ? `${each.benchmark_id} ${each.version}` : [])),
    ]),
  );
  const state = { dump, digests: catalogDigests(db) };
  db.close();
  return { slugs, state, lines };
}

for (const [name, benchmarks, wanted] of cases)
  expected(name, async () => {
    const oldestFirst = [...benchmarks].sort((a, b) => Date.parse(a.date) - Date.parse(b.date));
    const half = Math.ceil(oldestFirst.length / 2);
    const orders = [
      [benchmarks],
      oldestFirst.map((each) => [each]),
      [...oldestFirst].reverse().map((each) => [each]),
      [oldestFirst.slice(half), oldestFirst.slice(0, half)],
    ];
    const states: unknown[] = [];
    for (const runs of orders) {
      const { slugs, state } = await importAll(runs);
      assert.equal(slugs, wanted);
      states.push(state);
    }
    for (const state of states) assert.equal(state, states[0]);
  });

expected('Windows Server 2025: two STIGs, the whole one of 284 rules, in every order and split', async () => {
  const [whole, controllers, members] = server2025 as [Dated, Dated, Dated];
  const states: unknown[] = [];
  for (const [a, b, c] of [
    [whole, controllers, members],
    [whole, members, controllers],
    [controllers, whole, members],
    [controllers, members, whole],
    [members, whole, controllers],
    [members, controllers, whole],
  ] as const)
    for (const runs of [[[a, b, c]], [[a], [b, c]], [[a, b], [c]], [[a], [b], [c]]]) {
      const { slugs, state, lines } = await importAll(runs);
      assert.equal(slugs, {
        microsoft_windows_server_2025: ['MS_Windows_Server_2025_STIG V1R1'],
        ms_windows_server_2025_ms: ['MS_Windows_Server_2025_MS_STIG V1R1'],
      });
      assert.equal(state.dump.releases.map((each) => each.finding_count).sort(), [239, 284]);
      const told = lines.flatMap(({ reason, warnings }) => [reason ?? '', ...warnings]).join('\n');
      assert.match(
        told,
        /V1R1 of MS_Windows_Server_2025_STIG with 284 rules: it has 270 of the 270 rules of this one/,
      );
      states.push(state);
    }
  for (const state of states) assert.equal(state, states[0]);
});

expected.run();
