import { packageVersion } from '../../base/root.ts';
import { cleanXml } from '../../http/columns.ts';
import { assetNames, ruleNames } from './ckl-names.ts';
import type { Cklb, CklbRule, CklbStig } from './cklb-schema.ts';
import type { StigRelease } from './queries.ts';

const statuses = {
  not_a_finding: 'NotAFinding',
  open: 'Open',
  not_applicable: 'Not_Applicable',
  not_reviewed: 'Not_Reviewed',
};

/** A checklist in the form of STIG Viewer 2 (rule F3.6). `releases` give what a cklb has no field for. */
export function toCkl(checklist: Cklb, releases: StigRelease[]): string {
  const { target_data: target, stigs } = checklist;
  const releaseOf = (stig: CklbStig) => releases.find(({ benchmarkId }) => benchmarkId === stig.stig_id);
  const written = stigs.flatMap((stig) => [...cklStig(stig, releaseOf(stig))]);
  return [cklHead(target, targetKeyOf(stigs[0])), ...written, cklEnd].join('');
}

/** Where a checklist has texts with control characters, which XML cannot hold: V-ids, titles or `the target`, one for each. */
export function textsBeyondXml({ target_data, stigs }: Cklb): string[] {
  const found = (place: string, texts: unknown[]) =>
    texts.flatMap((text) => (typeof text === 'string' && cleanXml(text) !== text ? place : []));
  const written = Object.values(ruleNames);
  return [
    ...found('the target', Object.values(target_data)),
    ...stigs.flatMap(({ rules, ...stig }) => [
      ...found(stig.stig_name, Object.values(stig)),
      ...rules.flatMap((rule) => [
        ...found(rule.group_id, [...written.map((field) => rule[field]), ...rule.ccis, ...rule.legacy_ids]),
        ...found(rule.group_id, [rule.finding_details, rule.comments, rule.overrides.severity?.reason]),
      ]),
    ]),
  ];
}

/** The beginning of a ckl, before its STIGs: its target, with DISA's key of the first STIG's product. */
export function cklHead(target: Cklb['target_data'], targetKey: string): string {
  const asset = Object.entries(assetNames).map(
    ([name, field]) => [name, String(target[field] ?? '')] as const,
  );
  const webAt = asset.findIndex(([name]) => name === 'WEB_OR_DATABASE');
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!--Gapstone :: ${packageVersion}-->`,
    '<CHECKLIST>',
    '\t<ASSET>',
    ...asset
      .toSpliced(webAt, 0, ['TARGET_KEY', targetKey])
      .map(([name, text]) => `\t\t${element(name, text)}`),
    '\t</ASSET>',
    '\t<STIGS>',
  ];
  return `${lines.join('\n')}\n`;
}

/** The end of a ckl, after its STIGs. */
export const cklEnd = '\t</STIGS>\n</CHECKLIST>';

/** A STIG of a ckl, part by part. */
export function* cklStig(stig: CklbStig, release: StigRelease | undefined): Generator<string> {
  yield '\t\t<iSTIG>\n\t\t\t<STIG_INFO>\n';
  // STIG Viewer omits empty data.
  for (const [name, text] of stigInfo(stig, release)) {
    const data = text === null ? [] : [element('SID_DATA', text)];
    yield `${pair('SI_DATA', element('SID_NAME', name), ...data)}\n`;
  }
  yield '\t\t\t</STIG_INFO>\n';
  for (const rule of stig.rules) yield `${vuln(rule, stig)}\n`;
  yield '\t\t</iSTIG>\n';
}

function stigInfo(stig: CklbStig, release: StigRelease | undefined): [name: string, text: string | null][] {
  return [
    ['version', stig.version],
    ['classification', 'UNCLASSIFIED'],
    ['customname', null],
    ['stigid', stig.stig_id],
    ['description', release?.description ?? ''],
    ['filename', release ? `U_${release.benchmarkId}_${release.version}_Manual-xccdf.xml` : ''],
    ['releaseinfo', stig.release_info],
    ['title', stig.stig_name],
    ['uuid', stig.uuid],
    ['notice', 'terms-of-use'],
    ['source', 'STIG.DOD.MIL'],
  ];
}

function vuln(rule: CklbRule, stig: CklbStig): string {
  // STIG Viewer writes at least two.
  const legacyIds = [...rule.legacy_ids, '', ''].slice(0, Math.max(2, rule.legacy_ids.length));
  const ofRule = {
    ...rule,
    check_content_ref: rule.check_content_ref?.name ?? '',
    classification: rule.classification === 'Unclassified' ? 'Unclass' : rule.classification,
    stig_ref: rule.stig_ref ?? `${stig.stig_name} :: Version ${stig.version}, ${stig.release_info}`,
    target_key: keyOfRule(rule),
  };
  const data: [name: string, text: string][] = [
    ...Object.entries(ruleNames).map(([name, field]): [string, string] => [name, ofRule[field]]),
    ['STIG_UUID', stig.uuid],
    ...legacyIds.map((id): [string, string] => ['LEGACY_ID', id]),
    ...rule.ccis.map((id): [string, string] => ['CCI_REF', id]),
  ];
  const answer: [name: string, text: string][] = [
    ['STATUS', statuses[rule.status]],
    ['FINDING_DETAILS', rule.finding_details],
    ['COMMENTS', rule.comments],
    ['SEVERITY_OVERRIDE', rule.overrides.severity?.severity ?? ''],
    ['SEVERITY_JUSTIFICATION', rule.overrides.severity?.reason ?? ''],
  ];
  return [
    '\t\t\t<VULN>',
    ...data.map(([name, text]) =>
      pair('STIG_DATA', element('VULN_ATTRIBUTE', name), element('ATTRIBUTE_DATA', text)),
    ),
    ...answer.map(([name, text]) => `\t\t\t\t${element(name, text)}`),
    '\t\t\t</VULN>',
  ].join('\n');
}

/** DISA's key of the product; a checklist from a ckl has it under another name than a cklb. */
const keyOfRule = (rule: CklbRule | undefined) => rule?.target_key ?? rule?.reference_identifier ?? '';

/** DISA's key of the product of a STIG: that of its first rule. */
export const targetKeyOf = (stig: CklbStig | undefined) => keyOfRule(stig?.rules[0]);

function pair(name: string, ...elements: string[]): string {
  const lines = [`<${name}>`, ...elements.map((each) => `\t${each}`), `</${name}>`];
  return lines.map((line) => `\t\t\t\t${line}`).join('\n');
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Replaces carriage returns: XML readers turn them into line feeds. */
function element(name: string, text: string): string {
  const clean = cleanXml(text).replace(/\r\n?/g, '\n');
  return `<${name}>${clean.replace(/[&<>]/g, (each) => escapes[each]!)}</${name}>`;
}
