import * as assert from 'uvu/assert';
import { createAnswerCache } from '../../src/http/cache.ts';
import { rememberTokens } from '../../src/http/verified-tokens.ts';
import { type TestApp, testApp, verifier } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { rowsOf } from '../support/tables.ts';

// Whom a write concerns: nobody gets a kept answer that the database would no longer give.
const audience = suite('The audience of writes');

const people: Record<string, { sub: string; org: string | undefined }> = {
  ann: { sub: 'ann', org: 'red' },
  bob: { sub: 'bob', org: 'red' },
  cay: { sub: 'cay', org: 'blue' },
  dan: { sub: 'dan', org: undefined },
  // The same person with a token of another organization.
  'ann of blue': { sub: 'ann', org: 'blue' },
};

/** Who does what. The lists and collections are named by the names that they have, and are created by `new NAME`. */
const deeds = rowsOf(`
  ann | new lists shared | {"visibility": "SHARED"}
  bob | new lists private | {"visibility": "PRIVATE"}
  dan | new lists lonely | {"visibility": "SHARED"}
  ann | POST lists shared /stigs | {"slugs": ["harbor_linux_3", "lantern_web_server_2"]}
  ann | DELETE lists shared /stigs | {"slugs": ["harbor_linux_3"]}
  ann | PATCH lists shared | {"visibility": "PRIVATE"}
  ann of blue | PATCH lists shared | {"visibility": "SHARED"}
  bob | PATCH lists private | {"visibility": "SHARED"}
  bob | POST lists shared /duplicate | {}
  ann | DELETE lists shared | {}
  ann | POST lists shared /restore | {}
  cay | new control-collections own | {"visibility": "SHARED"}
  ann | new control-collections red | {"visibility": "SHARED"}
  ann | POST control-collections red /controls | {"controls": [{"framework": "nist-800-53", "controlId": "AC-2"}]}
  ann | PATCH control-collections red | {"visibility": "PRIVATE"}
  ann | DELETE control-collections red | {}
  ann | POST my-stigs | {"slugs": ["harbor_linux_3"]}
  ann | POST my-stigs | {"slugs": ["lantern_web_server_2"]}
  ann of blue | DELETE my-stigs | {"slugs": ["harbor_linux_3"]}
  bob | POST my-controls | {"framework": "nist-800-53", "controlId": "AC-2"}
  bob | POST my-controls | {"framework": "nist-800-53", "controlId": "AC-3"}
  bob | DELETE my-controls | {"framework": "nist-800-53", "controlId": "AC-2"}
`);

audience('what is kept is what the database says, whoever wrote what before', async () => {
  const now = () => new Date('2026-11-21T12:00:00Z');
  const { verify } = rememberTokens(verifier(now), () => 0, now);
  const kept = await testApp([shipped('stigs'), shipped('controls')], { verify });
  const fresh = await testApp([], { db: kept.db, verify, cache: createAnswerCache(kept.db, 8) });
  const tokens: Record<string, string> = {};
  for (const [name, claims] of Object.entries(people)) tokens[name] = await kept.token(claims);
  const ids: Record<string, string> = {};
  const paths = ['/api/v1/lists', '/api/v1/control-collections', '/api/v1/my-stigs', '/api/v1/my-controls'];
  const last = new Map<string, string>();

  /** Asks for everything of a kind as everybody; gives how many answers are others than before. */
  async function readAll(kind = ''): Promise<number> {
    let changed = 0;
    const read = async ({ app }: TestApp, path: string, token: string) => {
      const answer = await app.fetch(
        new Request(`http://local${path}`, { headers: { Authorization: `Bearer ${token}` } }),
      );
      return `${answer.status} ${(await answer.text()).replace(/"requestId":"[^"]*"/, '')}`;
    };
    for (const [name, token] of Object.entries(tokens))
      for (const path of paths.filter((each) => each.startsWith(`/api/v1/${kind}`))) {
        const [ours, wanted] = [await read(kept, path, token), await read(fresh, path, token)];
        assert.is(ours, wanted, `${name} ${path}`);
        if (last.get(`${name} ${path}`) !== ours) changed++;
        last.set(`${name} ${path}`, ours);
      }
    return changed;
  }

  await readAll();
  for (const [name, deed, body] of deeds) {
    const [method, kind, of = '', more = ''] = deed!.split(' ') as [string, string, string?, string?];
    const isNew = method === 'new';
    const path = `/api/v1/${kind}${isNew || of === '' ? '' : `/${ids[of]}`}${more}`;
    const fields = { ...JSON.parse(body!), ...(isNew ? { name: of } : {}) };
    const { status, json } = await kept.send(isNew ? 'POST' : method, path, fields, {
      token: tokens[name!]!,
    });
    assert.ok(status < 300, `${name} ${deed}: ${status} ${JSON.stringify(json)}`);
    if (isNew) {
      ids[of] = json.id;
      paths.push(
        `/api/v1/${kind}/${json.id}`,
        ...(kind === 'lists' ? [`/api/v1/lists/${json.id}/stigs`] : []),
      );
    }
    assert.ok((await readAll(kind)) > 0, `${name} ${deed} changes an answer`);
  }
  kept.db.close();
});

audience.run();
