import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { createAnswers } from '../../src/http/cache/answers.ts';
import { testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

// Whom a write concerns: nobody gets a kept answer that the database would no longer give.
const audience = suite('The audience of writes');

const people = [
  { sub: 'ann', org: 'red' },
  { sub: 'bob', org: 'red' },
  { sub: 'cay', org: 'blue' },
  { sub: 'dan', org: undefined },
  // The same person with a token of another organization.
  { sub: 'ann', org: 'blue' },
];
const slugs = ['harbor_linux_3', 'lantern_web_server_2'];
const kinds = ['lists', 'control-collections'] as const;

audience('what is kept is what the database says, whoever wrote what before', async () => {
  const kept = await testApp([shipped('stigs'), shipped('controls')]);
  const fresh = await testApp([], { db: kept.db, answers: createAnswers(kept.db, 8) });
  const tokens = await Promise.all(people.map((claims) => kept.token(claims)));
  const ids: Record<string, string[]> = { lists: [], 'control-collections': [] };
  const asPerson = (person: number) => ({ token: tokens[person]! });

  async function read(person: number): Promise<void> {
    const paths = [
      ...['/api/v1/lists', '/api/v1/lists?include=stigs', '/api/v1/control-collections', '/api/v1/my-stigs'],
      '/api/v1/my-controls',
      ...ids.lists!.flatMap((id) => [`/api/v1/lists/${id}`, `/api/v1/lists/${id}/stigs`]),
      ...ids['control-collections']!.map((id) => `/api/v1/control-collections/${id}`),
    ];
    for (const path of paths) {
      const [ours, wanted] = [
        await kept.get(path, asPerson(person)),
        await fresh.get(path, asPerson(person)),
      ];
      const known = ({ status, text }: typeof ours) => [status, text.replace(/"requestId":"[^"]*"/, '')];
      assert.equal(known(ours), known(wanted), `${people[person]!.sub} ${path}`);
    }
  }

  async function write(person: number, what: number, which: number): Promise<void> {
    const kind = kinds[which % 2]!;
    const id = ids[kind]![which % Math.max(1, ids[kind]!.length)] ?? '00000000-0000-4000-8000-000000000000';
    const visibility = which % 3 === 0 ? 'PRIVATE' : 'SHARED';
    const control = { framework: 'nist-800-53', controlId: 'AC-2' };
    const entries =
      kind === 'lists'
        ? ([`/api/v1/lists/${id}/stigs`, { slugs: [slugs[which % 2]] }] as const)
        : ([`/api/v1/control-collections/${id}/controls`, { controls: [control] }] as const);
    const deeds: (() => Promise<unknown>)[] = [
      async () => {
        const { json } = await kept.send(
          'POST',
          `/api/v1/${kind}`,
          { name: 'N', visibility },
          asPerson(person),
        );
        ids[kind]!.push(json.id);
      },
      () => kept.send('PATCH', `/api/v1/${kind}/${id}`, { visibility }, asPerson(person)),
      () => kept.send('DELETE', `/api/v1/${kind}/${id}`, undefined, asPerson(person)),
      () => kept.send('POST', `/api/v1/${kind}/${id}/restore`, undefined, asPerson(person)),
      () => kept.send('POST', `/api/v1/${kind}/${id}/duplicate`, undefined, asPerson(person)),
      () => kept.send('POST', entries[0], entries[1], asPerson(person)),
      () => kept.send('DELETE', entries[0], entries[1], asPerson(person)),
      () => kept.send('POST', '/api/v1/my-stigs', { slugs: [slugs[which % 2]] }, asPerson(person)),
      () => kept.send('DELETE', '/api/v1/my-stigs', { slugs: [slugs[which % 2]] }, asPerson(person)),
      () => kept.send('POST', '/api/v1/my-controls', control, asPerson(person)),
    ];
    await deeds[what]!();
  }

  const step = fc.tuple(fc.nat(people.length - 1), fc.nat(9), fc.nat(5));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      for (const list of Object.values(ids)) list.splice(0, Math.max(0, list.length - 3));
      for (const [person, what, which] of steps) {
        await write(person, what, which);
        for (const reader of people.keys()) await read(reader);
      }
    }),
    // The favorites of one person, kept and then changed, come first.
    {
      numRuns: 8,
      examples: [
        [
          [
            [0, 7, 0],
            [0, 8, 0],
            [1, 9, 0],
            [1, 7, 1],
          ],
        ],
      ],
    },
  );
  kept.db.close();
});

audience.run();
