/** Gives a function that makes a value when it is first asked for, and then gives the same; not undefined or null. */
export function onDemand<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
