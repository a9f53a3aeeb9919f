import { dirname } from 'node:path';

/** The room of a source file: its folder, or the file itself at the top of src. */
export function roomOf(path: string): string {
  return dirname(path) === 'src' ? path.replace(/\.tsx?$/, '') : dirname(path);
}

/** Which rooms a room uses. What the structure test holds every import against, and what ARCHITECTURE.md draws. */
export const arrows: Record<string, string[]> = {
  importers: [
    'importers/controls',
    'importers/crosswalk',
    'importers/guidance',
    'importers/guidance/roles',
    'importers/read',
    'importers/stigs',
    'src/base',
    'src/db',
  ],
  'importers/controls': ['importers/read', 'src/base', 'src/catalog/controls', 'src/db'],
  'importers/crosswalk': [
    'importers/controls',
    'importers/read',
    'src/catalog/controls',
    'src/catalog/crosswalk',
    'src/db',
  ],
  'importers/guidance': ['importers/read', 'src/base', 'src/catalog/guidance', 'src/db'],
  'importers/guidance/roles': [
    'importers/controls',
    'importers/guidance',
    'importers/read',
    'importers/stigs',
    'src/base',
    'src/catalog/guidance',
    'src/db',
  ],
  'importers/read': ['src/base'],
  'importers/stigs': ['importers/read', 'src/base', 'src/catalog/controls', 'src/catalog/stigs', 'src/db'],
  'src/app': [
    'src/audit',
    'src/auth',
    'src/base',
    'src/catalog',
    'src/catalog/controls',
    'src/catalog/crosswalk',
    'src/catalog/guidance',
    'src/catalog/search',
    'src/catalog/stigs',
    'src/checklists',
    'src/collections',
    'src/db',
    'src/http',
    'src/http/cache',
    'src/http/limits',
    'src/http/observe',
    'src/openapi',
    'src/site',
    'src/site/html',
  ],
  'src/audit': ['src/base', 'src/db'],
  'src/auth': ['src/audit', 'src/base', 'src/db'],
  'src/base': [],
  'src/catalog': ['src/auth', 'src/base', 'src/db', 'src/http', 'src/http/observe'],
  'src/catalog/controls': ['src/base', 'src/db', 'src/http'],
  'src/catalog/crosswalk': [
    'src/auth',
    'src/base',
    'src/catalog/controls',
    'src/catalog/stigs',
    'src/db',
    'src/http',
  ],
  'src/catalog/guidance': ['src/base', 'src/db', 'src/http'],
  'src/catalog/search': [
    'src/auth',
    'src/base',
    'src/catalog/controls',
    'src/catalog/stigs',
    'src/db',
    'src/http',
  ],
  'src/catalog/stigs': ['src/base', 'src/db', 'src/http'],
  'src/checklists': ['importers/read', 'src/base', 'src/catalog/stigs', 'src/http'],
  'src/cli': ['src/base', 'src/commands', 'src/db', 'src/runtime'],
  'src/collections': [
    'src/auth',
    'src/base',
    'src/catalog/controls',
    'src/catalog/guidance',
    'src/catalog/stigs',
    'src/db',
    'src/http',
  ],
  'src/commands': [
    'importers',
    'importers/crosswalk',
    'importers/stigs',
    'src/app',
    'src/audit',
    'src/auth',
    'src/base',
    'src/catalog',
    'src/catalog/controls',
    'src/catalog/crosswalk',
    'src/catalog/stigs',
    'src/checklists',
    'src/collections',
    'src/content',
    'src/db',
    'src/http',
    'src/http/cache',
    'src/http/limits',
    'src/http/observe',
    'src/server',
    'src/site',
    'src/site/html',
  ],
  'src/content': [
    'importers',
    'importers/guidance',
    'importers/guidance/roles',
    'importers/stigs',
    'src/base',
    'src/catalog/crosswalk',
    'src/collections',
    'src/db',
  ],
  'src/db': ['src/base'],
  'src/http': ['src/audit', 'src/auth', 'src/base', 'src/db', 'src/http/limits', 'src/http/observe'],
  'src/http/cache': ['src/auth', 'src/http', 'src/http/limits', 'src/http/observe'],
  'src/http/limits': ['src/base'],
  'src/http/observe': ['src/base', 'src/http/limits'],
  'src/openapi': ['src/base', 'src/catalog/crosswalk', 'src/http'],
  'src/runtime': ['src/base'],
  'src/server': ['src/base', 'src/http', 'src/http/cache', 'src/http/limits', 'src/http/observe'],
  'src/site': [
    'src/auth',
    'src/base',
    'src/catalog',
    'src/catalog/controls',
    'src/catalog/crosswalk',
    'src/catalog/guidance',
    'src/catalog/search',
    'src/catalog/stigs',
    'src/checklists',
    'src/collections',
    'src/http',
    'src/http/limits',
    'src/site/html',
  ],
  'src/site/html': [
    'src/base',
    'src/catalog',
    'src/catalog/crosswalk',
    'src/catalog/guidance',
    'src/catalog/search',
    'src/catalog/stigs',
    'src/checklists',
    'src/collections',
    'src/http',
  ],
};

/** The longest chain of rooms that begins at a room. Throws where a chain comes back to a room that it left. */
export function longestChain(room: string, before: string[] = []): string[] {
  if (before.includes(room)) throw new Error(`a cycle of rooms: ${[...before, room].join(' > ')}`);
  const chains = arrows[room]!.map((other) => longestChain(other, [...before, room]));
  return [room, ...chains.reduce((longest, each) => (each.length > longest.length ? each : longest), [])];
}

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
