import { citation } from '../../base/citation.ts';
import { cut } from '../../base/text.ts';
import type { ControlService } from '../controls/queries.ts';
import { Missing } from './spelled.ts';

/** The citation of a control in the version that is served, or in the newest that has it. */
export function citeControl(controls: ControlService, framework: string, identifier: string): string {
  const version =
    controls.find(framework, identifier)?.version ??
    controls.versionsWith(framework, identifier)[0] ??
    controls.versions(framework)[0]?.version ??
    '';
  return citation(framework, version, identifier);
}

/** Why a control is not there. */
export function missingControl(
  controls: ControlService,
  framework: string,
  id: string,
  version: string | undefined,
): Missing {
  const imported = controls.versions(framework).map((each) => each.version);
  if (imported.length === 0)
    return new Missing('not_imported', `No catalog of ${cut(framework)} is imported`);
  if (controls.findVersion(framework, version) === null)
    return new Missing('not_imported', `${cut(version ?? '')} of ${framework} is not in this catalog`, {
      imported,
    });
  const [last] = controls.versionsWith(framework, id);
  if (last === undefined)
    return new Missing('unknown_id', `No version of ${cut(framework)} in this catalog has ${cut(id)}`);
  const cite = citation(framework, last, controls.find(framework, id, last)!.identifier);
  return new Missing('removed', `${version ?? 'The served version'} does not have it. ${last} has it`, {
    last: { framework, version: last, cite },
    next: { tool: 'get_control', arguments: { id: cite } },
  });
}
