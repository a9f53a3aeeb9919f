import type { KeyObject } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { ZipFile } from 'yazl';
import { sha256OfFile } from '../base/files.ts';
import { sha256 } from '../base/ids.ts';
import { packageVersion } from '../base/root.ts';
import { printable } from '../base/text.ts';
import { type Connection, connect, connectReadOnly } from '../db/connect.ts';
import { copyDatabase, requireRoom, writeNewFile } from '../db/copy.ts';
import { digestOf } from '../db/digest.ts';
import { newestSchema } from '../db/schema.ts';
import { catalogName, type Manifest, manifestBytes, manifestName, signatureName } from './manifest.ts';
import { sign } from './signing-keys.ts';

export interface BuildOptions {
  channel: string;
  sequence: number;
  now: Date;
  key: KeyObject;
}

export interface Built {
  file: string;
  bytes: number;
  /** SHA-256 over manifest.json. */
  id: string;
  manifest: Manifest;
}

/** 128 MiB: equal texts in releases of one STIG are further apart than a few megabytes. */
export const windowLog = 27;

/**
 * Builds a bundle of one state of a catalog (rule D32.2): a zip of manifest, signature and the compressed
 * catalog. Throws `CommandError`, also where `out` exists, and then leaves no file behind.
 */
export async function buildBundle(
  catalog: string,
  out: string,
  { channel, sequence, now, key }: BuildOptions,
): Promise<Built> {
  requireRoom(out, statSync(catalog).size);
  return writeNewFile(out, async (temporary) => {
    const copy = join(dirname(temporary), 'catalog.db');
    const state = await copyCatalog(catalog, `${copy}.whole`, copy);
    const compressed = `${copy}.zst`;
    await compress(copy, compressed);
    const manifest: Manifest = {
      format: 'gapstone-bundle-1',
      channel,
      sequence,
      builtAt: now.toISOString(),
      expiresAt: null,
      version: packageVersion,
      schema: newestSchema('catalog'),
      ...state,
      before: null,
      parts: [
        {
          kind: 'catalog',
          bytes: statSync(compressed).size,
          sha256: sha256OfFile(compressed),
          unpacked: statSync(copy).size,
        },
      ],
    };
    const signed = manifestBytes(manifest);
    const zip = new ZipFile();
    zip.once('error', (error) => (zip.outputStream as Readable).destroy(error));
    zip.addBuffer(signed, manifestName, { compress: false });
    zip.addBuffer(sign(signed, key), signatureName, { compress: false });
    zip.addFile(compressed, catalogName, { compress: false });
    zip.end();
    await pipeline(zip.outputStream, createWriteStream(temporary, { flags: 'wx', mode: 0o600 }));
    return { file: out, bytes: statSync(temporary).size, id: sha256(signed), manifest };
  });
}

type State = Pick<Manifest, 'digest' | 'sources' | 'overrides'>;

/** Copies one state of a catalog, without the names of folders, and says what it has; `whole` is a file for its work. */
async function copyCatalog(catalog: string, whole: string, copy: string): Promise<State> {
  {
    using sqlite = connectReadOnly(catalog, 'catalog', { checkUnclean: true });
    await copyDatabase(sqlite, whole);
  }
  using sqlite = connect(whole, 'catalog');
  sqlite.pragma('journal_mode = DELETE');
  sqlite.function('file_name', (source) => basename((source as string).split('!/').at(-1)!));
  sqlite.exec('UPDATE sources SET source = file_name(source)');
  writeLedger(sqlite);
  const digest = digestOf(sqlite);
  sqlite.prepare('UPDATE catalog SET digest = ?, generation = max(generation, 1)').run(digest);
  // The former names are still in free pages. Without INTO the copy would be made in memory.
  sqlite.prepare('VACUUM INTO ?').run(copy);
  return { digest, ...listed(sqlite) };
}

/** Leaves one run in the ledger with a line for each source: reasons and warnings may name folders and other files. */
function writeLedger(sqlite: Connection): void {
  const sources = sqlite.prepare<[], number>('SELECT count(*) FROM sources').pluck().get()!;
  const others = { unchanged: 0, superseded: 0, skipped: 0, rejected: 0, warnings: 0, ms: 0, phases: {} };
  sqlite.exec('DELETE FROM import_ledger; DELETE FROM import_runs');
  sqlite
    .prepare('INSERT INTO import_runs SELECT 1, changed_at, changed_at, 1, ? FROM catalog')
    .run(JSON.stringify({ sources, imported: sources, ...others }));
  sqlite.exec(
    `INSERT INTO import_ledger
     SELECT 1, s.id, s.source, s.kind, s.sha256, 'imported', NULL, '[]', s.target,
            iif(r.id IS NULL, '{}', json_object('rules', r.finding_count, 'high', r.high, 'medium', r.medium, 'low', r.low,
                                                'profiles', r.profile_count)), 0
       FROM sources AS s LEFT JOIN stig_printings AS r ON r.source_id = s.id ORDER BY s.id`,
  );
}

function listed(sqlite: Connection): Omit<State, 'digest'> {
  return {
    sources: sqlite
      .prepare<[], State['sources'][0]>('SELECT sha256, kind, target FROM sources ORDER BY sha256')
      .all()
      .map((source) => ({ ...source, target: source.target && printable(source.target, 300) })),
    overrides: sqlite
      .prepare<[], State['overrides'][0]>(
        'SELECT benchmark_id AS benchmarkId, slug FROM stig_overrides ORDER BY benchmark_id',
      )
      .all(),
  };
}

async function compress(file: string, to: string): Promise<void> {
  const compressor = createZstdCompress({
    params: {
      [constants.ZSTD_c_compressionLevel]: 9,
      [constants.ZSTD_c_windowLog]: windowLog,
      [constants.ZSTD_c_enableLongDistanceMatching]: 1,
    },
  });
  await pipeline(createReadStream(file), compressor, createWriteStream(to, { flags: 'wx', mode: 0o600 }));
}
