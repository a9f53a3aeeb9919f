import type { Manifest } from './manifest.ts';

/** A key whose signature is taken, and the channel that it may sign; the `name` null is one given on the command line. */
export interface TrustedKey {
  name: string | null;
  /** Null: any channel. */
  channel: string | null;
  fingerprint: string;
  /** PEM. */
  publicKey: string;
}

/** A bundle of which everything was checked that can be checked without the catalog of this site. */
export interface VerifiedBundle {
  file: string;
  /** SHA-256 over manifest.json: the very bundle. */
  id: string;
  bytes: number;
  manifest: Manifest;
  signer: TrustedKey;
  /** A line for each thing that stops nothing: it expired, it is from the future. */
  warnings: string[];
  /** Where each part of the manifest was unpacked to, in that order; empty without `unpackTo`. */
  unpacked: string[];
}

/**
 * Opens a bundle (of several pieces: the first, or the name without its number) and checks it in one pass: signature and
 * channel before anything else of it is believed, then every byte. With `unpackTo`, a folder that is ours alone, its parts
 * are unpacked there meanwhile (`catalog.db`, or `<index>/<file>`, mode 0600), of use only once this function returned.
 * Throws `CommandError` with one line.
 */
export function readBundle(
  _file: string,
  _keys: TrustedKey[],
  _options: { now: Date; unpackTo?: string },
): Promise<VerifiedBundle> {
  throw new Error('not yet');
}

/** The manifest of a bundle whose signature nobody looks at: what a difference is built against. Throws `CommandError`. */
export function readUnverified(_file: string): Promise<{ id: string; manifest: Manifest }> {
  throw new Error('not yet');
}
