/** A citation in its parts: the slug of a STIG or the key of a framework, its release, and an id in it. */
export interface Citation {
  name: string;
  version: string;
  /** Null where it cites the release as a whole. */
  id: string | null;
}

/** The longest citation that is read. */
export const longestCitation = 500;

// A framework of a site may have these characters in its name or version.
const escapedPart = (text: string) => text.replace(/[%@#]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
const plainPart = (text: string) =>
  text.replace(/%(25|40|23)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** The citation of a release, or of an id in it: `slug@V2R8#SV-257777r991589_rule` (rule D41.4). */
export function citation(name: string, version: string, id?: string): string {
  return `${escapedPart(name)}@${escapedPart(version)}${id === undefined ? '' : `#${id}`}`;
}

/** Reads a citation; null for any other text. */
export function readCitation(text: string): Citation | null {
  const [, name, version, id] = /^([^@#]+)@([^@#]+)(?:#(.+))?$/s.exec(text.trim()) ?? [];
  if (name === undefined || version === undefined) return null;
  return { name: plainPart(name).trim(), version: plainPart(version).trim(), id: id?.trim() || null };
}
