import { assetNames, ruleNames } from '../catalog/stigs/ckl-writer.ts';
import { elementsOf, treeBuilder, type XmlElement, type XmlHandler, type XmlNode } from '../read/xml.ts';
import { type OldChecklist, readCklb } from './cklb-reader.ts';
import { badChecklist, createLeftovers, largestTree, type OnFault, readUploadedXml } from './fields.ts';

const asset = 'CHECKLIST/ASSET';
const stig = 'CHECKLIST/STIGS/iSTIG';
const info = `${stig}/STIG_INFO`;
const vuln = `${stig}/VULN`;

/** The names of fields in a ckl with their names in a cklb (rule F3.5), by the path of the element around them. */
const fieldNames = new Map<string, Record<string, string>>([
  [asset, assetNames],
  [
    info,
    {
      title: 'stig_name',
      stigid: 'stig_id',
      releaseinfo: 'release_info',
      version: 'version',
      uuid: 'uuid',
    },
  ],
  [
    vuln,
    {
      ...ruleNames,
      STIG_UUID: 'stig_uuid',
      LEGACY_ID: 'legacy_ids',
      CCI_REF: 'ccis',
      STATUS: 'status',
      FINDING_DETAILS: 'finding_details',
      COMMENTS: 'comments',
      SEVERITY_OVERRIDE: 'severity_override',
      SEVERITY_JUSTIFICATION: 'severity_justification',
    },
  ],
]);
/** The elements that hold name and value of a field; some tools write several values. */
const pairs: Record<string, [name: string, value: string]> = {
  STIG_DATA: ['VULN_ATTRIBUTE', 'ATTRIBUTE_DATA'],
  SI_DATA: ['SID_NAME', 'SID_DATA'],
};
/** The elements whose children are read one by one. */
const parents = new Set(['CHECKLIST', asset, 'CHECKLIST/STIGS', stig, info]);

/** Characters of a name of the file in a path. */
const longestName = 64;
const mostElements = 2_000_000;

/** The name of the node that stands for a comment. */
const commentName = 'comment()';
/** The comment in which STIG Viewer or Gapstone names itself: it is no leftover. */
const markOfWriter = /^\s*(?:DISA STIG Viewer|Gapstone) :: [\d.]+\s*$/;

/** Texts by the names of their fields in a cklb; `lists` are those that a rule may have several of. */
type Values = Record<string, string>;
interface ReadRule {
  values: Values;
  lists: Record<string, string[]>;
}
interface ReadStig {
  values: Values;
  rules: ReadRule[];
}

/** Converts a ckl (STIG Viewer 2) to a cklb. What a cklb has no field for becomes a leftover. Throws a 400. */
export function readCkl(text: string, onFault?: OnFault): OldChecklist {
  const leftovers = createLeftovers();
  const target: Values = {};
  const stigs: ReadStig[] = [];
  const pathOf = (elements: XmlElement[]) => elements.map(({ name }) => name).join('/');
  /** The path with the number of the STIG, for people. */
  const shownPath = (elements: XmlElement[]) =>
    `/${pathOf(elements)}`.replace(/^\/CHECKLIST\/STIGS\/iSTIG(?=\/|$)/, `$&[${stigs.length}]`);

  function leave(path: string, value: string, reason?: string): void {
    if (value.trim() !== '') leftovers.add(path, value, reason);
  }

  function leaveAttributes({ attributes }: XmlElement, path: string): void {
    for (const [name, value] of Object.entries(attributes))
      if (!/^(xmlns|xsi)(:|$)/.test(name)) leave(`${path}/@${name.slice(0, longestName)}`, value);
  }

  /** The own text of an element. Its attributes and its child elements become leftovers, but for those that `use` takes. */
  function textOf(node: XmlNode, path: string, use = (_child: XmlNode) => false): string {
    leaveAttributes(node, path);
    for (const child of elementsOf(node)) if (!use(child)) leaveElement(child, path);
    return node.children.filter((child) => typeof child === 'string').join('');
  }

  function leaveElement(node: XmlNode, parent: string): void {
    const path = `${parent}/${node.name.slice(0, longestName)}`;
    const text = textOf(node, path);
    // Evaluate-STIG writes in comments when and by which check a rule was answered, and STIG Manager reads them.
    if (node.name !== commentName) leave(path, text);
    else if (!markOfWriter.test(text)) leave(path, text, 'a cklb has no field for a comment of the file');
  }

  /** Reads an element with a field, or leaves it. Throws a 400 for a field that is there twice. */
  function readField(node: XmlNode, parent: string, names: Record<string, string>, into: ReadRule): void {
    const path = `${parent}/${node.name}`;
    const isPair = Object.hasOwn(pairs, node.name);
    if (!isPair && !Object.hasOwn(names, node.name)) {
      leaveElement(node, parent);
      return;
    }
    const { name, value } = isPair ? readPair(node, path) : { name: node.name, value: textOf(node, path) };
    const field = Object.hasOwn(names, name) ? names[name]! : '';
    if (field === '') leave(`${path}[${name.slice(0, longestName)}]`, value);
    else if (field in into.lists) into.lists[field]!.push(...[value.trim()].filter((text) => text !== ''));
    else if (field in into.values) throw badChecklist(parent, `contains ${name} twice`);
    else into.values[field] = value;
  }

  function readPair(node: XmlNode, path: string): { name: string; value: string } {
    const [nameTag, valueTag] = pairs[node.name]!;
    const texts: Record<string, string[]> = { [nameTag]: [], [valueTag]: [] };
    const stray = textOf(node, path, (child) => {
      if (!Object.hasOwn(texts, child.name)) return false;
      texts[child.name]!.push(textOf(child, `${path}/${child.name}`));
      return true;
    });
    leave(path, stray);
    return { name: texts[nameTag]!.at(-1)?.trim() ?? '', value: texts[valueTag]!.join('\n') };
  }

  function readRule(node: XmlNode, parent: string): void {
    const { rules } = stigs.at(-1)!;
    const rule = { values: {}, lists: { legacy_ids: [], ccis: [], stig_uuid: [] } };
    const path = `${parent}/VULN[${rules.push(rule)}]`;
    const stray = textOf(node, path, (child) => {
      readField(child, path, fieldNames.get(vuln)!, rule);
      return true;
    });
    leave(path, stray);
  }

  const builder = treeBuilder(
    {
      visit(element, around) {
        const opened = [...around, element];
        if (!parents.has(pathOf(opened))) return 'tree';
        if (pathOf(opened) === stig) stigs.push({ values: {}, rules: [] });
        leaveAttributes(element, shownPath(opened));
        return 'children';
      },
      text: (text, around) => leave(shownPath(around), text),
      tree(node, around) {
        const parent = pathOf(around);
        const path = around.length === 0 ? '' : shownPath(around);
        const names = fieldNames.get(parent);
        if (names)
          readField(node, path, names, {
            values: parent === asset ? target : stigs.at(-1)!.values,
            lists: {},
          });
        else if (`${parent}/${node.name}` === vuln) readRule(node, path);
        else leaveElement(node, path);
      },
    },
    largestTree,
  );
  readUploadedXml(text, 'checklist', (root) => {
    if (root.name !== 'CHECKLIST')
      throw badChecklist('', `must begin with <CHECKLIST>, not <${root.name.slice(0, longestName)}>`);
    return withComments(builder);
  });
  const { is_web_database: isWeb = '' } = target;
  if (!/^(?:true|1|yes|false|0|no)?$/i.test(isWeb.trim())) leave(`/${asset}/WEB_OR_DATABASE`, isWeb);
  return { format: 'ckl', ...readCklb(toCklb(target, stigs), onFault, leftovers) };
}

/** Counts the elements, and hands out each comment as an element at its place. */
function withComments(handler: XmlHandler): XmlHandler {
  let elements = 0;
  return {
    ...handler,
    open(element) {
      if (++elements > mostElements) throw badChecklist('', `contains more than ${mostElements} elements`);
      handler.open(element);
    },
    comment(text) {
      const element = { name: commentName, uri: '', attributes: {}, children: [] };
      handler.open(element);
      handler.text(text);
      handler.close(element);
    },
  };
}

function toCklb(
  { classification, is_web_database: isWeb = '', ...target }: Values,
  stigs: ReadStig[],
): object {
  return {
    target_data: {
      ...target,
      is_web_database: /^(true|1|yes)$/i.test(isWeb.trim()),
      classification: classification || null,
    },
    stigs: stigs.map(({ values, rules }) => ({
      ...values,
      display_name: values.stig_name?.replace(/ Security Technical Implementation Guide$/, '') ?? '',
      rules: rules.map(toRule),
    })),
  };
}

function toRule({ values, lists }: ReadRule): object {
  const {
    severity_override: severity = '',
    severity_justification: reason = '',
    check_content_ref: reference = '',
    ...rule
  } = values;
  const groupId = rule.group_id?.trim();
  return {
    ...rule,
    ...lists,
    group_id: groupId,
    rule_id_src: rule.rule_id_src?.trim(),
    classification: /^unclass$/i.test(rule.classification?.trim() ?? '')
      ? 'Unclassified'
      : rule.classification,
    check_content_ref: reference === '' ? null : { href: '', name: reference },
    group_tree: [
      { id: groupId, title: rule.group_title, description: '<GroupDescription></GroupDescription>' },
    ],
    overrides: { severity: { severity: severity.trim(), reason } },
  };
}
