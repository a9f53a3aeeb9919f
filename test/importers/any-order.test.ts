import * as assert from 'uvu/assert';
import { assertAnyOrder, feed, readReal, unserved } from '../support/any-order.ts';
import { dumpCatalog } from '../support/catalog-dump.ts';
import { suiteIf } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { referenceData } from '../support/reference.ts';

const test = suiteIf(referenceData, 'the real benchmarks, in any order and any runs');
if (test) {
  const all = await readReal();

  test('random sets, orders and splits; 200 of them are tried with --faults', () => assertAnyOrder(all, 12));

  test('all of them: at once, oldest first, newest first, quarter by quarter', () => {
    const date = ({ release }: (typeof all)[number]) => release.benchmarkDate ?? release.statusDate ?? '';
    const oldestFirst = [...all].sort((a, b) => (date(a) < date(b) ? -1 : 1));
    const quarters = new Map<string, typeof all>();
    for (const each of oldestFirst) {
      const quarter = `${date(each).slice(0, 4)} ${Math.floor((Number(date(each).slice(5, 7)) - 1) / 3)}`;
      quarters.set(quarter, [...(quarters.get(quarter) ?? []), each]);
    }
    const [once, ...others] = [
      [all],
      oldestFirst.map((each) => [each]),
      [...oldestFirst].reverse().map((each) => [each]),
      [...quarters.values()],
    ].map((runs) => {
      const db = emptyCatalog();
      feed(db, runs);
      assert.equal(unserved(db), []);
      const dump = dumpCatalog(db);
      db.close();
      return dump;
    });
    for (const other of others) assert.equal(other, once);
    const versions = (slug: string) =>
      once!.releases.flatMap((release) =>
        release.slug === slug ? `${release.benchmark_id} ${release.version} ${release.finding_count}` : [],
      );
    assert.equal(versions('microsoft_windows_server_2025'), ['MS_Windows_Server_2025_STIG V1R1 284']);
    assert.equal(versions('ms_windows_server_2025_ms'), ['MS_Windows_Server_2025_MS_STIG V1R1 239']);
    assert.equal(versions('red_hat_enterprise_linux_8'), ['RHEL_8 V1R11 375', 'RHEL_8_STIG V1R12 375']);
    assert.equal(versions('microsoft_windows_11'), [
      'Windows_11_STIG V1R1 248',
      'Microsoft_Windows_11_STIG V2R2 258',
    ]);
    assert.is(versions('mozilla_firefox').length, 5);
  });

  test.run();
}
