import { z } from '@hono/zod-openapi';

const fields = <Name extends string, Type extends z.ZodType>(names: Name[], type: Type) =>
  Object.fromEntries(names.map((name) => [name, type])) as Record<Name, Type>;

/** Some fields of an answer that are texts. */
export const texts = <Name extends string>(...names: Name[]) => fields(names, z.string());

/** Some fields of an answer that are whole numbers. */
export const counts = <Name extends string>(...names: Name[]) => fields(names, z.int());
