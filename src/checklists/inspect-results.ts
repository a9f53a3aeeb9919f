import { plainRuleId } from '../base/rule-ids.ts';
import type { IdentifiedRelease, StatedRelease } from '../catalog/stigs/identify.ts';
import { createFindings, headOf, type InspectedStig, unknownStig } from './inspect.ts';
import { inspectTarget } from './inspect-target.ts';
import { createRuleFinder } from './results-match.ts';
import { statusOf } from './results-outcome.ts';
import type { ScanResults } from './results-reader.ts';
import { otherStig, shortList } from './stig-names.ts';

/** The release that the results of a scan name, for the look-up in the catalog. */
export function statedOfResults(scan: ScanResults): StatedRelease {
  return {
    benchmarkIds: scan.benchmarkId === '' ? [] : [scan.benchmarkId],
    ruleIds: scan.results.map(({ id }) => id),
    benchmarkDate: scan.benchmarkDate,
    release: scan.release,
  };
}

/** Inspects the results of a scan: their release, and what a checklist made of them would lack. */
export function inspectResults(scan: ScanResults, release: IdentifiedRelease | null): InspectedStig {
  const { findings, add } = createFindings();
  const { hostName, ipAddress, macAddress, fqdn } = scan.target;
  const target = { host_name: hostName, ip_address: ipAddress, mac_address: macAddress, fqdn };
  for (const [code, message] of inspectTarget(target)) add(code, message);
  const answered = new Set<string>();
  const rules = new Set(scan.results.map(({ id }) => plainRuleId(id)));
  const find = release && createRuleFinder(release);
  if (!release) add('unknown-stig', unknownStig(scan.benchmarkId.slice(0, 64)));
  else {
    const other = otherStig(scan.benchmarkId, release);
    if (other !== null) add('other-stig', other);
    const { version } = release.target.release;
    const current = release.current.release.version;
    if (version !== current) add('old-release', `${version} is not the current release, ${current}`);
  }
  for (const result of scan.results) {
    if (statusOf(result.result) !== 'not_reviewed') answered.add(plainRuleId(result.id));
    if (!find) continue;
    const match = find.rule(result);
    const { version } = release!.target.release;
    if (match === null)
      add('unknown-rule', `${version} has no rule ${result.id.slice(0, 64)}: ${result.result.slice(0, 64)}`);
    else if (match.matchedBy !== 'ruleId')
      add(
        'other-revision',
        `The rule is ${result.id.slice(0, 64)}, in ${version} it is ${match.row.ruleId}`,
        match.row.groupId,
      );
  }
  for (const [id, results] of Map.groupBy(scan.results, (each) => each.id)) {
    const words = shortList(results.map(({ result }) => result));
    if (results.length > 1)
      add('repeated-rule', `${id.slice(0, 64)} has ${results.length} results: ${words}`);
  }
  return { ...headOf(release), rules: rules.size, answered: answered.size, findings };
}
