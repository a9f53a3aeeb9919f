/** One file of a source of several files. */
export interface GroupFile {
  name: string;
  /** Empty for a table of O*NET that no importer reads: a release has large ones. */
  bytes: Buffer;
}
