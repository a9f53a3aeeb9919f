import * as assert from 'uvu/assert';
import { createServices } from '../../src/services.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { stigsAndControls } from '../support/controls.ts';
import { suiteIf } from '../support/harness.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { referenceData } from '../support/reference.ts';
import { readBenchmark, versionString } from '../support/xccdf-reader.ts';

// What the ids of a question name (rule D35.2), on the real files: every id of every release is read from its XML.

const onReal = suiteIf(referenceData, 'Answers for ids');

interface Answer {
  asked: string;
  kind: string;
  id: string;
  title?: string;
  state: string;
  href?: string;
  slug?: string;
  version?: string;
}

const ask = async (t: TestApp, q: string): Promise<Answer[]> => {
  const answer = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}&limit=1`);
  assert.is(answer.status, 200, answer.text.slice(0, 200));
  return answer.json.answers;
};

onReal?.('every id of every release answers: V-, SV-, STIG and legacy ids, removed ones too', async () => {
  const real = await testApp(stigsAndControls);
  const served = new Map(
    real.db.sqlite
      .prepare<[], { name: string; slug: string; version: string; order: number; isCurrent: 0 | 1 }>(
        `SELECT r.benchmark_id || ' ' || r.version AS name, s.slug, r.version, r.release_order AS "order",
                r.id = s.current_release_id AS isCurrent
           FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id`,
      )
      .all()
      .map((row) => [row.name, row]),
  );
  type Known = { slug: string; version: string; order: number; isCurrent: 0 | 1; id: string; title: string };
  const known = new Map<string, Known[]>();
  const removed = new Set<string>();
  for (const { text } of await benchmarkFiles()) {
    const benchmark = readBenchmark(text);
    const release = served.get(`${benchmark.id} ${versionString(benchmark)}`);
    if (release === undefined) continue;
    for (const rule of benchmark.rules) {
      const number = /^SV-\d+/.exec(rule.ruleId)?.[0];
      const ids = [rule.groupId, rule.ruleId, number, rule.version.split(' - ')[0], ...rule.legacyIds];
      for (const id of new Set(ids))
        if (id)
          known.set(id, [...(known.get(id) ?? []), { ...release, id: rule.groupId, title: rule.title }]);
    }
  }
  assert.ok(known.size > 15_000, String(known.size));

  /** What is wrong with an answer; null for nothing. */
  function wrongWith(asked: string, answer: Answer | undefined): string | null {
    if (answer?.asked !== asked && answer?.asked !== asked.replace(/_rule$/, '')) return 'another id';
    // A rule that has another revision now is there.
    const all = [...known.get(asked)!, ...(known.get(/^SV-\d+(?=r)/.exec(asked)?.[0] ?? '') ?? [])];
    const current = all.filter(({ isCurrent }) => isCurrent);
    const state = current.length > 0 ? 'current' : 'removed';
    if (state === 'removed') removed.add(asked);
    // The rules of an SRG bear the ids of its requirements.
    if (asked.startsWith('SRG-'))
      return answer.kind === 'srg' && answer.state === state && answer.href === `/search?q=${asked}`
        ? null
        : `not ${state}`;
    const { slug, version, id } = answer;
    if (answer.kind !== 'rule' || answer.state !== state) return `not ${state}`;
    const right = (current.length > 0 ? current : all).filter((each) => each.slug === slug && each.id === id);
    if (!right.some((each) => each.version === version)) return 'another rule';
    if (right.some(({ order }) => order > right.find((each) => each.version === version)!.order))
      return 'not the last release';
    if (!right.some((each) => each.version === version && each.title === answer.title))
      return 'another title';
    const release = state === 'removed' ? `?version=${version}` : '';
    return answer.href === `/stigs/${slug}/rules/${id}${release}` ? null : 'another address';
  }

  // The search itself, of which most do not ask, takes thirty times as long.
  const now = () => real.clock.now;
  const context = { catalog: real.db, users: real.db, now, newId: () => '', banner: null };
  const { answers } = createServices(context);
  const wrong: string[] = [];
  const ids = [...known.keys()];
  for (let from = 0; from < ids.length && wrong.length < 20; ) {
    let q = '';
    const part: string[] = [];
    while (from < ids.length && part.length < 50 && q.length + ids[from]!.length < 498) {
      part.push(ids[from]!);
      q += `${part.length === 1 ? '' : [' ', ', ', '; ', '\n'][from % 4]}${ids[from++]}`;
    }
    const found = from % 10 === 0 ? await ask(real, q) : ((await answers(q)) as Answer[]);
    assert.is(found.length, part.length, q);
    for (const [index, id] of part.entries()) {
      const what = wrongWith(id, found[index]);
      if (what !== null) wrong.push(`${id}: ${what}: ${JSON.stringify(found[index])}`);
    }
  }
  assert.equal(wrong, []);
  real.db.close();
  assert.ok(removed.size > 100, String(removed.size));
});

onReal?.run();
