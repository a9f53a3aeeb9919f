import type { Answers } from './answers.ts';

/**
 * Gives a function that answers with the cached text of a key, else with what `make` gives, and caches that: for texts
 * that depend on the catalog alone. The caller has checked the rights. The keys must not begin as addresses do, with `/`.
 */
export function keepTexts(answers: Answers | null) {
  return async (key: string, make: () => Promise<string>): Promise<string> => {
    const kept = answers?.find(key, null);
    if (kept !== undefined) return kept.made.bytes.toString();
    const stamp = answers?.stamp(null);
    const text = await make();
    const checks = { route: '', access: 'nobody', expensive: false };
    if (stamp !== undefined)
      answers!.keep(key, null, stamp, { bytes: Buffer.from(text), headers: {}, tag: '' }, checks);
    return text;
  };
}
