import { assetNames, ruleNames } from '../catalog/stigs/ckl-writer.ts';
import type { XmlElement, XmlHandler } from '../read/xml.ts';
import { type OldChecklist, readCklb } from './cklb-reader.ts';
import { badChecklist, createLeftovers, type Leftovers, type OnFault } from './fields.ts';
import { readUploadedXml } from './uploaded-xml.ts';

// The equivalents of the names in a ckl (rule F3.5); those of its target and rules are in ckl-writer.ts.
const infoNames: Record<string, string> = {
  title: 'stig_name',
  stigid: 'stig_id',
  releaseinfo: 'release_info',
  version: 'version',
  uuid: 'uuid',
};
const ruleLists: Record<string, string> = { LEGACY_ID: 'legacy_ids', CCI_REF: 'ccis' };

const maxDepth = 10;
const maxNameLength = 64;
const maxElements = 2_000_000;
const asset = '/CHECKLIST/ASSET/';
const stig = '/CHECKLIST/STIGS/iSTIG';
const vuln = `${stig}/VULN`;

type Values = Map<string, string>;
interface ReadVuln {
  data: Values;
  lists: Map<string, string[]>;
  answer: Values;
}

interface ReadStig {
  info: Values;
  vulns: ReadVuln[];
}

/** Converts a ckl (STIG Viewer 2) to a cklb. What a cklb has no field for becomes a leftover. Throws a 400. */
export function readCkl(text: string, onFault?: OnFault): OldChecklist {
  const leftovers = createLeftovers();
  const builder = createBuilder(leftovers);
  readUploadedXml(text, 'checklist', (root) => {
    if (root.name === 'CHECKLIST') return builder.handler;
    throw badChecklist('', `must begin with <CHECKLIST>, not <${root.name.slice(0, maxNameLength)}>`);
  });
  return { format: 'ckl', ...readCklb(builder.toCklb(), onFault, leftovers) };
}

/** The comment in which STIG Viewer or Gapstone names itself: it is no leftover. */
const markOfWriter = /^\s*(?:DISA STIG Viewer|Gapstone) :: [\d.]+\s*$/;

function createBuilder(leftovers: Leftovers) {
  const target: Values = new Map();
  const stigs: ReadStig[] = [];
  const open: { path: string; shown: string; text: string }[] = [];
  let elements = 0;
  let name = '';
  let value: string | null = null;

  function shownName({ name }: XmlElement, path: string): string {
    if (path === stig) return `iSTIG[${stigs.length}]`;
    if (path === vuln) return `VULN[${stigs.at(-1)!.vulns.length}]`;
    return name;
  }

  function leave(path: string, text: string, reason?: string): void {
    if (text.trim() !== '') leftovers.add(path, text, reason);
  }

  function putRuleData(where: string, value: string): void {
    const { data, lists } = stigs.at(-1)!.vulns.at(-1)!;
    if (Object.hasOwn(ruleLists, name)) {
      const list = lists.get(name);
      if (value.trim() === '') return;
      if (list) list.push(value.trim());
      else lists.set(name, [value.trim()]);
    } else if (Object.hasOwn(ruleNames, name)) put(data, name, value, where);
    // STIG_UUID only repeats the uuid of the STIG around the rule.
    else if (name !== 'STIG_UUID') leave(`${where}/STIG_DATA[${name.slice(0, 64)}]`, value);
  }

  const handler: XmlHandler = {
    open(element) {
      if (++elements > maxElements) throw badChecklist('', `contains more than ${maxElements} elements`);
      if (open.length >= maxDepth) throw badChecklist('', `is nested deeper than ${maxDepth} elements`);
      if (element.name.length > maxNameLength)
        throw badChecklist('', `has an element name of more than ${maxNameLength} characters`);
      const parent = open.at(-1) ?? { path: '', shown: '' };
      const path = `${parent.path}/${element.name}`;
      if (path === stig) stigs.push({ info: new Map(), vulns: [] });
      if (path === vuln) stigs.at(-1)!.vulns.push({ data: new Map(), lists: new Map(), answer: new Map() });
      if (path === `${vuln}/STIG_DATA` || path === `${stig}/STIG_INFO/SI_DATA`) [name, value] = ['', null];
      const shown = `${parent.shown}/${shownName(element, path)}`;
      for (const [key, text] of Object.entries(element.attributes))
        if (!/^(xmlns|xsi)(:|$)/.test(key)) leave(`${shown}/@${key.slice(0, maxNameLength)}`, text);
      open.push({ path, shown, text: '' });
    },
    text(part) {
      const last = open.at(-1);
      if (last) last.text += part;
    },
    // Evaluate-STIG writes in comments when and by which check a rule was answered, and STIG Manager reads them.
    comment(text) {
      if (!markOfWriter.test(text))
        leave(`${open.at(-1)?.shown ?? ''}/comment()`, text, 'a cklb has no field for a comment of the file');
    },
    close() {
      const { path, shown, text } = open.pop()!;
      const where = open.at(-1)?.shown ?? '';
      const local = path.slice(path.lastIndexOf('/') + 1);
      if (path === `${vuln}/STIG_DATA/VULN_ATTRIBUTE` || path === `${stig}/STIG_INFO/SI_DATA/SID_NAME`)
        name = text.trim();
      else if (path === `${vuln}/STIG_DATA/ATTRIBUTE_DATA` || path === `${stig}/STIG_INFO/SI_DATA/SID_DATA`)
        // Some tools write several CCIs or legacy ids into one STIG_DATA.
        value = value === null ? text : `${value}\n${text}`;
      else if (path === `${vuln}/STIG_DATA`) {
        putRuleData(where, value ?? '');
        leave(shown, text);
      } else if (path === `${stig}/STIG_INFO/SI_DATA`) {
        if (Object.hasOwn(infoNames, name)) put(stigs.at(-1)!.info, name, value ?? '', where);
        else leave(`${where}/SI_DATA[${name.slice(0, 64)}]`, value ?? '');
        leave(shown, text);
      } else if (open.at(-1)?.path === vuln && answerNames.has(local))
        put(stigs.at(-1)!.vulns.at(-1)!.answer, local, text, where);
      else if (path === `${asset}${local}` && Object.hasOwn(assetNames, local)) {
        put(target, local, text, where);
        if (local === 'WEB_OR_DATABASE' && !/^(?:true|1|yes|false|0|no)?$/i.test(text.trim()))
          leave(shown, text);
      } else leave(shown, text);
    },
  };

  return { handler, toCklb: () => toCklb(target, stigs) };
}

function put(values: Values, key: string, text: string, where: string): void {
  if (values.has(key)) throw badChecklist(where, `contains ${key.slice(0, 64)} twice`);
  values.set(key, text);
}

function toCklb(target: Values, stigs: ReadStig[]): object {
  const { classification, is_web_database, ...others } = renamed(target, assetNames);
  return {
    target_data: {
      ...others,
      is_web_database: /^(true|1|yes)$/i.test(is_web_database?.trim() ?? ''),
      classification: classification || null,
    },
    stigs: stigs.map(({ info, vulns }) => {
      const { uuid = '', ...named } = renamed(info, infoNames);
      const displayName = named.stig_name?.replace(/ Security Technical Implementation Guide$/, '') ?? '';
      return { ...named, uuid, display_name: displayName, rules: vulns.map(toRule) };
    }),
  };
}

const answerNames = new Set([
  'STATUS',
  'FINDING_DETAILS',
  'COMMENTS',
  'SEVERITY_OVERRIDE',
  'SEVERITY_JUSTIFICATION',
]);

function toRule({ data, lists, answer }: ReadVuln): object {
  const rule = renamed(data, ruleNames);
  const reference = data.get('Check_Content_Ref') ?? '';
  return {
    ...rule,
    group_id: rule.group_id?.trim(),
    rule_id_src: rule.rule_id_src?.trim(),
    classification: /^unclass$/i.test(rule.classification?.trim() ?? '')
      ? 'Unclassified'
      : rule.classification,
    check_content_ref: reference === '' ? null : { href: '', name: reference },
    legacy_ids: lists.get('LEGACY_ID') ?? [],
    ccis: lists.get('CCI_REF') ?? [],
    group_tree: [
      {
        id: rule.group_id?.trim(),
        title: rule.group_title,
        description: '<GroupDescription></GroupDescription>',
      },
    ],
    status: answer.get('STATUS') ?? '',
    finding_details: answer.get('FINDING_DETAILS') ?? '',
    comments: answer.get('COMMENTS') ?? '',
    overrides: {
      severity: {
        severity: answer.get('SEVERITY_OVERRIDE')?.trim() ?? '',
        reason: answer.get('SEVERITY_JUSTIFICATION') ?? '',
      },
    },
  };
}

function renamed(values: Values, names: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    [...values].flatMap(([key, text]) => (Object.hasOwn(names, key) ? [[names[key]!, text]] : [])),
  );
}
