import { oscalNamespace, stableId } from '../../base/ids.ts';
import { items } from '../../base/text.ts';
import {
  type OscalResource,
  oneLine,
  oscalDocument,
  oscalMetadata,
  ownProp,
  prop,
} from '../../http/oscal-parts.ts';
import {
  assignmentText,
  type ObjectivePart,
  type StoredAssessment,
  selectionText,
  shownLabel,
} from './assessment-record.ts';
import type { ExportedCatalog, ExportedControl } from './export.ts';
import { isNistBaseline, versionKey } from './frameworks.ts';
import { familyCodeOf, oscalId } from './identifier.ts';
import type { StatementPart } from './schema.ts';

/** Marks a catalog as ours: the import uses its texts unchanged. */
export const renderedProp = { name: 'prose', ns: oscalNamespace, value: 'rendered' };
/** Marks an active control of which the catalog has facts but no statement. */
export const textlessProp = { name: 'text', ns: oscalNamespace, value: 'not-held' };
/** Marks a statement that the catalog has as one text, without parts. */
export const wholeProp = { name: 'text', ns: oscalNamespace, value: 'whole' };
/** The names of our properties: of a catalog, and of a control what OSCAL has no word for. */
export const ownNames = {
  framework: 'framework',
  version: 'version',
  /** The older release that has the text. */
  textFrom: 'text-from',
  familyCode: 'family-code',
  requirementType: 'requirement-type',
  macLevel: 'mac-level',
  confidentialityLevel: 'confidentiality-level',
  impactCode: 'impact-code',
  cciStatus: 'cci-status',
} as const;

/** The name of our property with an id that OSCAL does not allow as one. */
export const idName = 'part-id';
/** The name of our property with the words of a parameter that its label or choices do not give. */
export const shownName = 'shown';

/** NIST's namespace of its properties of SP 800-53. */
const rmf = 'http://csrc.nist.gov/ns/rmf';

const publications: Record<string, string> = {
  'nist-800-53': 'NIST Special Publication 800-53 Revision',
  'nist-800-171': 'NIST Special Publication 800-171 Revision',
  'dod-8500': 'IA controls of',
  cci: 'DISA Control Correlation Identifiers of',
};

/** `5.1.1` of the label `Rev 5.1.1`. */
const bareVersion = (version: string) => version.replace(/^Rev /, '');

/** OSCAL titles have one line. */
const withoutBreaks = (text: string) => items(text, '\n').join(' ');

/** The title of a version of a framework in references. */
export function publicationOf(framework: string, version: string): string {
  const publication = publications[framework];
  return oneLine(publication ? `${publication} ${bareVersion(version)}` : `${framework} ${version}`);
}

/** NIST's own files have more than ours: references, and parameters inside texts. */
const nistFiles: Record<string, string> = {
  'nist-800-53 5': 'SP800-53/rev5/json/NIST_SP-800-53_rev5_catalog.json',
  'nist-800-53 4': 'SP800-53/rev4/json/NIST_SP-800-53_rev4_catalog.json',
  'nist-800-171 3': 'SP800-171/rev3/json/NIST_SP800-171_rev3_catalog.json',
};

/** The resource for a catalog in a document, with the address of NIST's file where there is one. */
export function catalogResource(framework: string, version: string): OscalResource {
  const file = nistFiles[`${framework} ${versionKey(framework, version)}`];
  const href = `https://raw.githubusercontent.com/usnistgov/oscal-content/main/nist.gov/${file}`;
  return {
    uuid: stableId('oscal-catalog', framework, version),
    title: publicationOf(framework, version),
    props: [...ownProp(ownNames.framework, framework), ...ownProp(ownNames.version, version)],
    ...(file === undefined ? {} : { rlinks: [{ href, 'media-type': 'application/oscal+json' }] }),
  };
}

/** An object without its empty texts and lists, which OSCAL does not allow. */
const withoutEmpty = (members: object) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value.length !== 0));

/** One version of a framework as an OSCAL catalog (rule D30.1). */
export function toCatalog({ framework, version, changed, controls }: ExportedCatalog): object {
  const known = new Set(controls.map(({ identifier }) => identifier));
  const enhancements = Map.groupBy(controls, ({ identifier }) => baseOf(framework, identifier, known));
  const write = (control: ExportedControl): object =>
    withoutEmpty({
      ...toControl(framework, control),
      controls: (enhancements.get(control.identifier) ?? []).map(write),
    });
  const families = Map.groupBy(enhancements.get('') ?? [], (control) => familyOf(framework, control));
  const groups = [...families]
    .filter(([title]) => title !== '')
    .map(([title, members]) =>
      withoutEmpty({
        id: groupId(framework, members[0]!),
        class: 'family',
        title,
        controls: members.map(write),
      }),
    );
  const metadata = oscalMetadata(publicationOf(framework, version), bareVersion(version), changed, {
    props: [renderedProp, ...ownProp(ownNames.framework, framework), ...ownProp(ownNames.version, version)],
    remarks:
      'Made by Gapstone from its catalog: parameters are text, as in "[Assignment: organization-defined ...]". It does not replace the publisher’s own file.',
  });
  return oscalDocument(
    'catalog',
    withoutEmpty({ metadata, groups, controls: (families.get('') ?? []).map(write) }),
    [catalogResource(framework, version)],
  );
}

/** The control that a control of 800-53 enhances; `""` for none. */
function baseOf(framework: string, identifier: string, known: Set<string>): string {
  const base = framework === 'nist-800-53' ? identifier.replace(/\(\d+\)$/, '') : identifier;
  return base !== identifier && known.has(base) ? base : '';
}

/** A control of 800-53 without a family title has the code. */
function familyOf(framework: string, { family, identifier }: ExportedControl): string {
  return withoutBreaks(family) || (framework === 'nist-800-53' ? familyCodeOf(framework, identifier) : '');
}

/** A family code of letters; `""` for a number, which OSCAL does not allow as an id. */
function groupId(framework: string, { identifier }: ExportedControl): string {
  const code = familyCodeOf(framework, identifier).toLowerCase();
  return /^[a-z]+$/.test(code) ? code : '';
}

function toControl(framework: string, control: ExportedControl): object {
  const { identifier, title, status, statement, guidance, related, withdrawnInto } = control;
  const id = oscalId(framework, identifier);
  const link = (rel: string) => (target: string) => ({ href: `#${oscalId(framework, target)}`, rel });
  const isTextless = status === 'active' && statement === '' && control.statementParts.length === 0;
  // Without a published title the identifier, as NIST has it in 800-171.
  const shown = withoutBreaks(title) || identifier;
  const isRestored = title === (shown === identifier ? '' : shown);
  return withoutEmpty({
    id,
    class: framework === 'nist-800-53' ? `SP800-53${identifier.includes('(') ? '-enhancement' : ''}` : '',
    title: shown,
    props: [
      ...prop('label', identifier),
      ...(framework === 'nist-800-53' ? prop('sort-id', sortId(id)) : []),
      ...(status === 'withdrawn' ? prop('status', 'withdrawn') : []),
      ...(isTextless ? [textlessProp] : []),
      ...ownProp(ownNames.textFrom, control.textFrom),
      ...ownProp(ownNames.requirementType, control.requirementType ?? ''),
      ...control.macLevels.flatMap((level) => ownProp(ownNames.macLevel, level)),
      ...control.confidentialityLevels.flatMap((level) => ownProp(ownNames.confidentialityLevel, level)),
      ...ownProp(ownNames.impactCode, control.impactCode ?? ''),
      ...(framework === 'cci' ? ownProp(ownNames.cciStatus, control.familyCode) : []),
    ],
    params: toParameters(control.assessment),
    links: [...related.map(link('related')), ...withdrawnInto.map(link('incorporated-into'))],
    parts: [
      ...statementOf(id, control),
      ...(guidance === '' ? [] : [{ id: `${id}_gdn`, name: 'guidance', prose: guidance }]),
      ...toAssessmentParts(id, identifier, control.assessment),
      ...(isRestored ? [] : ownPart('title', title)),
      ...(framework === 'cci' ? [] : ownPart(ownNames.familyCode, control.familyCode)),
      ...ownPart('threat', control.threat),
      ...ownPart('resources', control.resources),
    ],
  });
}

/** `ac-02.03`: padded numbers sort as text. */
function sortId(id: string): string {
  return id.replace(/\d+/g, (digits) => digits.padStart(2, '0'));
}

function ownPart(name: string, prose: string): object[] {
  return prose === '' ? [] : [{ name, ns: oscalNamespace, prose }];
}

/** The lead of a statement with its items, or the whole text of a statement without parts. */
function statementOf(id: string, { statement, statementParts }: ExportedControl): object[] {
  const [first, ...rest] = statementParts;
  if (!first) return statement === '' ? [] : [{ name: 'statement', props: [wholeProp], prose: statement }];
  const isLead = first.label === '' && first.prose !== '' && first.parts.length === 0;
  const parts = isLead ? rest : statementParts;
  const lead = isLead ? first : { id: `${id}_smt`, label: '', prose: '' };
  return [toPart('statement', { ...lead, parts })];
}

function toPart(name: string, { id, label, prose, parts }: StatementPart): object {
  return withoutEmpty({
    id: isToken(id) ? id : '',
    name,
    props: [...prop('label', label), ...(isToken(id) ? [] : ownProp(idName, id))],
    prose,
    parts: parts.map((part) => toPart('item', part)),
  });
}

/** A baseline of a version as an OSCAL profile of its active controls (rules D30.1, D31). */
export function toProfile(
  { framework, version, changed, controls }: ExportedCatalog,
  { name, title, values }: NonNullable<ExportedCatalog['baseline']>,
): object {
  const resource = catalogResource(framework, version);
  const impact = name === 'privacy' ? 'PRIVACY BASELINE' : `${name.toUpperCase()} IMPACT BASELINE`;
  const shown = isNistBaseline(name) ? `${publicationOf(framework, version)} ${impact}` : title;
  const ids = controls.map(({ identifier }) => oscalId(framework, identifier));
  const settings = values
    .filter(({ parameter }) => isToken(parameter))
    .map(({ parameter, value }) => ({ 'param-id': parameter, constraints: [{ description: value }] }));
  return oscalDocument(
    'profile',
    {
      metadata: oscalMetadata(shown, bareVersion(version), changed),
      imports: [{ href: `#${resource.uuid}`, 'include-controls': [{ 'with-ids': ids }] }],
      merge: { 'as-is': true },
      ...(settings.length === 0 ? {} : { modify: { 'set-parameters': settings } }),
    },
    [resource],
  );
}

/** Parameters of a control as OSCAL has them (rule D37.4). */
function toParameters({ parameters = [] }: Partial<StoredAssessment>): object[] {
  return parameters.map((parameter) => {
    const { id, label, text, choices, howMany, aggregates = [], published, stated = [] } = parameter;
    const isMany = howMany === 'one-or-more';
    const own = published ?? shownLabel(text);
    const rebuilt = howMany === null ? assignmentText(own) : selectionText(choices, isMany);
    const props = [
      ...prop('label', label, { class: 'sp800-53a' }),
      ...aggregates.flatMap((each) => prop('aggregates', each, { ns: rmf })),
      ...(isToken(id) ? [] : ownProp(idName, id)),
      ...(rebuilt === text ? [] : ownProp(shownName, text)),
    ];
    return withoutEmpty({
      id: isToken(id) ? id : tokenOf(id),
      props,
      ...(howMany === null
        ? { label: own }
        : { select: { ...(isMany && { 'how-many': howMany }), choice: choices } }),
      values: stated,
    });
  });
}

/** Objectives and methods of a control as parts; `id` is that of the control. */
function toAssessmentParts(
  id: string,
  identifier: string,
  { objectives = [], methods = [] }: Partial<StoredAssessment>,
): object[] {
  // NIST gives some objectives the id of another; OSCAL allows an id once.
  const given = new Set<string>();
  const toObjective = ({ id, label, prose, part, parts }: ObjectivePart): object => {
    const isId = isToken(id) && !given.has(id);
    given.add(id);
    return withoutEmpty({
      id: isId ? id : '',
      name: 'assessment-objective',
      props: [...prop('label', label, { class: 'sp800-53a' }), ...(isId ? [] : ownProp(idName, id))],
      prose,
      links: part === undefined ? [] : [{ href: itemOf(identifier, part), rel: 'assessment-for' }],
      parts: parts.map(toObjective),
    });
  };
  return [
    ...objectives.map(toObjective),
    ...methods.map(({ method, objects }, index) =>
      withoutEmpty({
        id:
          methods.findIndex((each) => each.method === method) === index
            ? `${id}_asm-${method.toLowerCase()}`
            : '',
        name: 'assessment-method',
        props: prop('method', method, { ns: rmf }),
        parts: objects.length === 0 ? [] : [{ name: 'assessment-objects', prose: objects.join('\n\n') }],
      }),
    ),
  ];
}

/** The item of 800-171 that a part names: `c 2` of 03.01.01 is `#SR-03.01.01.c.02`. */
function itemOf(identifier: string, part: string): string {
  const words = items(part, ' ').map((word) => word.replace(/^\d$/, '0$&'));
  return `#${[`SR-${identifier}`, ...words].join('.')}`;
}

/** Whether OSCAL allows a text as an id. */
const isToken = (text: string) => /^[\p{L}_][\p{L}\p{N}.\-_]*$/u.test(text);

/** Converts an identifier to a valid OSCAL token. */
const tokenOf = (id: string) => `_${id.replace(/[^\p{L}\p{N}.\-_]/gu, '_')}`;
