import { setImmediate as turn } from 'node:timers/promises';
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import * as assert from 'uvu/assert';
import type { Env } from '../../src/http/env.ts';
import { suite } from '../support/harness.ts';
import { walk } from '../support/worst/walk.ts';

// No request that the service takes may hold its loop, whatever its shape (rule D2.6): the largest body of each operation
// and of each form, wide, deep, long and of many, and the longest path and query. A new route is asked without a line here.
const shapes = suite('The worst shapes of every request');

shapes('none costs much in one turn of the loop, or for long in the thread of uploads', async () => {
  const { requests, operations, statuses, problems } = await walk();
  process.stdout.write(
    `${requests} requests to ${operations.size} operations: ${JSON.stringify(statuses)}\n`,
  );
  assert.ok(operations.size > 150, `${operations.size} operations`);
  assert.equal(problems, []);
});

/** Works for so many milliseconds of processor time, as nothing should in one turn. */
function work(milliseconds: number): void {
  const { user } = process.threadCpuUsage();
  while (process.threadCpuUsage().user - user < milliseconds * 1000);
}

/** Routes that are wrong, as the next one may be. */
function plant(app: OpenAPIHono<Env>): void {
  const body = (schema: z.ZodType) => ({ required: true, content: { 'application/json': { schema } } });
  const route = (path: string, schema: z.ZodType, handle: (value: never) => unknown) => {
    const request = { body: body(schema) };
    const responses = {
      200: { description: 'Planted.', content: { 'application/json': { schema: z.any() } } },
    };
    app.openapi(createRoute({ method: 'post', path, request, responses }), async (c) => {
      handle((await c.req.json()) as never);
      return c.json({});
    });
  };
  route('/api/v1/planted/slow', z.object({ name: z.string() }), () => work(1000));
  // Each item is looked for among all others.
  route('/api/v1/planted/items', z.object({ items: z.array(z.string()) }), ({ items }: { items: string[] }) =>
    items.filter((item, index) => items.indexOf(item) !== index),
  );
  // Each character is looked at as often as there are some.
  route('/api/v1/planted/text', z.object({ text: z.string().optional() }), ({ text }: { text: string }) =>
    /(a+)+$/.test(`${String(text).slice(0, 28)}b`),
  );
  app.get('/api/v1/planted/sliced', async (c) => {
    for (let slice = 0; slice < 50; slice++) {
      work(20);
      await turn();
    }
    return c.json({});
  });
}

shapes('routes that hold the loop are found, and one that works in slices is not', async () => {
  const { problems } = await walk(({ operation }) => operation.includes('/planted/'), plant);
  const found = problems.map((problem) => /^POST .planted.(\w+), ([\w ]+?) /.exec(problem.replace('/api/v1', ''))!.slice(1, 3));
  const byRoute = Map.groupBy(found, ([route]) => route);
  assert.equal([...byRoute.keys()], ['slow', 'items', 'text']);
  assert.ok(byRoute.get('items')!.every(([, shape]) => shape!.startsWith('many')));
  assert.ok(byRoute.get('text')!.every(([, shape]) => shape!.startsWith('long')));
});

shapes.run();
