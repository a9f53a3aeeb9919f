/**
 * Words that tell the STIGs of one product apart: a title never went from one to the other. The rules of a Windows
 * server's two roles were the same down to their ids until 2020, and those of Solaris differ by its machine alone.
 */
const opposites = [
  ['member_server', 'domain_controller'],
  ['sparc', 'x86'],
] as const;

/** Whether two slugs of titles name siblings, of which neither is a later name of the other. */
export function areSiblings(slugA: string, slugB: string): boolean {
  const names = (slug: string, words: string) => `_${slug}_`.includes(`_${words}_`);
  return opposites.some(
    ([one, other]) =>
      (names(slugA, one) && names(slugB, other)) || (names(slugA, other) && names(slugB, one)),
  );
}
