import { stableId } from '../base/ids.ts';
import { isObject } from '../base/json.ts';
import { withoutRuleEnding } from '../base/rule-ids.ts';
import { count, cut } from '../base/text.ts';
import { besideCcis, ccisIn } from '../catalog/controls/id-grammar.ts';
import { type Cklb, type CklbRule, type CklbStig, roles } from '../catalog/stigs/cklb-schema.ts';
import {
  badChecklist,
  checklistLimits,
  createLeftovers,
  createRuleGuard,
  type Leftovers,
  notASeverity,
  type OnFault,
  readSeverity,
  readStatus,
  readWord,
  refuseFault,
  severityOf,
  targetTypes,
} from './fields.ts';
import type { Leftover } from './schema.ts';
import { shortList } from './stig-names.ts';

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

/**
 * Reads a cklb of any tool: missing fields get defaults, unknown ones become leftovers. Throws a 400 for a value of the
 * wrong type; calls `onFault`, which throws by default, for an unknown status or severity and for a repeated rule.
 */
export function readCklb(
  value: unknown,
  onFault: OnFault = refuseFault,
  leftovers = createLeftovers(),
): Omit<OldChecklist, 'format'> {
  const guard = createRuleGuard(onFault);
  const root = fieldsOf(value, '', leftovers);
  const stigs = arrayOf(root.value('stigs'), isObject);
  if (!Array.isArray(stigs) || stigs.length === 0) throw badChecklist('', 'has no stigs: it is not a cklb');
  const checklist: Cklb = {
    title: root.text('title'),
    id: root.uuid('id', ''),
    cklb_version: '1.0',
    active: root.flag('active', false),
    mode: root.integer('mode', 1),
    has_path: root.flag('has_path', true),
    target_data: readTarget(root.fields('target_data'), leftovers),
    stigs: stigs.map((each, index) => {
      guard.stig(index);
      return readStig(each, `stigs[${index}]`, leftovers, guard, onFault);
    }),
  };
  const version = root.value('cklb_version');
  if (version !== undefined && version !== '1.0') leftovers.add('cklb_version', version);
  root.rest();
  const warnings = unknownOverrides(leftovers.list, checklist.stigs);
  return { id: root.text('id') || null, checklist, leftovers: leftovers.list, warnings };
}

function unknownOverrides(leftovers: Leftover[], stigs: CklbStig[]): string[] {
  const unknown = leftovers.filter(({ reason }) => reason === notASeverity);
  const named = unknown.map(({ path, value }) => {
    const [stig, rule] = path.match(/\d+/g)!.map(Number);
    return `${cut(stigs[stig!]!.rules[rule!]!.group_id, 16)} "${cut(String(value), 16)}"`;
  });
  return named.length === 0
    ? []
    : [
        `${count(named.length, 'severity override')} left out, not high, medium, low or CAT I to III: ${shortList(named)}`,
      ];
}

function readTarget(target: Fields, leftovers: Leftovers): Cklb['target_data'] {
  const word = <const T extends string>(words: readonly [T, ...T[]], name: string) =>
    readWord(words, target.text(name), (text) => leftovers.add(`target_data.${name}`, text));
  const read = {
    target_type: word(targetTypes, 'target_type'),
    host_name: target.text('host_name'),
    ip_address: target.text('ip_address'),
    mac_address: target.text('mac_address'),
    fqdn: target.text('fqdn'),
    comments: target.text('comments'),
    role: word(roles, 'role'),
    is_web_database: target.flag('is_web_database', false),
    technology_area: target.text('technology_area'),
    web_db_site: target.text('web_db_site'),
    web_db_instance: target.text('web_db_instance'),
    classification: target.textOrNull('classification'),
  };
  target.rest();
  return read;
}

function readStig(
  value: unknown,
  path: string,
  leftovers: Leftovers,
  guard: ReturnType<typeof createRuleGuard>,
  onFault: OnFault,
): CklbStig {
  const stig = fieldsOf(value, path, leftovers);
  const stigUuid = stig.uuid('uuid', path);
  const name = stig.name('stig_name');
  const rules = stig.list('rules').map((each, index) => {
    const rule = readRule(each, `${path}.rules[${index}]`, stigUuid, leftovers, (code, where, problem) =>
      onFault(code, `${where} in ${name || 'a STIG without a name'}`, problem),
    );
    guard.rule(
      rule.rule_id,
      `${path}.rules[${index}] of ${rule.group_id || `rule ${index + 1}`} in ${name || 'a STIG without a name'}`,
    );
    return rule;
  });
  const read = {
    stig_name: name,
    display_name: stig.textOrNull('display_name') ?? name,
    stig_id: stig.name('stig_id'),
    release_info: stig.name('release_info'),
    version: stig.scalar('version'),
    uuid: stigUuid,
    reference_identifier: stig.textOrNull('reference_identifier'),
    size: rules.length,
    rules,
  };
  stig.value('size');
  stig.rest();
  return read;
}

function readRule(
  value: unknown,
  path: string,
  stigUuid: string,
  leftovers: Leftovers,
  onFault: OnFault,
): CklbRule {
  const rule = fieldsOf(value, path, leftovers);
  const source = rule.name('rule_id_src');
  const id = rule.name('rule_id') || source;
  const groupId = rule.name('group_id');
  const reference = rule.fields('check_content_ref');
  const override = rule.fields('overrides');
  const severity = override.fields('severity');
  const category = severity.value('severity');
  const given = typeof category === 'number' ? String(category) : severity.text('severity');
  const overridden = severityOf(given);
  // With the V-id: in a ckl, or in a viewer, nobody finds a rule by its index.
  const at = (field: string) => `${path}.${field} of ${groupId.slice(0, 16) || id.slice(0, 32) || 'a rule'}`;
  const reason = severity.text('reason');
  if (overridden === null && given.trim() !== '')
    leftovers.add(`${path}.overrides.severity.severity`, given, notASeverity);
  if (overridden === null && reason !== '') leftovers.add(`${path}.overrides.severity.reason`, reason);
  const read: CklbRule = {
    uuid: rule.uuid('uuid', path),
    stig_uuid: stigUuid,
    group_id: groupId,
    group_id_src: rule.textOrNull('group_id_src') ?? groupId,
    rule_id: withoutRuleEnding(id),
    rule_id_src: source || (id === '' ? '' : `${withoutRuleEnding(id)}_rule`),
    target_key: rule.textOrNull('target_key'),
    stig_ref: rule.textOrNull('stig_ref'),
    weight: rule.scalar('weight'),
    classification: rule.text('classification'),
    severity: readSeverity(rule.text('severity'), at('severity'), onFault),
    rule_version: rule.name('rule_version'),
    rule_title: rule.text('rule_title'),
    group_title: rule.text('group_title'),
    fix_text: rule.text('fix_text'),
    discussion: rule.text('discussion'),
    check_content: rule.text('check_content'),
    check_content_ref: reference.isThere
      ? { href: reference.text('href'), name: reference.text('name') }
      : null,
    reference_identifier: rule.textOrNull('reference_identifier'),
    false_positives: rule.text('false_positives'),
    false_negatives: rule.text('false_negatives'),
    documentable: rule.scalar('documentable'),
    mitigations: rule.text('mitigations'),
    potential_impacts: rule.text('potential_impacts'),
    third_party_tools: rule.text('third_party_tools'),
    mitigation_control: rule.text('mitigation_control'),
    responsibility: rule.text('responsibility'),
    security_override_guidance: rule.text('security_override_guidance'),
    ia_controls: rule.text('ia_controls'),
    legacy_ids: rule.texts('legacy_ids').flatMap((text) => text.split(/(?<=\d)[\s,;|]+(?=S?V-)/i)),
    ccis: rule.texts('ccis').flatMap((text, index) => {
      const several = ccisIn(text);
      if (several.length < 2) return text;
      if (besideCcis(text) !== '')
        leftovers.add(`${path}.ccis[${index}]`, text, 'only the CCIs of this text are read');
      return several;
    }),
    group_tree: rule.list('group_tree').map((each, index) => {
      const node = fieldsOf(each, `${path}.group_tree[${index}]`, leftovers);
      const known = { id: node.text('id'), title: node.text('title'), description: node.text('description') };
      node.rest();
      return known;
    }),
    status: readStatus(rule.text('status'), at('status'), onFault),
    overrides: overridden === null ? {} : { severity: { severity: overridden, reason } },
    comments: rule.text('comments'),
    finding_details: rule.text('finding_details'),
  };
  // Read and dropped: it only repeats which STIG the rule is in.
  rule.value('stig_uuid');
  for (const each of [severity, override, reference, rule]) each.rest();
  return read;
}

const isText = (given: unknown): given is string => typeof given === 'string';
const isArray = (given: unknown): given is unknown[] => Array.isArray(given);
const isEmpty = (given: unknown) => isObject(given) && Object.keys(given).length === 0;

/** PowerShell's ConvertTo-Json writes no item as `{}`, `[null]` or `""`, one item alone, or `{ value, Count }`. */
function arrayOf(given: unknown, isItem: (item: unknown) => boolean): unknown {
  if (isEmpty(given)) return [];
  if (isArray(given)) return given.length === 1 && given[0] === null ? [] : given;
  if (isObject(given)) {
    const { value, Count, ...others } = given as Record<string, unknown>;
    if (isArray(value) && Count === value.length && isEmpty(others)) return value;
  }
  if (given === '') return [];
  return isItem(given) ? [given] : given;
}

/** Reads the fields of an object. Each method throws a 400 for a value of another type, and treats null as missing. */
interface Fields {
  isThere: boolean;
  value(name: string): unknown;
  text(name: string): string;
  /** A text that is used for look-ups or repeated for each rule: throws a 400 for a long one. */
  name(name: string): string;
  textOrNull(name: string): string | null;
  texts(name: string): string[];
  list(name: string): unknown[];
  flag(name: string, otherwise: boolean): boolean;
  integer(name: string, otherwise: number): number;
  /** A text that some tools write as a number or as a boolean. */
  scalar(name: string): string;
  /** A UUID; a missing one is derived from `place`. */
  uuid(name: string, place: string): string;
  fields(name: string): Fields;
  rest(): void;
}

function fieldsOf(value: unknown, path: string, leftovers: Leftovers): Fields {
  const isThere = value !== undefined && value !== null;
  if (isThere && !isObject(value)) throw badChecklist(path || 'the cklb', 'must be an object');
  const object = (value ?? {}) as Record<string, unknown>;
  const asked = new Set<string>();
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);

  function take(name: string): unknown {
    asked.add(name);
    return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
  }

  function typed<T>(
    name: string,
    given: unknown,
    type: string,
    isType: (given: unknown) => given is T,
  ): T | undefined {
    if (given === undefined || isType(given)) return given;
    throw badChecklist(at(name), `must be ${type}`);
  }

  const isFlag = (given: unknown): given is boolean => typeof given === 'boolean';
  const isInteger = (given: unknown): given is number => Number.isSafeInteger(given);
  const isTexts = (given: unknown): given is string[] => isArray(given) && given.every(isText);
  const textOf = (name: string) => {
    const given = take(name);
    return typed(name, isEmpty(given) ? undefined : given, 'a text', isText);
  };

  return {
    isThere,
    value: take,
    text: (name) => textOf(name) ?? '',
    name(name) {
      const given = textOf(name) ?? '';
      if (given.length <= checklistLimits.name) return given;
      throw badChecklist(at(name), `must have at most ${checklistLimits.name} characters`);
    },
    textOrNull: (name) => textOf(name) ?? null,
    texts: (name) => typed(name, arrayOf(take(name), isText), 'an array of texts', isTexts) ?? [],
    list: (name) => typed(name, arrayOf(take(name), isObject), 'an array', isArray) ?? [],
    flag: (name, otherwise) => typed(name, take(name), 'true or false', isFlag) ?? otherwise,
    integer: (name, otherwise) => typed(name, take(name), 'an integer', isInteger) ?? otherwise,
    scalar(name) {
      const given = take(name);
      return typeof given === 'number' || isFlag(given) ? String(given) : this.name(name);
    },
    uuid(name, place) {
      const given = this.text(name);
      if (uuid.test(given)) return given;
      if (given !== '') leftovers.add(at(name), given, 'this is not a UUID');
      return stableId('cklb-read', place, name);
    },
    fields: (name) => fieldsOf(take(name), at(name), leftovers),
    rest() {
      for (const name of Object.keys(object)) if (!asked.has(name)) leftovers.add(at(name), object[name]);
    },
  };
}
