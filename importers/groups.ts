import { basename, dirname } from 'node:path';
import { sha256 } from '../src/base/ids.ts';
import { compareCodePoints } from '../src/base/text.ts';
import { headOf } from '../src/read/decode.ts';
import { onetFileOf } from './guidance/roles/onet-tables.ts';
import type { GroupFile } from './read/parsed.ts';

/** Files of one folder, in an archive or not, that are one source (rules D9.1 b, D9.2). */
export interface Group {
  kind: 'onet' | 'regdoc-markdown';
  source: string;
  sha256: string;
  content: GroupFile[];
  /** Another file of the folder cannot be read: the source may be incomplete. */
  isSpoiled: boolean;
}

interface OpenGroup {
  kind: Group['kind'];
  folder: string;
  source: string;
  files: Map<string, GroupFile & { sha256: string }>;
}

export type Groups = ReturnType<typeof createGroups>;

/** Collects files that are one source: O*NET tables by header, documents in parts by file names (D9.1). `paths` are all files. */
export function createGroups(paths: string[]) {
  const foldersOf = (name: RegExp) =>
    new Set(paths.filter((path) => name.test(basename(path))).map((path) => dirname(path)));
  const covers = foldersOf(/^cover\.md$/);
  const documents = new Set([...foldersOf(/^sec.*\.md$/)].filter((folder) => covers.has(folder)));
  const spoiled = new Set<string>();
  const open = new Map<string, OpenGroup>();

  return {
    /** Takes a file of a group; false for others. `source` names the folder in the ledger. */
    take(path: string, source: string, bytes: Buffer): boolean {
      const folder = dirname(path);
      const isPart = path.endsWith('.md') && documents.has(folder);
      const table = isPart ? null : onetFileOf(headOf(bytes, 1024));
      if (!isPart && table === null) return false;
      const kind = isPart ? 'regdoc-markdown' : 'onet';
      const key = `${kind} ${folder}`;
      const group = open.get(key) ?? { kind, folder, source, files: new Map() };
      open.set(key, group);
      const name = basename(path);
      const stored = table === 'other' ? Buffer.alloc(0) : bytes;
      if (!group.files.has(name)) group.files.set(name, { name, bytes: stored, sha256: sha256(bytes) });
      return true;
    },

    /** Marks the groups in the folder of a file that cannot be read. */
    spoil(path: string): void {
      spoiled.add(dirname(path));
    },

    /** The groups of the collected files. */
    found(): Group[] {
      return [...open.values()].map(({ kind, folder, source, files }) => {
        const content = [...files.values()].sort((a, b) => compareCodePoints(a.name, b.name));
        return {
          kind,
          source,
          sha256: sha256(content.map((file) => `${file.name}\0${file.sha256}\n`).join('')),
          content,
          isSpoiled: spoiled.has(folder),
        };
      });
    },
  };
}
