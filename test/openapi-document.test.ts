import * as assert from 'uvu/assert';
import { routesOf, testApp } from './support/app.ts';
import { suite } from './support/harness.ts';
import { isPage } from './support/pages.ts';
import { shipped } from './support/reference.ts';

const document = suite('What /openapi.json says of the routes');

document(
  '/openapi.json lists every route of the application, and every route declares its security',
  async () => {
    const t = await testApp();
    const published = (await t.get('/openapi.json', { token: null })).json;
    assert.is(published.openapi, '3.1.0');
    const listed = new Set<string>();
    for (const [path, methods] of Object.entries<
      Record<string, { security?: unknown[]; summary?: string; responses: object }>
    >(published.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        listed.add(`${method.toUpperCase()} ${path}`);
        assert.ok(Array.isArray(operation.security), `${method} ${path} does not declare its security`);
        assert.ok(operation.summary, `${method} ${path} has no summary`);
        const statuses = Object.keys(operation.responses);
        if (operation.security!.length > 0)
          assert.ok(statuses.includes('401'), `${method} ${path} declares no 401`);
        // The role mapping of a STIG that is not there is an empty one (rule D9.4).
        const mayBeMissing = path.includes('{') && !path.startsWith('/api/v1/role-mapping/');
        if (mayBeMissing)
          assert.ok(statuses.includes('404') && statuses.includes('400'), `${method} ${path}`);
      }
    }
    const mounted = t.app.routes
      // The Model Context Protocol describes itself (rule D41.1).
      .filter((route) => route.method !== 'ALL' && !isPage(route.path) && route.path !== '/mcp')
      .map((route) => `${route.method} ${route.path.replace(/:([A-Za-z]+)/g, '{$1}')}`);
    assert.equal([...new Set(mounted)].sort(), [...listed].sort());
    assert.equal(
      routesOf(t.app)
        .map((route) => `${route.method.toUpperCase()} ${route.path}`)
        .sort(),
      [...listed].sort(),
    );
    t.db.close();
  },
);

document('/openapi.json: every reference resolves, and the examples come from the sample data', async () => {
  const t = await testApp([shipped('stigs')]);
  const { json: published } = await t.get('/openapi.json', { token: null });
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { $ref } = value as { $ref?: string };
    if (typeof $ref === 'string') {
      const target = $ref
        .slice(2)
        .split('/')
        .reduce((node, key) => node?.[key], published);
      assert.ok($ref.startsWith('#/') && target, `${$ref} leads nowhere`);
    }
    for (const each of Object.values(value)) walk(each);
  };
  walk(published);
  const slugs = ['harbor_linux_3', 'harbor_linux_3?version=V1R1', 'lantern_web_server_2'];
  const records = await Promise.all(slugs.map((slug) => t.get(`/api/v1/stigs/${slug}`)));
  const said = JSON.stringify(records.map((record) => record.json));
  let examples = 0;
  for (const name of ['StigSummary', 'Finding']) {
    const { properties } = published.components.schemas[name] as {
      properties: Record<string, { example?: unknown }>;
    };
    for (const [field, { example }] of Object.entries(properties)) {
      if (example === undefined) continue;
      examples++;
      assert.ok(said.includes(JSON.stringify(example)), `the example of ${name}.${field} is not in data/`);
    }
  }
  assert.ok(examples >= 8, `${examples} examples`);
  t.db.close();
});

document('/openapi.json: the STIG catalog needs a user token, health does not', async () => {
  const t = await testApp();
  const { json: published } = await t.get('/openapi.json', { token: null });
  assert.equal(published.components.securitySchemes.userToken.scheme, 'bearer');
  for (const [path, methods] of Object.entries<Record<string, { security: unknown[] }>>(published.paths)) {
    for (const { security } of Object.values(methods)) {
      if (path.startsWith('/api/v1/stigs'))
        assert.equal(security, [{ userToken: [] }, { session: [] }], path);
      if (!path.startsWith('/api/') && path !== '/plants') assert.equal(security, [], path);
    }
  }
  t.db.close();
});

document.run();
