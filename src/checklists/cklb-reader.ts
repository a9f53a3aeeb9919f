import { z } from '@hono/zod-openapi';
import { stableId } from '../base/ids.ts';
import { isObject } from '../base/json.ts';
import { withoutRuleEnding } from '../base/rule-ids.ts';
import { count, cut } from '../base/text.ts';
import { besideCcis, ccisIn } from '../catalog/controls/id-grammar.ts';
import { Cklb, type CklbRule, type CklbStig, roles } from '../catalog/stigs/cklb-schema.ts';
import {
  badChecklist,
  checklistLimits,
  createLeftovers,
  type OnFault,
  readWord,
  refuseFault,
  severityOf,
  statusOf,
  targetTypes,
} from './fields.ts';
import { shortList } from './names.ts';
import type { Leftover } from './schema.ts';

/** A checklist that was read: valid and complete, with the values that a cklb has no field for. */
export interface OldChecklist {
  format: 'ckl' | 'cklb';
  /** The file's own id, unchanged; null where it has none, as in a ckl. */
  id: string | null;
  checklist: Cklb;
  leftovers: Leftover[];
  /** What its reader did not take as it is, for reports. */
  warnings: string[];
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

const rootFields = Cklb.shape;
const stigFields = rootFields.stigs.element.shape;
const ruleFields = stigFields.rules.element.shape;
const referenceFields = ruleFields.check_content_ref.unwrap().shape;
const groupFields = ruleFields.group_tree.element.shape;

/** Reads the value of a field, undefined where it is missing; `at` is its path. Throws a 400 for another type. */
type Reader<T> = (value: unknown, at: string) => T;

/** The readers of the fields that are no plain texts. */
type Readers<T> = { [Name in keyof T]?: Reader<T[Name]> };

const notASeverity = 'this is not a severity: high, medium, low or CAT I to III';

/**
 * Reads a cklb of any tool: missing fields get defaults, unknown ones become leftovers. Throws a 400 for a value of the
 * wrong type; calls `onFault`, which throws by default, for an unknown status or severity and for a repeated rule.
 */
export function readCklb(
  given: unknown,
  onFault: OnFault = refuseFault,
  leftovers = createLeftovers(),
): Omit<OldChecklist, 'format'> {
  let rules = 0;
  let id: string | null = null;

  /** Reads an object by its schema, in the order of the schema. */
  function readObject<T>(
    fields: Record<string, z.ZodType>,
    value: unknown,
    path: string,
    readers: Readers<T>,
  ): T {
    const object = objectOf(value, path || 'the cklb');
    const at = (name: string) => (path === '' ? name : `${path}.${name}`);
    const entries = Object.entries(fields).map(([name, schema]) => {
      const read: Reader<unknown> =
        readers[name as keyof T] ?? (schema instanceof z.ZodNullable ? textOrNull : text);
      return [name, read(Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined, at(name))];
    });
    for (const name of Object.keys(object))
      if (!Object.hasOwn(fields, name)) leftovers.add(at(name), object[name]);
    return Object.fromEntries(entries) as T;
  }

  /** Makes the reader of a UUID; a missing one is derived from the path of its object. */
  const uuidOf =
    (name: string, path: string): Reader<string> =>
    (value, at) => {
      const stated = text(value, at);
      if (uuid.test(stated)) return stated;
      if (stated !== '') leftovers.add(at, stated, 'this is not a UUID');
      return stableId('cklb-read', path, name);
    };

  const wordOf =
    <const T extends string>(words: readonly [T, ...T[]]): Reader<T> =>
    (value, at) =>
      readWord(words, text(value, at), (word) => leftovers.add(at, word));

  function readStig(value: unknown, path: string): CklbStig {
    let name = '';
    const seen = new Set<string>();
    const stig = readObject<CklbStig>(stigFields, value, path, {
      stig_name: (value, at) => (name = shortText(value, at)),
      display_name: (value, at) => textOrNull(value, at) ?? name,
      stig_id: shortText,
      release_info: shortText,
      version: scalar,
      uuid: uuidOf('uuid', path),
      size: () => 0,
      rules: (value, at) =>
        list(value, at).map((each, index) => {
          if (++rules > checklistLimits.rules)
            throw badChecklist('', `contains more than ${checklistLimits.rules} rules`);
          const inStig = ` in ${name || 'a STIG without a name'}`;
          const rule = readRule(each, `${at}[${index}]`, (code, where, problem) =>
            onFault(code, `${where}${inStig}`, problem),
          );
          const { rule_id: id, group_id: groupId } = rule;
          const where = `${at}[${index}] of ${groupId || `rule ${index + 1}`}${inStig}`;
          if (id === '') onFault('no-rule-id', where, 'has no rule id');
          else if (seen.has(id)) onFault('repeated-rule', where, `repeats the rule ${id.slice(0, 64)}`);
          seen.add(id);
          return rule;
        }),
    });
    for (const rule of stig.rules) rule.stig_uuid = stig.uuid;
    return { ...stig, size: stig.rules.length };
  }

  function readRule(value: unknown, path: string, onFault: OnFault): CklbRule {
    const rule = readObject<CklbRule>(ruleFields, value, path, {
      uuid: uuidOf('uuid', path),
      // It only repeats which STIG the rule is in.
      stig_uuid: () => '',
      group_id: shortText,
      group_id_src: textOrNull as Reader<string>,
      rule_id: shortText,
      rule_id_src: shortText,
      rule_version: shortText,
      weight: scalar,
      documentable: scalar,
      check_content_ref: (value, at) =>
        value === undefined ? null : readObject(referenceFields, value, at, {}),
      legacy_ids: (value, at) => texts(value, at).flatMap((each) => each.split(/(?<=\d)[\s,;|]+(?=S?V-)/i)),
      ccis: (value, at) => texts(value, at).flatMap((each, index) => readCcis(each, `${at}[${index}]`)),
      group_tree: (value, at) =>
        list(value, at).map((each, index) => readObject(groupFields, each, `${at}[${index}]`, {})),
      overrides: readOverrides,
    });
    const { group_id, rule_id_src: source } = rule;
    const id = rule.rule_id || source;
    // With the V-id: in a ckl, or in a viewer, nobody finds a rule by its index.
    const of = group_id.slice(0, 16) || id.slice(0, 32) || 'a rule';
    const fault = (field: 'status' | 'severity', words: string) => {
      const stated = rule[field].trim();
      const instead = stated === '' ? '' : `, not "${cut(stated)}"`;
      onFault(`bad-${field}`, `${path}.${field} of ${of}`, `must be ${words}${instead}`);
    };
    const severity = severityOf(rule.severity);
    if (severity === null) fault('severity', 'high, medium or low');
    const status = statusOf(rule.status);
    if (status === null) fault('status', 'Not_Reviewed, Not_Applicable, Open or NotAFinding');
    return {
      ...rule,
      group_id_src: rule.group_id_src ?? group_id,
      rule_id: withoutRuleEnding(id),
      rule_id_src: source || (id === '' ? '' : `${withoutRuleEnding(id)}_rule`),
      severity: severity ?? 'medium',
      status: status ?? 'not_reviewed',
    };
  }

  function readCcis(text: string, at: string): string[] {
    const ccis = ccisIn(text);
    if (ccis.length < 2) return [text];
    if (besideCcis(text) !== '') leftovers.add(at, text, 'only the CCIs of this text are read');
    return ccis;
  }

  function readOverrides(value: unknown, path: string): CklbRule['overrides'] {
    const { severity } = readObject<CklbRule['overrides']>({ severity: z.string() }, value, path, {
      severity(value, path) {
        const { severity, reason } = readObject<{ severity: string; reason: string }>(
          { severity: z.string(), reason: z.string() },
          value,
          path,
          { severity: (value, at) => (typeof value === 'number' ? String(value) : text(value, at)) },
        );
        const overridden = severityOf(severity);
        if (overridden !== null) return { severity: overridden, reason };
        if (severity.trim() !== '') leftovers.add(`${path}.severity`, severity, notASeverity);
        if (reason !== '') leftovers.add(`${path}.reason`, reason);
        return undefined;
      },
    });
    return severity === undefined ? {} : { severity };
  }

  const checklist = readObject<Cklb>(rootFields, given, '', {
    id(value, at) {
      id = text(value, at) || null;
      return uuidOf('id', '')(value, at);
    },
    cklb_version(value, at) {
      if (value !== undefined && value !== '1.0') leftovers.add(at, value);
      return '1.0';
    },
    active: (value, at) => typed(value, at, 'true or false', isFlag) ?? false,
    mode: (value, at) => typed(value, at, 'an integer', isInteger) ?? 1,
    has_path: (value, at) => typed(value, at, 'true or false', isFlag) ?? true,
    target_data: (value, at) =>
      readObject<Cklb['target_data']>(rootFields.target_data.shape, value, at, {
        target_type: wordOf(targetTypes),
        role: wordOf(roles),
        is_web_database: (value, at) => typed(value, at, 'true or false', isFlag) ?? false,
      }),
    stigs(value, at) {
      const stigs = arrayOf(value, isObject);
      if (!isArray(stigs) || stigs.length === 0) throw badChecklist('', 'has no stigs: it is not a cklb');
      if (stigs.length > checklistLimits.stigs)
        throw badChecklist('', `contains more than ${checklistLimits.stigs} STIGs`);
      return stigs.map((each, index) => readStig(each, `${at}[${index}]`));
    },
  });
  return {
    id,
    checklist,
    leftovers: leftovers.list,
    warnings: unknownOverrides(leftovers.list, checklist.stigs),
  };
}

function unknownOverrides(leftovers: Leftover[], stigs: CklbStig[]): string[] {
  const unknown = leftovers.filter(({ reason }) => reason === notASeverity);
  if (unknown.length === 0) return [];
  const named = unknown.map(({ path, value }) => {
    const [stig, rule] = path.match(/\d+/g)!.map(Number);
    return `${cut(stigs[stig!]!.rules[rule!]!.group_id, 16)} "${cut(String(value), 16)}"`;
  });
  return [
    `${count(named.length, 'severity override')} left out, not high, medium, low or CAT I to III: ${shortList(named)}`,
  ];
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
const isArray = (value: unknown): value is unknown[] => Array.isArray(value);
const isTexts = (value: unknown): value is string[] => isArray(value) && value.every(isText);
const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0;

/** A value of a type; undefined where it is missing. Throws a 400 for another one. */
function typed<T>(
  value: unknown,
  at: string,
  type: string,
  isType: (value: unknown) => value is T,
): T | undefined {
  if (value === undefined || isType(value)) return value;
  throw badChecklist(at, `must be ${type}`);
}

function objectOf(value: unknown, at: string): Record<string, unknown> {
  return typed(value, at, 'an object', isObject) ?? {};
}

/** PowerShell's ConvertTo-Json writes no text as `{}`. */
const textOrNull: Reader<string | null> = (value, at) =>
  typed(isEmpty(value) ? undefined : value, at, 'a text', isText) ?? null;

const text: Reader<string> = (value, at) => textOrNull(value, at) ?? '';

/** A text that is used for look-ups or repeated for each rule. */
const shortText: Reader<string> = (value, at) => {
  const short = text(value, at);
  if (short.length <= checklistLimits.name) return short;
  throw badChecklist(at, `must have at most ${checklistLimits.name} characters`);
};

/** A text that some tools write as a number or as a boolean. */
const scalar: Reader<string> = (value, at) =>
  typeof value === 'number' || isFlag(value) ? String(value) : shortText(value, at);

const texts: Reader<string[]> = (value, at) =>
  typed(arrayOf(value, isText), at, 'an array of texts', isTexts) ?? [];

const list: Reader<unknown[]> = (value, at) => typed(arrayOf(value, isObject), at, 'an array', isArray) ?? [];

/** PowerShell's ConvertTo-Json writes no item as `{}`, `[null]` or `""`, one item alone, or `{ value, Count }`. */
function arrayOf(given: unknown, isItem: (item: unknown) => boolean): unknown {
  if (isEmpty(given)) return [];
  if (isArray(given)) return given.length === 1 && given[0] === null ? [] : given;
  if (isObject(given)) {
    const { value, Count, ...others } = given;
    if (isArray(value) && Count === value.length && isEmpty(others)) return value;
  }
  if (given === '') return [];
  return isItem(given) ? [given] : given;
}
