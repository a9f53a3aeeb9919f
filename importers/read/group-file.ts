/** One file of a source that is made of several. */
export interface GroupFile {
  /** Without its folder. */
  name: string;
  /** Empty for a table of O*NET that is not read: a release has large ones. */
  bytes: Buffer;
}
