import { basename, dirname } from 'node:path';
import { sha256 } from '../src/base/ids.ts';
import { compareCodePoints } from '../src/base/text.ts';
import { headOf } from '../src/read/decode.ts';
import { onetFileOf } from './guidance/roles/onet-tables.ts';
import type { GroupFile } from './read/group-file.ts';

interface HeldFile extends GroupFile {
  sha256: string;
}

export type GroupKind = 'onet' | 'regdoc-markdown';

/** Files of one folder, in an archive or not, that are one source (rules D9.1 b, D9.2). */
export interface Group {
  type: 'group';
  kind: GroupKind;
  source: string;
  sha256: string;
  files: GroupFile[];
}

/** A source that cannot be read, or is skipped. */
export interface Unreadable {
  type: 'unreadable';
  source: string;
  reason: string;
  outcome: 'skipped' | 'rejected';
}

/** Collects files that are one source: O*NET tables by header, documents in parts by file names (D9.1). */
export class Groups {
  private readonly documents: Set<string>;
  private readonly spoiled = new Set<string>();
  private readonly open = new Map<string, { kind: GroupKind; source: string; files: HeldFile[] }>();

  /** `paths` are all files. */
  constructor(paths: string[]) {
    const foldersOf = (name: RegExp) =>
      new Set(paths.filter((path) => name.test(basename(path))).map((path) => dirname(path)));
    const covers = foldersOf(/^cover\.md$/);
    this.documents = new Set([...foldersOf(/^sec.*\.md$/)].filter((folder) => covers.has(folder)));
  }

  /** Takes a file of a group; false for others. `source` names the folder in the ledger. */
  take(path: string, source: string, bytes: Buffer): boolean {
    const isPart = path.endsWith('.md') && this.documents.has(dirname(path));
    const table = isPart ? null : onetFileOf(headOf(bytes, 1024));
    if (!isPart && table === null) return false;
    const kind = isPart ? 'regdoc-markdown' : 'onet';
    const key = `${kind} ${dirname(path)}`;
    const group = this.open.get(key) ?? { kind, source, files: [] };
    this.open.set(key, group);
    const name = basename(path);
    if (group.files.some((file) => file.name === name)) return true;
    group.files.push({
      name,
      bytes: table === 'other' ? Buffer.alloc(0) : bytes,
      sha256: sha256(bytes),
    });
    return true;
  }

  /** Rejects the group of a file that cannot be read: it would be incomplete. */
  spoil(path: string): void {
    this.spoiled.add(dirname(path));
  }

  /** Returns the groups of the collected files and clears them. */
  found(): (Group | Unreadable)[] {
    const found = [...this.open].map(([key, { kind, source, files }]): Group | Unreadable => {
      if (this.spoiled.has(key.slice(kind.length + 1))) {
        const reason = 'a file of this folder cannot be read, so the source is incomplete';
        return { type: 'unreadable', source, reason, outcome: 'rejected' };
      }
      files.sort((a, b) => compareCodePoints(a.name, b.name));
      const hash = sha256(files.map((file) => `${file.name}\0${file.sha256}\n`).join(''));
      return { type: 'group', kind, source, sha256: hash, files };
    });
    this.open.clear();
    return found;
  }
}
