import { citation } from '../../base/citation.ts';
import { cut } from '../../base/text.ts';
import type { ControlService } from '../controls/queries.ts';
import { Missing } from './spelled.ts';

type Controls = Pick<ControlService, 'find' | 'findVersion' | 'versions'>;

/** Whether a version of a framework is imported, or any. */
export const isImported = (controls: Controls, framework: string, version?: string): boolean =>
  controls.findVersion(framework, version) !== null;

/** The newest version that has a control. */
const lastWith = (controls: Controls, framework: string, id: string) =>
  controls.versions(framework).find((each) => controls.find(framework, id, each.version))?.version;

/** The citation of a control in the version that is served, or in the newest that has it. */
export function citeControl(controls: Controls, framework: string, identifier: string): string {
  const served = controls.find(framework, identifier)?.version;
  const any = () => controls.versions(framework)[0]?.version ?? '';
  return citation(framework, served ?? lastWith(controls, framework, identifier) ?? any(), identifier);
}

/** Why a control is not there. */
export function missingControl(
  controls: Controls,
  framework: string,
  id: string,
  version: string | undefined,
): Missing {
  if (!isImported(controls, framework))
    return new Missing('not_imported', `No catalog of ${cut(framework)} is imported`);
  if (!isImported(controls, framework, version))
    return new Missing('not_imported', `${cut(version ?? '')} of ${framework} is not in this catalog`, {
      imported: controls.versions(framework).map((each) => each.version),
    });
  const last = lastWith(controls, framework, id);
  if (last === undefined)
    return new Missing('unknown_id', `No version of ${cut(framework)} in this catalog has ${cut(id)}`);
  const cite = citation(framework, last, controls.find(framework, id, last)!.identifier);
  return new Missing('removed', `${version ?? 'The served version'} does not have it. ${last} has it`, {
    last: { framework, version: last, cite },
    next: { tool: 'get_control', arguments: { id: cite } },
  });
}
