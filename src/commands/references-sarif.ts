import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageVersion } from '../base/root.ts';
import { type FileReference, referenceStates } from '../checklists/reference-schema.ts';

const meanings = {
  changed: 'The rule has a newer revision',
  removed: 'No newest release has the rule',
  withdrawn: 'The control is withdrawn',
  deprecated: 'The CCI is deprecated',
  unknown: 'The id is in no source',
};
type Reported = keyof typeof meanings;

const states = referenceStates.filter((state): state is Reported => state !== 'current');

/** SARIF 2.1.0 of what is not current (rule D39.2). */
export function sarifOf(found: FileReference[]) {
  const results = found.flatMap((each) => {
    const ruleIndex = states.indexOf(each.state as Reported);
    return ruleIndex < 0 ? [] : [resultOf(each, each.state as Reported, ruleIndex)];
  });
  const rules = states.map((id) => ({ id, shortDescription: { text: meanings[id] } }));
  const driver = { name: 'Gapstone', version: packageVersion, rules };
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
}

function resultOf(each: FileReference, state: Reported, ruleIndex: number) {
  const { file, line, column, text, advice } = each;
  const region = { startLine: line, startColumn: column, endColumn: column + text.length };
  const said = `${text}: ${meanings[state]}${advice === null ? '' : `. ${advice}`}`;
  return {
    ruleId: state,
    ruleIndex,
    level: state === 'unknown' || state === 'removed' ? 'error' : 'warning',
    message: { text: said },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, region } }],
  };
}

/** A path as a URI, relative where the path is. */
const uriOf = (file: string) =>
  isAbsolute(file) ? pathToFileURL(file).href : file.split(/[\\/]/).map(encodeURIComponent).join('/');
