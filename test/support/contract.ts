type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a schema has fields, at some depth. */
function hasFields(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasFields);
  return isObject(value) && (isObject(value.properties) || Object.values(value).some(hasFields));
}

/**
 * `/openapi.json` as text: a line for each field of a schema (`name?` is optional), parameter, response and operation. Nothing
 * of the document is left out.
 */
export function contractOf(document: Json): string {
  const lines: string[] = [];
  const line = (label: string, value: unknown) => lines.push(`${label} ${JSON.stringify(value)}`);

  function schema(label: string, value: unknown): void {
    if (!isObject(value) || !hasFields(value)) return void line(label, value);
    const { properties, required = [], ...rest } = value;
    const inner = Object.entries(rest).filter(([, each]) => hasFields(each));
    line(label, Object.fromEntries(Object.entries(rest).filter(([, each]) => !hasFields(each))));
    for (const [name, each] of Object.entries((properties ?? {}) as Json))
      schema(`${label}.${name}${(required as string[]).includes(name) ? '' : '?'}`, each);
    for (const [name, each] of inner)
      if (Array.isArray(each))
        for (const [index, one] of each.entries()) schema(`${label} ${name}[${index}]`, one);
      else schema(name === 'items' ? `${label}[]` : `${label} ${name}`, each);
  }

  /** A request or a response: its bodies apart where they have fields. */
  function message(label: string, value: Json): void {
    if (!hasFields(value)) return void line(label, value);
    const { content, ...rest } = value;
    line(label, rest);
    for (const [type, { schema: body, ...others }] of Object.entries(content as Record<string, Json>))
      schema(`${label} ${type} ${JSON.stringify(others)}`, body);
  }

  const { components, paths, ...others } = document as {
    components: Record<string, Json>;
    paths: Record<string, Json>;
  };
  for (const [name, value] of Object.entries(others)) line(name, value);
  const { schemas, responses, ...kinds } = components;
  for (const [kind, named] of Object.entries(kinds))
    for (const [name, value] of Object.entries(named)) line(`${kind} ${name}`, value);
  for (const [status, value] of Object.entries(responses ?? {}))
    message(`responses ${status}`, value as Json);
  for (const [name, value] of Object.entries(schemas ?? {})) schema(name, value);
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods as Record<string, Json>)) {
      const { parameters = [], requestBody, responses: answers, ...rest } = operation;
      const label = `${method.toUpperCase()} ${path}`;
      line(label, rest);
      for (const { name, in: place, ...parameter } of parameters as Json[])
        line(`${label} ${place} ${name}`, parameter);
      if (requestBody) message(`${label} body`, requestBody as Json);
      const isShared = (answer: Json) => '$ref' in answer;
      const all = Object.entries(answers as Record<string, Json>);
      for (const [status, answer] of all.filter(([, answer]) => !isShared(answer)))
        message(`${label} ${status}`, answer);
      const shared = all.filter(([, answer]) => isShared(answer));
      line(
        `${label} others`,
        shared.map(([status, { $ref }]) => `${status} ${String($ref).split('/').at(-1)}`).join(', '),
      );
    }
  return `${lines.join('\n')}\n`;
}
