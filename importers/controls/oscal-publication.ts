import { partOfItem } from '../../src/catalog/controls/assessment-record.ts';
import { isPublished, longestFramework, longestIdentifier } from '../../src/catalog/controls/frameworks.ts';
import {
  canonicalIdentifier,
  familyCodeOf,
  identifierOfOscalId,
} from '../../src/catalog/controls/identifier.ts';
import { ownNames } from '../../src/catalog/controls/oscal.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import { isRendered, ownPropOf } from './oscal-document.ts';
import type { OscalMetadata, OscalParameter, OscalPart, OscalProperty } from './oscal-shape.ts';

/** A framework in one of its versions; `edition` orders the files of a version. */
export interface OscalRelease {
  framework: string;
  version: string;
  edition: string;
  warnings: string[];
}

/** A publication, and how its catalogs write what each publisher writes in its own way. */
export interface Publication extends OscalRelease {
  /** The published identifier of a control. Throws `ImportError` for another id. */
  identifierOf(control: { id: string; props?: OscalProperty[] }): string;
  /** The published title; `""` where there is none. */
  titleOf(title: string, identifier: string): string;
  /** The published family; `title` is that of the group. */
  familyOf(title: string, identifier: string): string;
  parameterLabelOf(parameter: OscalParameter): string;
  /** The label of a part of a statement. */
  partLabelOf(part: OscalPart): string;
  /** The id of a statement, where it is not that of the file. */
  statementIdOf?(identifier: string): string;
  /** Whether an active control without a statement is a fault. */
  hasStatements: boolean;
  /** The title of a framework of a site's own. */
  frameworkTitle?: string;
  /** An export of ours. */
  isOwn?: boolean;
}

/** The publication of a catalog; `name` is the operator's for one that is none of NIST's. Throws `ImportError`. */
export function publicationOf(metadata: OscalMetadata, name?: string): Publication {
  const own = isRendered(metadata) ? ownPropOf(metadata.props, ownNames.framework) : undefined;
  if (own !== undefined) return ownExport(metadata, isPublished(own) ? own : (name ?? own));
  if (is80053(metadata)) return sp80053(metadata);
  return is800171(metadata) ? sp800171('3', editionOf(metadata)) : anyPublication(metadata, name);
}

const usual = {
  titleOf: (title: string, _identifier: string) => collapseLine(title),
  familyOf: (title: string, _identifier: string) => collapseLine(title),
  parameterLabelOf: ({ label, usage, props }: OscalParameter) =>
    props.find(({ name }) => name === 'alt-label')?.value ?? (label || collapseLine(usage)),
  /** Without a leading zero. */
  partLabelOf: ({ props }: OscalPart) => labelIn(props).replace(/^(\(?)0+(?=\d)/, '$1'),
  hasStatements: true,
};

/** The published label: not that of SP 800-53A, and of several the one without a class. */
function labelIn(props: OscalProperty[]): string {
  const labels = props.filter((each) => each.name === 'label' && each.class !== 'sp800-53a');
  return (labels.find((each) => each.class === undefined) ?? labels[0])?.value.trim() ?? '';
}

/** Where a catalog has the identifier for the title of a control without one. */
const titleUnlessIdentifier = (title: string, identifier: string) => (title === identifier ? '' : title);

/** An export of ours (rule D30.1). */
function ownExport(metadata: OscalMetadata, framework: string): Publication {
  const edition = editionOf(metadata);
  return {
    framework,
    version: ownPropOf(metadata.props, ownNames.version) ?? '',
    warnings: [],
    // OSCAL requires a time: our exports have this one if no source states any.
    edition: edition.startsWith('1970-01-01') ? '' : edition,
    ...usual,
    isOwn: true,
    identifierOf({ id }) {
      const identifier = identifierOfOscalId(framework, id);
      if (identifier === null) throw new ImportError(`"${excerpt(id)}" is not an id of ${framework}`);
      return identifier;
    },
    titleOf: titleUnlessIdentifier,
    /** An export writes the letters of 800-53 for a missing family. */
    familyOf: (title, identifier) =>
      framework === 'nist-800-53' && title === familyCodeOf(framework, identifier) ? '' : title,
    partLabelOf: ({ props }) => props.find((each) => each.name === 'label')?.value ?? '',
  };
}

/** True for metadata with a title of SP 800-53 or 800-53B (the baselines). */
export function is80053({ title }: OscalMetadata): boolean {
  return /\b(?:SP|Special Publication) ?800-53B?\b/i.test(title);
}

function sp80053(metadata: OscalMetadata): Publication {
  return {
    ...release80053(metadata),
    ...usual,
    /** The id gives the identifier: labels differ between files. */
    identifierOf({ id }) {
      const identifier = /^[a-z]{2}-\d+(\.\d+)?$/.test(id) ? canonicalIdentifier('nist-800-53', id) : null;
      if (identifier === null) throw new ImportError(`"${excerpt(id)}" is not an id of 800-53`);
      return identifier;
    },
  };
}

function is800171({ props }: OscalMetadata): boolean {
  return props.some(
    ({ name, value }) => name === 'framework-version-identifier' && /^SP_800_171_3_\d+_\d+$/.test(value),
  );
}

/** SP 800-171, of which identifiers of Rev 3 begin with a zero. */
export function sp800171(revision: string, edition: string): Publication {
  return {
    framework: 'nist-800-171',
    version: `Rev ${revision}`,
    edition,
    warnings: [],
    ...usual,
    identifierOf({ id }) {
      const identifier = identifierOfOscalId('nist-800-171', id);
      if (identifier === null || identifier.startsWith('0') !== (revision === '3'))
        throw new ImportError(`"${excerpt(id)}" is not a requirement of 800-171 Rev ${revision}`);
      return identifier;
    },
    /** A withdrawn requirement has its number as its title. */
    titleOf: (title, identifier) => titleUnlessIdentifier(collapseLine(title), identifier),
    /** The usage has the published wording; the label is shortened or empty. */
    parameterLabelOf: ({ label, usage }) => collapseLine(usage) || label.trim(),
    /** `SR-03.01.01.c` has `c.`, `SR-03.01.01.c.02` has `2.`. */
    partLabelOf({ id }) {
      const last = partOfItem(id).split(' ').at(-1);
      return last ? `${last}.` : '';
    },
    statementIdOf: (identifier) => (revision === '3' ? `SR-${identifier}` : identifier),
  };
}

/** Any other publication (rule D40.1): its labels are its identifiers. */
function anyPublication(metadata: OscalMetadata, name?: string): Publication {
  const { stem, number } = titleAndVersion(metadata.title);
  const framework = name ?? hyphenated(stem);
  const what = `the title "${excerpt(metadata.title)}"`;
  if (framework === '')
    throw new ImportError(`${what} gives the framework no name: give one with --framework`);
  if (isPublished(framework))
    throw new ImportError(`${what} would name it as one of the published: give a name with --framework`);
  const version = number || collapseLine(metadata.version);
  if (version === '')
    throw new ImportError(`neither the title nor the version of the catalog states a revision`);
  return {
    framework,
    version: excerpt(version, 100),
    edition: editionOf(metadata),
    warnings: [],
    frameworkTitle: excerpt(collapseLine(metadata.title), 300),
    ...usual,
    hasStatements: false,
    identifierOf({ id, props = [] }) {
      const identifier = idInBrackets(labelIn(props), id) || id;
      if (identifier.length <= longestIdentifier) return identifier;
      throw new ImportError(`"${excerpt(identifier)}..." has more than ${longestIdentifier} characters`);
    },
  };
}

/** A label, or the id in brackets at its end: `Organizational Context (GV.OC)` is GV.OC, `AC-2 (1)` stays. */
function idInBrackets(label: string, id: string): string {
  const [, before = '', inside = ''] = /^(.*\S)\s+\(([^()\s]+)\)$/s.exec(label) ?? [];
  const letters = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const isId =
    inside !== '' &&
    (letters(inside) === letters(id) ||
      (/\p{L}$/u.test(before) && /\p{L}/u.test(inside) && /[\p{N}\p{Lu}]/u.test(inside)));
  return collapseLine(isId ? inside : label);
}

const versionWord = '(?:(?:v|version|rev|revision|release|edition)\\.?\\s?)?';
const versionNumber = '(\\d{1,3}(?:\\.\\d{1,4}){1,4}|\\d{1,2}|(?:19|20)\\d\\d)';
const endingVersion = new RegExp(
  `(?:[\\s,:]${versionWord}${versionNumber}|\\s\\(${versionWord}${versionNumber}\\))$`,
  'i',
);

/** A title without the version at its end: `v4.0`, `Revision 3`, `(2.0)`, `:2022`; `27001` is none. */
export function titleAndVersion(title: string): { stem: string; number: string } {
  const text = excerpt(title, 300);
  const match = endingVersion.exec(text);
  return { stem: text.slice(0, match?.index), number: match?.[1] ?? match?.[2] ?? '' };
}

/** Words in lower case with hyphens between, as frameworks and baselines are called. */
export function hyphenated(text: string): string {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu);
  return [...(words ?? []).join('-')].slice(0, longestFramework).join('').replace(/-$/, '');
}

/**
 * The release of an 800-53 file (rule F5.1): `Rev 5.1.1` from `5.1.1` or `5.1.1+u4`, and from the title if the version
 * is a date, as in Rev 4. Throws `ImportError` without a revision or a time.
 */
export function release80053(metadata: OscalMetadata): OscalRelease {
  const stated = /^(?:rev\.? ?)?([5-9](?:\.\d{1,3}){0,3})(?:\+\w+)?(-\w+)?$/i.exec(metadata.version.trim());
  const titled = /\bRev(?:ision|\.)? ?(\d(?:\.\d{1,3}){0,3})\b/i.exec(metadata.title);
  const number = stated?.[1] ?? titled?.[1];
  if (number === undefined)
    throw new ImportError(
      `neither the version "${excerpt(metadata.version)}" nor the title names a revision of 800-53`,
    );
  const warnings = stated?.[2] ? [`the version is ${stated[0]}, which is not a final release`] : [];
  return {
    framework: 'nist-800-53',
    version: `Rev ${number}`,
    edition: editionOf(metadata),
    warnings,
  };
}

/** The time of a file's last change in UTC. Throws `ImportError` for an invalid time. */
export function editionOf({ 'last-modified': changed }: OscalMetadata): string {
  const time = new Date(changed);
  if (Number.isNaN(time.getTime()))
    throw new ImportError(`last-modified "${excerpt(changed)}" is not a time`);
  return time.toISOString();
}
