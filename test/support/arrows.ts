import { dirname } from 'node:path';

/** The room of a source file: its folder, or the file itself at the top of src. */
export function roomOf(path: string): string {
  return dirname(path) === 'src' ? path.replace(/\.tsx?$/, '') : dirname(path);
}

/** A line for each room, which goes on where it begins with more blanks: the room, and the rooms that it uses. */
const table = `
  importers: importers/controls importers/crosswalk importers/guidance importers/guidance/roles
      importers/read importers/stigs src/base src/db src/read
  importers/controls: importers/read src/base src/catalog/controls src/db src/read
  importers/crosswalk: importers/controls importers/read src/catalog/controls src/catalog/crosswalk src/db
      src/read
  importers/guidance: importers/read src/base src/catalog/guidance src/db src/read
  importers/guidance/roles: importers/controls importers/guidance importers/read importers/stigs src/base
      src/catalog/guidance src/db src/read
  importers/read: src/base src/read
  importers/stigs: importers/read src/base src/catalog/controls src/catalog/stigs src/db src/read
  src/app: src/audit src/auth src/base src/catalog src/catalog/controls src/catalog/crosswalk
      src/catalog/guidance src/catalog/search src/catalog/stigs src/checklists src/collections src/db
      src/http src/http/cache src/http/limits src/http/observe src/mcp src/openapi src/services
      src/site/account src/site/changes src/site/checklists src/site/content src/site/controls
      src/site/guidance src/site/help src/site/lists src/site/parts src/site/rules src/site/search
      src/site/stigs
  src/audit: src/base src/db
  src/auth: src/base src/db src/read
  src/base:
  src/catalog: src/auth src/base src/db src/http src/http/observe
  src/catalog/controls: src/base src/db src/http
  src/catalog/crosswalk: src/auth src/base src/catalog/controls src/catalog/stigs src/db src/http
  src/catalog/guidance: src/base src/db src/http
  src/catalog/search: src/base src/catalog/controls src/catalog/stigs src/db src/http
  src/catalog/stigs: src/base src/db src/http
  src/checklists: src/base src/catalog/controls src/catalog/stigs src/db src/http src/read
  src/cli: src/base src/commands src/runtime
  src/collections: src/auth src/base src/catalog/controls src/catalog/guidance src/catalog/stigs src/db
      src/http
  src/commands: importers importers/crosswalk importers/stigs src/app src/audit src/auth src/base
      src/catalog src/catalog/controls src/catalog/crosswalk src/catalog/stigs src/checklists
      src/collections src/content src/db src/http src/http/cache src/http/limits src/http/observe src/mcp
      src/read src/server src/services src/site/checklists src/site/content
  src/content: importers importers/guidance importers/guidance/roles importers/stigs src/base
      src/catalog/crosswalk src/collections src/db
  src/db: src/base
  src/http: src/audit src/auth src/base src/db src/http/limits src/http/observe
  src/http/cache: src/auth src/base src/http src/http/limits src/http/observe
  src/http/limits: src/base
  src/http/observe: src/base src/http/limits
  src/mcp: src/auth src/base src/catalog/controls src/catalog/crosswalk src/catalog/search src/collections
      src/http src/services
  src/openapi: src/base src/catalog/crosswalk src/http
  src/read:
  src/runtime: src/base
  src/server: src/base src/http src/http/cache src/http/limits src/http/observe
  src/services: src/catalog src/catalog/controls src/catalog/crosswalk src/catalog/guidance
      src/catalog/search src/catalog/stigs src/checklists src/collections src/db
  src/site/account: src/auth src/base src/http src/site/parts
  src/site/changes: src/base src/catalog/stigs src/http src/services src/site/parts
  src/site/checklists: src/base src/catalog/stigs src/checklists src/http src/http/limits src/services
      src/site/parts
  src/site/content: src/base src/catalog src/catalog/controls src/catalog/stigs src/collections src/http
      src/services src/site/parts
  src/site/controls: src/base src/catalog/controls src/catalog/crosswalk src/catalog/stigs src/http
      src/services src/site/parts
  src/site/guidance: src/base src/catalog/guidance src/collections src/http src/services src/site/parts
  src/site/help: src/base src/http src/site/parts
  src/site/lists: src/auth src/base src/catalog/stigs src/collections src/http src/services src/site/parts
  src/site/parts: src/auth src/base src/http
  src/site/rules: src/base src/catalog/crosswalk src/catalog/guidance src/catalog/stigs src/http
      src/services src/site/parts
  src/site/search: src/auth src/base src/catalog/controls src/catalog/search src/catalog/stigs src/http
      src/services src/site/parts
  src/site/stigs: src/base src/catalog/guidance src/catalog/stigs src/http src/services src/site/parts
`;

/** Which rooms a room uses. What the structure test holds every import against, and what ARCHITECTURE.md draws. */
export const arrows: Record<string, string[]> = Object.fromEntries(
  table
    .trim()
    .split(/\n(?! {3})/)
    .map((line) =>
      line
        .trim()
        .split(/:?\s+|:$/)
        .filter(Boolean),
    )
    .map(([room, ...used]) => [room!, used]),
);

/** The arrows as a Mermaid flowchart, without those that a longer way makes plain. */
export function picture(): string {
  const name = (room: string) => room.replace(/^src\//, '');
  const reaches = (from: string, to: string): boolean =>
    arrows[from]!.some((next) => next === to || reaches(next, to));
  const lines = Object.keys(arrows).flatMap((room) =>
    arrows[room]!.filter((to) => !arrows[room]!.some((other) => other !== to && reaches(other, to))).map(
      (to) => `  ${name(room)} --> ${name(to)}`,
    ),
  );
  return ['```mermaid', 'flowchart TD', ...lines, '```'].join('\n');
}
