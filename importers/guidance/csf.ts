import { collapseLine, excerpt } from '../read/source-text.ts';
import type { CsfReference } from './document-record.ts';

/**
 * The categories of the NIST Cybersecurity Framework 2.0 (rule F10.3): code, name, and the words (regular expressions) by
 * which a section is about one (data/REGULATORY.md). Of categories with as many words the upper counts first.
 */
const table = String.raw`
  GV.SC | Cybersecurity Supply Chain Risk Management | supply chain, suppliers?, vendors?, third[- ]part(?:y|ies), contractors?
  GV.RR | Roles, Responsibilities, and Authorities | roles? and responsibilit(?:y|ies), responsible official, accountable, senior (?:agency )?official
  GV.PO | Policy | polic(?:y|ies), procedures?
  GV.RM | Risk Management Strategy | risk (?:management|tolerance|appetite|acceptance)
  GV.OV | Oversight | oversight, progress tracking, status reports?, compliance reports?
  GV.OC | Organizational Context |
  ID.AM | Asset Management | inventor(?:y|ies), assets?, high value
  ID.RA | Risk Assessment | vulnerabilit(?:y|ies), risk assessments?, threats?, disclosure
  ID.IM | Improvement |
  PR.AA | Identity Management, Authentication, and Access Control | authenticat\w+, identit(?:y|ies), passwords?, memorized secrets?, credentials?, access control, sessions?, multi-?factor
  PR.AT | Awareness and Training | training, awareness, educat\w+
  PR.DS | Data Security | encrypt\w*, cryptograph\w+, confidentiality, integrity, data protection, privacy, HTTPS, TLS, STARTTLS
  PR.PS | Platform Security | patch(?:es|ed|ing)?, updat(?:e|es|ed|ing), configur\w+, install\w*, upgrad\w+, remov(?:e|al) of
  PR.IR | Technology Infrastructure Resilience | network devices?, infrastructure, availability, DNS, segmentation, backups?
  DE.CM | Continuous Monitoring | monitor\w*, scan(?:s|ned|ning)?, logs?, logging, audit\w*
  DE.AE | Adverse Event Analysis | anomal\w+, indicators? of compromise, indications? of compromise, suspicious
  RS.MA | Incident Management | incidents?
  RS.AN | Incident Analysis | forensic\w*, investigat\w+
  RS.CO | Incident Response Reporting and Communication | report(?:s|ed|ing)?, notif(?:y|ies|ied|ication)
  RS.MI | Incident Mitigation | remediat\w+, mitigat\w+, disconnect\w*, contain(?:ment)?
  RC.RP | Incident Recovery Plan Execution | recover(?:y|ed|ing)?, rebuild\w*, restor(?:e|ed|ation)
  RC.CO | Incident Recovery Communication |`;

const categories = table
  .trim()
  .split('\n')
  .map((line) => {
    const [code = '', name = '', words = ''] = line.split(/ \| ?/).map((cell) => cell.trim());
    const anyWord = words.split(', ').join('|');
    return { code, name, words: words === '' ? null : new RegExp(`\\b(?:${anyWord})\\b`, 'gi') };
  });

/** The categories of version 1.1 that 2.0 no longer has. */
const former = 'ID.BE ID.GV ID.RM ID.SC PR.AC PR.IP PR.MA PR.PT DE.DP RS.RP RS.IM RC.IM'.split(' ');
const functions = ['GV Govern', 'ID Identify', 'PR Protect', 'DE Detect', 'RS Respond', 'RC Recover'];

const areEqual = (a: string, b: string) => collapseLine(a).toLowerCase() === collapseLine(b).toLowerCase();

const categoryOf = (code: string) => categories.find((category) => category.code === code);

/** The code of a function by code or name; undefined for another text. */
function functionOf(stated: string): string | undefined {
  return functions
    .map((each) => each.split(' '))
    .find((names) => names.some((name) => areEqual(name, stated)))?.[0];
}

function referenceTo(csfCategory: string, csfCategoryName: string): CsfReference {
  return { csfFunction: csfCategory.slice(0, 2), csfCategory, csfCategoryName };
}

const subcategory = /-\d{1,2}$/;

/**
 * Completes a reference from its code or its name, in any case. The code decides: it replaces a
 * function or name that contradicts it, with a warning. A code of CSF 1.1 and an unknown category stay, with a warning.
 */
export function completeCsf(stated: CsfReference): { reference: CsfReference; warnings: string[] } {
  const { csfFunction, csfCategory, csfCategoryName } = stated;
  const statedCode = csfCategory.trim().toUpperCase();
  const byName = categories.find(({ name }) => areEqual(name, csfCategoryName));
  const code = statedCode === '' ? (byName?.code ?? '') : statedCode.replace(subcategory, '');
  const name = categoryOf(code)?.name;
  if (name === undefined && !former.includes(code)) {
    const named = excerpt(csfCategory || csfCategoryName || csfFunction, 20);
    const what = named === '' ? 'a reference does not name' : `"${named}" is not`;
    const functionCode = functionOf(csfFunction) ?? (csfFunction || csfCategory.slice(0, 2));
    return {
      reference: { ...stated, csfFunction: functionCode },
      warnings: [`${what} a category of the CSF`],
    };
  }
  const reference = referenceTo(code, name ?? csfCategoryName);
  const warnings = name === undefined ? [`${code} is a category of CSF 1.1`] : [];
  if (subcategory.test(statedCode))
    warnings.push(`${excerpt(csfCategory, 20)} is a subcategory: its category ${code} is used`);
  if (csfFunction !== '' && functionOf(csfFunction) !== reference.csfFunction)
    warnings.push(`${code} is of the function ${reference.csfFunction}, not "${excerpt(csfFunction, 20)}"`);
  if (csfCategoryName !== '' && !areEqual(csfCategoryName, reference.csfCategoryName))
    warnings.push(`${code} is "${name}", not "${excerpt(csfCategoryName)}"`);
  return { reference, warnings };
}

/** At most three categories, the most frequent first, then in table order. Words of the heading count three times. */
export function categoriesOf(heading: string, body: string): CsfReference[] {
  const count = (text: string, words: RegExp | null) => (words && text.match(words)?.length) ?? 0;
  return categories
    .map((each) => ({ ...each, hits: 3 * count(heading, each.words) + count(body, each.words) }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, 3)
    .map(({ code, name }) => referenceTo(code, name));
}
