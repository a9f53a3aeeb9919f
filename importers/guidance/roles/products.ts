import { compareCodePoints } from '../../../src/base/text.ts';
import type { OccupationRecord } from './role-record.ts';

/** How well a product of O*NET fits the title of a STIG. */
export type Fit = 'product' | 'family';

/** One occupation's word about a product. */
export interface Usage {
  occupationCode: string;
  hotTechnology: boolean;
  inDemand: boolean;
  commodityCode: string;
}

/** A product of an O*NET release. */
export interface Product {
  /** Its name as O*NET spells it. */
  example: string;
  /** The commodity that the first of its users names. */
  commodityCode: string;
  /** Those of candidates alone, in the order of their codes. */
  usages: Usage[];
}

/** A product that a title names. */
export interface ProductMatch extends Product {
  fit: Fit;
}

/**
 * Names that titles use and O*NET does not, in folded form: how the title says it, the technology example of O*NET, and
 * whether that is the product itself or the family it belongs to. A table of ours.
 */
const aliases: [RegExp, string, Fit][] = [
  [/\bwindows server\b/, 'Microsoft Windows Server', 'product'],
  [/\bwindows (?:7|8|8 1|10|11|xp|vista)\b/, 'Microsoft Windows', 'product'],
  [/\bsql server\b/, 'Microsoft SQL Server', 'product'],
  [/\bsharepoint\b/, 'Microsoft SharePoint', 'product'],
  [/\bexchange\b/, 'Microsoft Exchange', 'product'],
  [/\bactive directory\b/, 'Microsoft Active Directory', 'product'],
  [
    /\biis\b|\binternet information (?:services|server)\b/,
    'Microsoft Internet Information Services (IIS)',
    'product',
  ],
  [/\b(?:dotnet|net) framework\b/, 'Microsoft .NET Framework', 'product'],
  [/\bmicrosoft office\b|\boffice (?:system )?(?:20\d\d|365)\b/, 'Microsoft Office software', 'product'],
  [/\boutlook\b/, 'Microsoft Outlook', 'product'],
  [/\bpowerpoint\b/, 'Microsoft PowerPoint', 'product'],
  [/\binternet explorer\b/, 'Microsoft Internet Explorer', 'product'],
  [/\bchrome\b/, 'Google Chrome', 'product'],
  [/\bfirefox\b/, 'Mozilla Firefox', 'product'],
  [/\brhel\b|\bred hat (?:enterprise )?linux\b/, 'Red Hat Enterprise Linux', 'product'],
  [/\bopenshift\b/, 'Red Hat OpenShift', 'product'],
  [/\b(?:sles|suse|alma ?linux|rocky|centos|amazon linux|oracle linux|toss|photon)\b/, 'Linux', 'family'],
  [/\bjboss\b/, 'Red Hat WildFly', 'family'],
  [/\bsolaris\b/, 'Oracle Solaris', 'product'],
  [/\b(?:aix|hp ux)\b/, 'UNIX', 'family'],
  [/\bmac ?os(?: x)?\b|\bos x\b/, 'Apple macOS', 'product'],
  [/\bapple i(?:pad)?os\b/, 'Apple iOS', 'product'],
  [/\bandroid\b|\bknox\b/, 'Google Android', 'product'],
  [/\boracle (?:database )?\d+(?: ?[cg])?\b/, 'Oracle Database', 'product'],
  [/\b(?:jre|java runtime)\b/, 'Oracle Java', 'product'],
  [/\bmongodb\b/, 'MongoDB', 'product'],
  [/\bdb2\b/, 'IBM DB2', 'product'],
  [/\b(?:esxi?|vsphere|vcenter)\b/, 'VMware', 'family'],
  [/\bxen(?:desktop|app)\b/, 'Citrix cloud computing software', 'family'],
  [/\bz ?os\b/, 'IBM z/OS operating systems', 'product'],
  [/\bracf\b/, 'IBM Resource Access Control Facility RACF', 'product'],
  [/\bcisco\b/, 'Cisco IOS', 'family'],
  [/\bpalo alto\b/, 'Palo Alto Networks Next-Generation Security Platform', 'family'],
  [/\bfirewall\b/, 'Firewall software', 'family'],
  [
    /\bv?voip\b|\bvoice over internet protocol\b/,
    'Voice over internet protocol VoIP system software',
    'family',
  ],
  [/\bwebsphere\b/, 'IBM WebSphere', 'product'],
  [/\bweblogic\b/, 'Oracle WebLogic Server', 'product'],
  [/\b(?:apache (?:http )?(?:server )?2|apache server)\b/, 'Apache HTTP Server', 'product'],
];

/** Examples that are families: a title with a maker's name before it means a member of the family. */
const families = new Set(['linux', 'unix']);

/** Words that are examples of O*NET and everyday words of titles too. */
const everyday = new Set('access core edge enterprise instance microsoft oracle policy server'.split(' '));

const suffix =
  /\b(?:security technical implementation guides?|security requirements guides?|stig policies|stig|srg)\b/g;

const longestPhrase = 8;

/** A title in the form that products are looked for in: folded, one blank between words, without what all titles end with. */
export function foldTitle(title: string): string {
  return foldName(title).replace(suffix, ' ').replace(/ +/g, ' ').trim().replace(/^ms /, 'microsoft ');
}

function foldName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9+#]+/g, ' ')
    .trim();
}

/** The products of an O*NET release by their folded names, with the usages by those occupations that are candidates. */
export function productsOf(
  occupations: OccupationRecord[],
  isCandidate: (occupationCode: string) => boolean,
): Map<string, Product> {
  const byName = new Map<string, Product>();
  for (const { occupationCode, technologySkills } of occupations) {
    for (const { example, hotTechnology, inDemand, commodityCode } of technologySkills) {
      const name = foldName(example);
      const product = byName.get(name) ?? { example, commodityCode, usages: [] };
      byName.set(name, product);
      // One spelling for all, whichever row comes first.
      if (compareCodePoints(example, product.example) < 0) product.example = example;
      if (isCandidate(occupationCode))
        product.usages.push({ occupationCode, hotTechnology, inDemand, commodityCode });
    }
  }
  return byName;
}

/** The products that a folded title names: the longest phrase that is one, and what the aliases lead to. */
export function findProducts(
  title: string,
  productOf: (name: string) => Product | undefined,
): ProductMatch[] {
  const found = new Map<string, ProductMatch>();
  const add = (name: string, fit: Fit) => {
    const product = productOf(name);
    if (!product) return;
    const known = found.get(name);
    if (!known || (known.fit === 'family' && fit === 'product')) found.set(name, { ...product, fit });
  };
  const phrase = longestProduct(title, productOf);
  if (phrase !== null) add(phrase, families.has(phrase) && title !== phrase ? 'family' : 'product');
  for (const [pattern, example, fit] of aliases) if (pattern.test(title)) add(foldName(example), fit);
  return [...found.values()].sort((a, b) => compareCodePoints(a.example, b.example));
}

/** The longest run of words that is the name of a product; of two of one length the first. */
function longestProduct(title: string, productOf: (name: string) => Product | undefined): string | null {
  const words = title.split(' ');
  for (let length = Math.min(longestPhrase, words.length); length > 0; length--) {
    for (let from = 0; from + length <= words.length; from++) {
      const phrase = words.slice(from, from + length).join(' ');
      if (isName(phrase) && productOf(phrase) !== undefined) return phrase;
    }
  }
  return null;
}

/** Whether a phrase of a title is fit to be taken for the name of a product. */
function isName(phrase: string): boolean {
  if (/ (?:software|systems?|tools?|applications?|programs?|language)$/.test(phrase)) return false;
  return phrase.includes(' ') || (phrase.length >= 4 && !everyday.has(phrase) && /[a-z]{3}/.test(phrase));
}
