import { collapseLine, excerpt } from '../read/source-text.ts';
import type { CsfReference } from './document-record.ts';

/** The categories of the NIST Cybersecurity Framework 2.0 (rule F10.3). */
const names = new Map([
  ['GV.OC', 'Organizational Context'],
  ['GV.RM', 'Risk Management Strategy'],
  ['GV.RR', 'Roles, Responsibilities, and Authorities'],
  ['GV.PO', 'Policy'],
  ['GV.OV', 'Oversight'],
  ['GV.SC', 'Cybersecurity Supply Chain Risk Management'],
  ['ID.AM', 'Asset Management'],
  ['ID.RA', 'Risk Assessment'],
  ['ID.IM', 'Improvement'],
  ['PR.AA', 'Identity Management, Authentication, and Access Control'],
  ['PR.AT', 'Awareness and Training'],
  ['PR.DS', 'Data Security'],
  ['PR.PS', 'Platform Security'],
  ['PR.IR', 'Technology Infrastructure Resilience'],
  ['DE.CM', 'Continuous Monitoring'],
  ['DE.AE', 'Adverse Event Analysis'],
  ['RS.MA', 'Incident Management'],
  ['RS.AN', 'Incident Analysis'],
  ['RS.CO', 'Incident Response Reporting and Communication'],
  ['RS.MI', 'Incident Mitigation'],
  ['RC.RP', 'Incident Recovery Plan Execution'],
  ['RC.CO', 'Incident Recovery Communication'],
]);

/** The categories of version 1.1 that 2.0 no longer has. */
const former = new Set('ID.BE ID.GV ID.RM ID.SC PR.AC PR.IP PR.MA PR.PT DE.DP RS.RP RS.IM RC.IM'.split(' '));

const functions = new Map([
  ['govern', 'GV'],
  ['identify', 'ID'],
  ['protect', 'PR'],
  ['detect', 'DE'],
  ['respond', 'RS'],
  ['recover', 'RC'],
]);

const key = (name: string) => collapseLine(name).toLowerCase();

const codesByName = new Map([...names].map(([code, name]) => [key(name), code]));

function referenceTo(code: string, name = names.get(code) ?? ''): CsfReference {
  return { csfFunction: code.slice(0, 2), csfCategory: code, csfCategoryName: name };
}

/** The code of a function by code or name; undefined for another text. */
function functionOf(stated: string): string | undefined {
  const code = stated.trim().toUpperCase();
  return [...functions.values()].includes(code) ? code : functions.get(key(stated));
}

const subcategory = /-\d{1,2}$/;

/**
 * Completes a reference from its code or its name, in any case. The code decides: it replaces a
 * function or name that contradicts it, with a warning. A code of CSF 1.1 and an unknown category stay, with a warning.
 */
export function completeCsf({ csfFunction, csfCategory, csfCategoryName }: CsfReference): {
  reference: CsfReference;
  warnings: string[];
} {
  const stated = csfCategory.trim().toUpperCase();
  const code =
    stated === '' ? (codesByName.get(key(csfCategoryName)) ?? '') : stated.replace(subcategory, '');
  const name = names.get(code);
  if (name === undefined && !former.has(code)) {
    const named = excerpt(csfCategory || csfCategoryName || csfFunction, 20);
    return {
      reference: {
        csfFunction: functionOf(csfFunction) ?? (csfFunction || csfCategory.slice(0, 2)),
        csfCategory,
        csfCategoryName,
      },
      warnings: [
        named === ''
          ? 'a reference does not name a category of the CSF'
          : `"${named}" is not a category of the CSF`,
      ],
    };
  }
  const reference = referenceTo(code, name ?? csfCategoryName);
  const warnings = name === undefined ? [`${code} is a category of CSF 1.1`] : [];
  if (subcategory.test(stated))
    warnings.push(`${excerpt(csfCategory, 20)} is a subcategory: its category ${code} is used`);
  if (csfFunction !== '' && functionOf(csfFunction) !== reference.csfFunction)
    warnings.push(`${code} is of the function ${reference.csfFunction}, not "${excerpt(csfFunction, 20)}"`);
  if (csfCategoryName !== '' && key(csfCategoryName) !== key(reference.csfCategoryName))
    warnings.push(`${code} is "${name}", not "${excerpt(csfCategoryName)}"`);
  return { reference, warnings };
}

const words: [string, RegExp][] = [
  ['GV.SC', /\b(?:supply chain|suppliers?|vendors?|third[- ]part(?:y|ies)|contractors?)\b/gi],
  [
    'GV.RR',
    /\b(?:roles? and responsibilit(?:y|ies)|responsible official|accountable|senior (?:agency )?official)\b/gi,
  ],
  ['GV.PO', /\b(?:polic(?:y|ies)|procedures?)\b/gi],
  ['GV.RM', /\brisk (?:management|tolerance|appetite|acceptance)\b/gi],
  ['GV.OV', /\b(?:oversight|progress tracking|status reports?|compliance reports?)\b/gi],
  ['ID.AM', /\b(?:inventor(?:y|ies)|assets?|high value)\b/gi],
  ['ID.RA', /\b(?:vulnerabilit(?:y|ies)|risk assessments?|threats?|disclosure)\b/gi],
  [
    'PR.AA',
    /\b(?:authenticat\w+|identit(?:y|ies)|passwords?|memorized secrets?|credentials?|access control|sessions?|multi-?factor)\b/gi,
  ],
  ['PR.AT', /\b(?:training|awareness|educat\w+)\b/gi],
  [
    'PR.DS',
    /\b(?:encrypt\w*|cryptograph\w+|confidentiality|integrity|data protection|privacy|HTTPS|TLS|STARTTLS)\b/gi,
  ],
  [
    'PR.PS',
    /\b(?:patch(?:es|ed|ing)?|updat(?:e|es|ed|ing)|configur\w+|install\w*|upgrad\w+|remov(?:e|al) of)\b/gi,
  ],
  ['PR.IR', /\b(?:network devices?|infrastructure|availability|DNS|segmentation|backups?)\b/gi],
  ['DE.CM', /\b(?:monitor\w*|scan(?:s|ned|ning)?|logs?|logging|audit\w*)\b/gi],
  ['DE.AE', /\b(?:anomal\w+|indicators? of compromise|indications? of compromise|suspicious)\b/gi],
  ['RS.MA', /\bincidents?\b/gi],
  ['RS.AN', /\b(?:forensic\w*|investigat\w+)\b/gi],
  ['RS.CO', /\b(?:report(?:s|ed|ing)?|notif(?:y|ies|ied|ication))\b/gi],
  ['RS.MI', /\b(?:remediat\w+|mitigat\w+|disconnect\w*|contain(?:ment)?)\b/gi],
  ['RC.RP', /\b(?:recover(?:y|ed|ing)?|rebuild\w*|restor(?:e|ed|ation))\b/gi],
];

/** At most three categories, the most frequent first, then in table order. Words of the heading count three times. */
export function categoriesOf(heading: string, body: string): CsfReference[] {
  const count = (text: string, word: RegExp) => text.match(word)?.length ?? 0;
  return words
    .map(([code, word]) => ({ code, hits: 3 * count(heading, word) + count(body, word) }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, 3)
    .map(({ code }) => referenceTo(code));
}
