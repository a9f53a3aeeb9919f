import { withoutRuleEnding } from '../../base/rule-ids.ts';
import { strip } from '../../base/text.ts';
import { canonicalIdentifier } from './identifier.ts';

/** What an id names. A STIG id is only a candidate: the catalog says whether its beginning is that of a release's. */
export type IdKind = 'group' | 'rule' | 'stigId' | 'cci' | 'srg' | 'control';

/** An id as a text has it, and in its published form. */
export interface FoundId {
  text: string;
  kind: IdKind;
  /** Where it begins, in UTF-16 units. */
  index: number;
  /** In one case: `V-257777`, `SV-257777R991589`, `RHEL-09-211010`, `CCI-000015`, `AC-2(1)`. */
  id: string;
  /** The framework of a control, else null. */
  framework: 'nist-800-53' | 'nist-800-171' | 'dod-8500' | null;
  /** The part of a control, as `d 3`; `""` for the whole. */
  part: string;
}

/** The longest id (rule D39.1). */
const longestId = 64;

/** A word: what joins letters and digits, so that a host name or a part number is one word. */
const word = /[\p{L}\p{N}_.@-]+/gu;
/** The ends of a word that belong to the sentence. */
const leading = /^[.@-]+/;
const xccdfName = /^xccdf_[a-z0-9.-]{1,40}_(?:rule|group)_/i;
/** The ending of a file that is called by its id, or the letter of a rule that PowerSTIG splits. */
const ending = /\.(?:[a-z]|rb|ya?ml|ps1|psd1|xml|sh|json|md|txt|py|pp|tf|j2|html?|ckl|cklb)$/i;

const forms: [kind: IdKind, form: RegExp][] = [
  ['group', /^V-\d{3,15}$/i],
  ['rule', /^SV-\d{3,15}(?:r\d{1,9}(?:\.\d{1,3})?)?(?:_rule)?$/i],
  ['cci', /^CCI-?\d{1,12}$/i],
  ['srg', /^SRG-[a-z]{2,8}-\d{3,9}(?:-[a-z0-9]{2,10}-\d{3,9})?$/i],
];
const stigId = /^(?=[^\d]*\d)[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:_rule)?$/i;
/** A STIG id with a blank (`VVoIP 1105`), of which the word before the number decides nothing. */
const blankStigId = /[a-z]{3,8} \d{3,6}(?![\p{L}\p{N}_@-]|\.[\p{L}\p{N}])/iuy;
/** A control of 800-53 with enhancement and part: each repetition is bounded. */
const control53 =
  /([a-z]{2}-\d{1,3}(?:\.\d{1,3}(?!\d))?)((?: ?\((?:\d{1,3}|[a-z])\)){0,5})(\.?[a-z](?:\.\d{1,2}){0,2}(?:\.[a-z])?| [a-z] \d{1,2}(?: \([a-z]\))?| [a-z](?= *(?:$|[,;:)\]\r\n"'])))?(?:\[\d{1,2}\])?(?![\p{L}\p{N}_@-]|\.[\p{L}\p{N}])/iuy;
const digit = /\d/;
const blankAndDigit = /^ \d/;
const startOf53 = /^[a-z]{2}-\d{1,3}(?!\d)/i;

/** Gives every id in a text, in order, in time that grows with the text alone (rule D39.1). */
export function idsIn(text: string): FoundId[] {
  const ids: FoundId[] = [];
  const words = new RegExp(word);
  for (let match = words.exec(text); match !== null; match = words.exec(text)) {
    // Most words have no digit, and none follows: they are no ids.
    if (!digit.test(match[0]) && !blankAndDigit.test(text.slice(words.lastIndex, words.lastIndex + 2)))
      continue;
    const lead = leading.exec(match[0])?.[0].length ?? 0;
    const found = idAt(text, match.index + lead, match[0].slice(lead), lead > 0);
    if (found === null) continue;
    ids.push(found);
    words.lastIndex = Math.max(words.lastIndex, found.index + found.text.length);
  }
  return ids;
}

/** The ids of a text that is nothing but ids and what divides them; null where any word is none. */
export function idsOf(text: string): FoundId[] | null {
  const found = idsIn(text);
  let end = 0;
  const areAlone = found.every((id) => {
    const between = text.slice(end, id.index).replace(/^[\s,;]+/, '');
    end = id.index + id.text.length;
    return between.replace(xccdfName, '') === '';
  });
  return found.length > 0 && areAlone && /^[\s,;]*$/.test(text.slice(end)) ? found : null;
}

function idAt(text: string, index: number, run: string, isLed: boolean): FoundId | null {
  const name = run.length <= 2 * longestId ? (xccdfName.exec(run)?.[0].length ?? 0) : 0;
  const at = index + name;
  // Cut first: a word may be as long as the text.
  if (run.length - name > 2 * longestId) return null;
  const whole = run.slice(name);
  const own = strip(whole, null, /[.@_-]/);
  if (own.length > longestId) return null;
  if (startOf53.test(own)) return controlAt(text, at);
  // Beside a point or a hyphen it is a version, not a control.
  if (/^\d/.test(own))
    return isLed || own !== whole || isVersion(text, at, own) ? null : control(own, 'nist-800-171', at);
  const plain = own.replace(ending, '');
  const simple = (kind: IdKind, text: string): FoundId => {
    const cci = kind === 'cci' ? canonicalIdentifier(kind, text) : null;
    const id = cci ?? withoutRuleEnding(text).toUpperCase();
    return { text, kind, index: at, id, framework: null, part: '' };
  };
  const known = forms.find(([, form]) => form.test(plain));
  if (known !== undefined) return simple(known[0], plain);
  const of8500 = control(own, 'dod-8500', at);
  if (of8500 !== null) return of8500;
  if (stigId.test(plain)) return simple('stigId', plain);
  blankStigId.lastIndex = at;
  const spaced = /^[a-z]{3,8}$/i.test(whole) ? blankStigId.exec(text)?.[0] : undefined;
  return spaced === undefined ? null : simple('stigId', spaced);
}

const beforeVersion = /(?:[\^~]|[<>=!~]= ?|~> ?|(?:^|[^\p{L}])(?:v|ver|version)[ .:="'>\\]{1,4})$/iu;

/** Whether a number in three parts is said to be a version: `^3.1.1`, `>= 3.1.1`, `"version": "3.1.1"`, `3.1.1+`. */
function isVersion(text: string, at: number, own: string): boolean {
  return text[at + own.length] === '+' || beforeVersion.test(text.slice(Math.max(0, at - 16), at));
}

function control(text: string, framework: NonNullable<FoundId['framework']>, index: number): FoundId | null {
  const id = canonicalIdentifier(framework, text);
  return id === null ? null : { text, kind: 'control', index, id, framework, part: '' };
}

function controlAt(text: string, index: number): FoundId | null {
  control53.lastIndex = index;
  const match = control53.exec(text);
  // A letter at a number is a part in lower case, up to the `l` of AC-2: `PL-1M` and `SC-7x` are part numbers.
  if (match === null || /^[A-Zm-z]/.test(match[3] ?? '')) return null;
  const brackets = [...match[2]!.matchAll(/\((\w+)\)/g)].map((each) => each[1]!);
  const isEnhanced = brackets.length > 0 && /^\d/.test(brackets[0]!) && !match[1]!.includes('.');
  const enhancement = isEnhanced ? `(${brackets.shift()})` : '';
  const found = control(`${match[1]}${enhancement}`, 'nist-800-53', index);
  const rest = (match[3] ?? '').match(/[a-z]|\d+/gi) ?? [];
  const part = [...brackets, ...rest].map((each) =>
    /\d/.test(each) ? `${Number(each)}` : each.toLowerCase(),
  );
  return found && { ...found, text: match[0], part: part.join(' ') };
}

/** A CCI, also as tools write it, `CCI 366` or `cci-0366`; beside one, also a number of six digits: `CCI-000366, 000213`. */
const namedCci = /(?<![a-z])CCIs?[^a-z0-9]{0,8}(\d{1,6})(?!\d)|(?<![\w-])(0\d{5})(?![\w-])/gi;

/** Each CCI of a text in its published form, whatever stands between them (rule D30.2); none for other text. */
export function ccisIn(text: string): string[] {
  if (!/CCI/i.test(text)) return [];
  return [...text.matchAll(namedCci)]
    .map(([, named, bare]) => (named ?? bare!).padStart(6, '0'))
    .filter((number) => Number(number) > 0)
    .map((number) => `CCI-${number}`);
}

/** What stands between the CCIs of a text, but for separators. */
export function besideCcis(text: string): string {
  return text
    .replace(namedCci, (each, named, bare) => (Number(named ?? bare) > 0 ? ' ' : each))
    .replace(/[\s\p{P}\p{S}\p{Cf}]+|\b(?:and|or)\b/giu, '');
}
