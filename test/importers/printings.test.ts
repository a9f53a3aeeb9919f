import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { evidenceOf, isWithin } from '../../importers/stigs/evidence.ts';
import { decideIdentity } from '../../importers/stigs/identity.ts';
import type { Printing } from '../../importers/stigs/printing.ts';
import { aliasKey, isSlug, kindOf, reservedSlugs, slugOf } from '../../importers/stigs/slug.ts';
import { identifiersOf } from '../../importers/stigs/store.ts';
import { releaseOrderOf } from '../../importers/stigs/xccdf-release.ts';
import { sha256 } from '../../src/base/ids.ts';
import { suite } from '../support/harness.ts';

interface Facts {
  benchmarkId: string;
  title: string;
  version: string;
  benchmarkDate: string | null;
  /** Numbers of rules; those of one hundred are of one product. */
  rules: number[];
  revision: number;
}

function printingOf(facts: Facts): Printing {
  const { benchmarkId, title, version, benchmarkDate, rules, revision } = facts;
  const hash = sha256(JSON.stringify(facts));
  const findings = rules.map((number) => ({
    groupId: `V-${250_000 + number}`,
    ruleId: `SV-${250_000 + number}r${revision}_rule`,
    ruleVersion: `THING-${number % 100}`,
    legacyIds: number % 3 === 0 ? [`SV-${number % 100}`, `V-${number}`] : [],
  }));
  const { stigIds, ...evidence } = evidenceOf(findings);
  return {
    ...{ sha256: hash, benchmarkId, title, version, stigIds, releaseDate: benchmarkDate },
    idKey: aliasKey(benchmarkId, kindOf(title)),
    releaseOrder: releaseOrderOf({ version, benchmarkDate, statusDate: null, sha256: hash }),
    evidence: () => evidence,
    identifiers: () => identifiersOf(findings),
  };
}

const rules = fc
  .record({
    from: fc.constantFrom(0, 0, 0, 1, 100, 101),
    size: fc.constantFrom(4, 5, 20, 21, 40),
    without: fc.subarray([2, 3]),
  })
  .map(({ from, size, without }) =>
    Array.from({ length: size }, (_, index) => from + index).filter((number) => !without.includes(number)),
  );
// What gives no slug at all is refused before.
const facts: fc.Arbitrary<Facts> = fc
  .record({
    benchmarkId: fc.constantFrom(
      ...[
        'Alpha_STIG',
        'U_Alpha',
        'ALPHA_Server',
        'Server_MS_STIG',
        'Server_DC_STIG',
        'Beta',
        'Beta_SRG',
        '---',
        'Stats',
      ],
    ),
    title: fc.constantFrom(
      ...[
        'Alpha Server STIG',
        'Vendor Alpha Server STIG',
        'Alpha Server SRG',
        'Beta',
        'Stats STIG',
        '\u65e5\u672c STIG',
      ],
    ),
    version: fc.constantFrom('V1R1', 'V1R1', 'V1R2', 'V2R10'),
    benchmarkDate: fc.constantFrom('2024-01-01', '2024-02-15', '2025-01-01', null),
    rules,
    revision: fc.constantFrom(1, 2),
  })
  .filter(({ benchmarkId, title }) => benchmarkId !== '---' || slugOf(title) !== '');
const sets = fc.uniqueArray(facts, { minLength: 1, maxLength: 12, selector: (each) => JSON.stringify(each) });
const overrides = fc
  .dictionary(
    fc.constantFrom('Alpha_STIG', 'ALPHA', 'Beta', 'Server_MS', 'Nobody'),
    fc.constantFrom('alpha_server', 'given', 'beta'),
    { maxKeys: 2 },
  )
  .map((rows) => new Map(Object.entries(rows)));

/** All that was decided, told without regard to the order in which it was said. */
function told(printings: Printing[], rows: Map<string, string>) {
  const { stigs, fates, aliases, refused, unused } = decideIdentity(printings, rows);
  return {
    stigs: Object.fromEntries(
      [...stigs]
        .sort((a, b) => (a.slug < b.slug ? -1 : 1))
        .map((stig) => [
          stig.slug,
          [stig.kind, stig.current.sha256, stig.printings.map(({ sha256: id }) => id).sort()],
        ]),
    ),
    fates: Object.fromEntries(
      [...fates]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, { stig, keptBy }]) => [
          id,
          [stig.slug, keptBy?.sha256, stig.why.get(printings.find((each) => each.sha256 === id)!.idKey)!()],
        ]),
    ),
    aliases: [...aliases].map(([alias, { slug }]) => `${alias} ${slug}`).sort(),
    refused: [...refused].sort(),
    unused: unused.sort(),
  };
}

const test = suite('identity, a function of all printings and overrides');

test('the order of neither counts', () => {
  fc.assert(
    fc.property(
      sets.chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
      ),
      overrides,
      ([list, shuffled], rows) => {
        const other = new Map([...rows].reverse());
        assert.equal(told(shuffled.map(printingOf), other), told(list.map(printingOf), rows));
      },
    ),
    { numRuns: 600 },
  );
});

test('each printing has one STIG, and each rule is served there as its version', () => {
  fc.assert(
    fc.property(sets, overrides, (list, rows) => {
      const printings = list.map(printingOf);
      const { stigs, fates } = decideIdentity(printings, rows);
      assert.is(fates.size, printings.length);
      const served = new Set<string>();
      for (const printing of printings) {
        const { stig, keptBy } = fates.get(printing.sha256)!;
        assert.ok(stigs.includes(stig) && stig.printings.includes(printing));
        if (keptBy === null) {
          const name = `${stig.slug} ${printing.version}`;
          assert.not.ok(served.has(name), `${name} twice`);
          served.add(name);
          assert.ok(stig.current.releaseOrder >= printing.releaseOrder, 'the newest is the current one');
        } else {
          const kept = fates.get(keptBy.sha256)!;
          assert.ok(kept.stig === stig && kept.keptBy === null && keptBy.version === printing.version);
          assert.ok(isWithin(printing.evidence().rules, keptBy.evidence().rules));
        }
        assert.is(kindOf(printing.title), stig.kind);
      }
    }),
    { numRuns: 600 },
  );
});

test('slugs are unique and can be asked for; every title and id that a STIG had leads to one that had it', () => {
  fc.assert(
    fc.property(sets, overrides, (list, rows) => {
      const printings = list.map(printingOf);
      const { stigs, aliases } = decideIdentity(printings, rows);
      const bySlug = new Map(stigs.map((stig) => [stig.slug, stig]));
      assert.is(bySlug.size, stigs.length);
      for (const { slug, given, current } of stigs) {
        assert.ok(isSlug(slug) && !reservedSlugs.has(slug), slug);
        if (given !== null) assert.is(slug, given);
        else if (slug !== slugOf(current.title)) {
          const taken = bySlug.get(slugOf(current.title));
          assert.ok(taken || reservedSlugs.has(slugOf(current.title)) || slugOf(current.title) === '', slug);
        }
      }
      for (const { title, benchmarkId } of printings)
        for (const name of [slugOf(title), benchmarkId.toLowerCase()]) {
          if (name === '' || reservedSlugs.has(name)) continue;
          assert.not.ok(bySlug.has(name) && aliases.has(name), `${name} is both`);
          const stig = bySlug.get(name) ?? aliases.get(name);
          assert.ok(stig, `${name} leads nowhere`);
          const had = stig.printings.some(
            (each) => slugOf(each.title) === name || each.benchmarkId.toLowerCase() === name,
          );
          // Or it is a slug made of an id, or the operator's.
          assert.ok(had || bySlug.has(name), `${name} leads to ${stig.slug}`);
        }
    }),
    { numRuns: 600 },
  );
});

test('an override that takes nobody else’s place is obeyed, whatever else is there', () => {
  fc.assert(
    fc.property(sets, (list) => {
      const printings = list.map(printingOf);
      const { stigs, refused } = decideIdentity(printings, new Map([['Alpha_STIG', 'given_name']]));
      const named = stigs.filter(({ slug }) => slug === 'given_name');
      const ids = new Set(printings.map(({ benchmarkId }) => benchmarkId));
      assert.is(named.length, ids.has('Alpha_STIG') || ids.has('U_Alpha') ? 1 : 0);
      assert.ok(named.every(({ units }) => units.every(({ idKey }) => /^(?:srg:)?alpha$/.test(idKey))));
      assert.ok([...refused.keys()].every((slug) => slug === 'given_name'));
    }),
    { numRuns: 300 },
  );
});

test.run();
