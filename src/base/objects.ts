/** Some members of an object. */
export function pick<T extends object, K extends keyof T>(from: T, ...names: K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>;
}

/** The members that say something: without empty arrays and what is undefined. */
export const withoutEmpty = (from: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(from).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  );
