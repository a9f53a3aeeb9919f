import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { exchangeFolder, hasExchange } from './reference.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents of every model
type Json = any;

const schemas: Record<string, string> = {
  catalog: 'catalog',
  profile: 'profile',
  'component-definition': 'component',
  'mapping-collection': 'mapping',
};
const validators = new Map<string, ValidateFunction>();

function validatorOf(model: string): ValidateFunction {
  const known = validators.get(model);
  if (known) return known;
  const ajv = new Ajv({ strict: false, unicodeRegExp: true, allErrors: true });
  formats.default(ajv);
  const file = join(exchangeFolder, 'oscal', 'schemas', `oscal_${schemas[model]}_schema.json`);
  const made = ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
  validators.set(model, made);
  return made;
}

/**
 * What is wrong with an OSCAL document: by NIST's schema where that is here, and by what no schema checks: every uuid and id
 * once, and every reference to something in the document.
 */
export function oscalProblems(document: Json): string[] {
  const models = Object.keys(document);
  const [model] = models as [string];
  if (models.length !== 1 || !(model in schemas)) return [`no model of OSCAL: ${models.join()}`];
  const problems: string[] = [];
  if (hasExchange) {
    const validate = validatorOf(model);
    if (!validate(document))
      problems.push(...validate.errors!.slice(0, 5).map((each) => `${each.instancePath} ${each.message}`));
  }
  const body = document[model];
  const seen = new Set<string>();
  const uuids = new Set<string>();
  const ids = new Set<string>();
  const targets: string[] = [];
  walk(body, (node, key) => {
    if (typeof node.uuid === 'string' && uuids.size === uuids.add(node.uuid).size) seen.add(node.uuid);
    if (typeof node.id === 'string' && ids.size === ids.add(node.id).size) seen.add(node.id);
    for (const name of ['href', 'source'])
      if (typeof node[name] === 'string' && node[name].startsWith('#')) targets.push(node[name].slice(1));
    if (Array.isArray(node) && node.length === 0) problems.push(`${key} is empty`);
  });
  problems.push(...[...seen].map((each) => `${each} occurs twice`));
  problems.push(
    ...targets.filter((each) => !uuids.has(each) && !ids.has(each)).map((each) => `#${each} is nowhere`),
  );
  return problems;
}

function walk(node: Json, visit: (node: Json, key: string) => void, key = ''): void {
  if (typeof node !== 'object' || node === null) return;
  visit(node, key);
  for (const [name, value] of Object.entries(node)) walk(value, visit, name);
}

/** All controls of a catalog, however deep. */
export function controlsOf(document: Json): Json[] {
  const below = (node: Json): Json[] =>
    [...(node.controls ?? []), ...(node.groups ?? [])].flatMap((each: Json) => [each, ...below(each)]);
  return below(document.catalog).filter((each) => each.class !== 'family');
}

/** The values of the properties of a name, in their order. */
export function valuesOf(props: { name: string; value: string }[] | undefined, name: string): string[] {
  return (props ?? []).filter((each) => each.name === name).map(({ value }) => value);
}
