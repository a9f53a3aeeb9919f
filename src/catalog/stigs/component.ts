import { stableId } from '../../base/ids.ts';
import { compareCodePoints, count } from '../../base/text.ts';
import {
  type OscalResource,
  oneLine,
  oscalDocument,
  oscalMetadata,
  ownProp,
} from '../../http/oscal-parts.ts';
import type { FindingRow, FullRelease } from './queries.ts';

/** A control that a CCI addresses: its id in OSCAL, its place in the catalog, and whether only Rev 4 says so. */
interface AddressedControl {
  cci: string;
  id: string;
  order: string;
  carriedOver: boolean;
}

/** The controls of 800-53 that CCIs address, with the catalog and the CCI list. */
export type AddressedControls = (ccis: string[]) => {
  catalog: OscalResource;
  cciList: string;
  controls: AddressedControl[];
};

/** A release as an OSCAL component-definition (rule D30.1): each rule is a set of properties, as trestle reads them. */
export function toComponentDefinition(
  { release, findings }: FullRelease,
  addressed: AddressedControls,
): object {
  const key = [release.slug, release.version];
  const { catalog, cciList, controls } = addressed([...new Set(findings.flatMap(({ ccis }) => ccis))]);
  const rulesOf = (ways: AddressedControl[]) =>
    findings.filter(({ ccis }) => ways.some(({ cci }) => ccis.includes(cci)));
  const mapped = new Set(rulesOf(controls));
  const width = Math.max(3, String(findings.length - 1).length);
  const requirements = [...Map.groupBy(controls, ({ id }) => id).values()]
    .sort(([a], [b]) => compareCodePoints(a!.order, b!.order))
    .map((ways) => toRequirement(key, ways, rulesOf(ways)));
  const implementation = {
    uuid: stableId('oscal-implementation', ...key),
    source: `#${catalog.uuid}`,
    description: `The controls that the rules address through the CCIs they cite (DISA CCI list of ${cciList}). A rule is evidence for a part of a control.`,
    'implemented-requirements': requirements,
  };
  const title = oneLine(release.title) || release.slug;
  const component = {
    uuid: stableId('oscal-component', ...key),
    type: 'validation',
    title,
    description: `The rules of ${title}, ${release.version}.`,
    props: [
      ...ownProp('stig-slug', release.slug),
      ...ownProp('benchmark-id', release.benchmarkId),
      ...findings.filter((row) => !mapped.has(row)).flatMap(({ ruleId }) => ownProp('unmapped', ruleId)),
      ...findings.flatMap((row, index) => ruleSet(row, `rule_set_${String(index).padStart(width, '0')}`)),
    ],
    ...(requirements.length > 0 && { 'control-implementations': [implementation] }),
  };
  const metadata = oscalMetadata(title, release.version, release.releaseDate);
  return oscalDocument(
    'component-definition',
    { metadata, components: [component] },
    requirements.length === 0 ? [] : [catalog],
  );
}

function ruleSet(row: FindingRow, set: string) {
  return [
    ...ownProp('Rule_Id', row.ruleId, set),
    ...ownProp('Rule_Description', row.ruleTitle, set),
    ...ownProp('group-id', row.groupId, set),
    ...ownProp('stig-id', row.ruleVersion, set),
    ...ownProp('severity', row.severity, set),
    ...row.ccis.flatMap((cci) => ownProp('cci', cci, set)),
  ];
}

function toRequirement(key: string[], ways: AddressedControl[], rules: FindingRow[]): object {
  const { id } = ways[0]!;
  return {
    uuid: stableId('oscal-requirement', ...key, id),
    'control-id': id,
    description: count(rules.length, 'rule'),
    props: [
      ...rules.flatMap(({ ruleId }) => ownProp('Rule_Id', ruleId)),
      // The CCI has no reference to Rev 5: its reference to Rev 4 was carried over.
      ...ways.filter(({ carriedOver }) => carriedOver).flatMap(({ cci }) => ownProp('rev-4-reference', cci)),
    ],
  };
}
