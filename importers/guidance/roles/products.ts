import { compareCodePoints } from '../../../src/base/text.ts';
import type { OccupationRecord } from './role-record.ts';

/** How a product of O*NET fits the title of a STIG. */
export type Fit = 'product' | 'family';

/** One occupation's use of a product. */
export interface Usage {
  occupationCode: string;
  hotTechnology: boolean;
  inDemand: boolean;
  commodityCode: string;
}

/** A product of an O*NET release. */
export interface Product {
  example: string;
  commodityCode: string;
  /** Only candidates, in order of their codes. */
  usages: Usage[];
}

export interface ProductMatch extends Product {
  fit: Fit;
}

/** Our table of names in folded titles: the O*NET example, and whether it is the product or its family. */
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

/** In a title with a maker's name these mean a member of the family. */
const families = new Set(['linux', 'unix']);

/** O*NET has products with these names, but titles use them as common words. */
const everyday = new Set('access core edge enterprise instance microsoft oracle policy server'.split(' '));

const suffix =
  /\b(?:security technical implementation guides?|security requirements guides?|stig policies|stig|srg)\b/g;

const longestPhrase = 8;

/** Folds a title for the search for products, without the ending that all titles have. */
export function foldTitle(title: string): string {
  return foldName(title).replace(suffix, ' ').replace(/ +/g, ' ').trim().replace(/^ms /, 'microsoft ');
}

function foldName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9+#]+/g, ' ')
    .trim();
}

/** The products of an O*NET release by folded name; only candidates are among the usages. */
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
      // One spelling, whatever the order of the rows.
      if (compareCodePoints(example, product.example) < 0) product.example = example;
      if (isCandidate(occupationCode))
        product.usages.push({ occupationCode, hotTechnology, inDemand, commodityCode });
    }
  }
  return byName;
}

/** The products in a folded title: the longest phrase that is one, and those of the aliases. */
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

function isName(phrase: string): boolean {
  if (/ (?:software|systems?|tools?|applications?|programs?|language)$/.test(phrase)) return false;
  return phrase.includes(' ') || (phrase.length >= 4 && !everyday.has(phrase) && /[a-z]{3}/.test(phrase));
}
