import { setImmediate as turn } from 'node:timers/promises';
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import * as assert from 'uvu/assert';
import type { Env } from '../../src/http/env.ts';
import { jsonBody } from '../../src/http/schema.ts';
import { suite } from '../support/harness.ts';
import { work } from '../support/worst/turns.ts';
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

const itemsBody = z.object({ items: z.array(z.string()) });
const textBody = z.object({ text: z.string() });

/** Routes of which all but the last are wrong, as the next one may be. */
const planted: Record<string, [z.ZodType, (body: never) => unknown]> = {
  slow: [z.object({}), () => work(60)],
  // Each item is looked for among all before it.
  items: [
    itemsBody,
    ({ items }: z.infer<typeof itemsBody>) => {
      const some = items.slice(0, 20_000);
      return some.filter((item, index) => some.indexOf(item) !== index);
    },
  ],
  // From each character the rest is looked at.
  text: [textBody, ({ text }: z.infer<typeof textBody>) => text.slice(0, 30_000).replace(/a*b/g, '')],
  sliced: [
    z.object({}),
    async () => {
      for (let slice = 0; slice < 10; slice++) {
        work(6);
        await turn();
      }
    },
  ],
};

function plant(app: OpenAPIHono<Env>): void {
  const responses = {
    200: { description: 'Planted.', content: { 'application/json': { schema: z.any() } } },
  };
  for (const [name, [schema, handle]] of Object.entries(planted)) {
    const request = { body: jsonBody(schema) };
    const path = `/api/v1/planted/${name}`;
    const route = createRoute({ method: 'post', path, tags: ['Service'], security: [], request, responses });
    app.openapi(route, async (c) => {
      await handle(c.req.valid('json') as never);
      return c.json({});
    });
  }
}

shapes('routes that hold the loop are found, and one that works in slices is not', async () => {
  const { problems } = await walk(
    ({ operation, body }) => operation.includes('/planted/') && body !== null,
    plant,
  );
  const found = problems.map((problem) => /^POST .api.v1.planted.(\w+), (\w+)/.exec(problem)!.slice(1));
  assert.equal([...new Set(found.map(([route]) => route))], ['slow', 'items', 'text']);
  const shapesOf = (route: string) => [
    ...new Set(found.filter(([each]) => each === route).map(([, shape]) => shape)),
  ];
  assert.equal([shapesOf('items'), shapesOf('text')], [['many'], ['long']]);
});

shapes.run();
