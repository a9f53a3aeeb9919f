/** A CCI, also as tools write it, `CCI 366` or `cci-0366`; beside one, also a number of six digits: `CCI-000366, 000213`. */
const cci = /(?<![a-z])CCIs?[^a-z0-9]{0,8}(\d{1,6})(?!\d)|(?<![\w-])(0\d{5})(?![\w-])/gi;

/** Each CCI of a text in its published form, whatever stands between them (rule D30.2); none for other text. */
export function ccisIn(text: string): string[] {
  if (!/CCI/i.test(text)) return [];
  return [...text.matchAll(cci)]
    .map(([, named, bare]) => (named ?? bare!).padStart(6, '0'))
    .filter((number) => Number(number) > 0)
    .map((number) => `CCI-${number}`);
}

/** What stands between the CCIs of a text, but for separators. */
export function besideCcis(text: string): string {
  return text
    .replace(cci, (each, named, bare) => (Number(named ?? bare) > 0 ? ' ' : each))
    .replace(/[\s\p{P}\p{S}\p{Cf}]+|\b(?:and|or)\b/giu, '');
}
