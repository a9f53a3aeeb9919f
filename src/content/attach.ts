import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, syncPath } from '../base/files.ts';
import { bytesBefore, crcOf, directory, localHeader, statedCrc } from '../base/zip.ts';
import { bundleId, memberOf, readManifest } from './manifest.ts';
import { createPieces, openPieces } from './pieces.ts';
import { longestSignature, readFront } from './read-bundle.ts';
import { isSignedBy, type PublicKey } from './signing-keys.ts';

type SigningKey = PublicKey & { name: string | null };

/**
 * Adds a signature made elsewhere (DER, over the bytes of manifest.json) to an unsigned bundle, in place. One of the
 * keys must have made it. Gives that key and the bundle's id. Throws `CommandError`, and then the bundle is unchanged.
 */
export function attachSignature(
  file: string,
  signature: Buffer,
  keys: SigningKey[],
): { id: string; key: SigningKey } {
  using reader = openPieces(file);
  const { name, pieces } = reader;
  if (pieces > 0)
    throw new CommandError(`${name} is split into ${pieces} pieces: sign a bundle before you split it`);
  const front = readFront(reader);
  if (front.signature.length > 0) throw new CommandError(`${name} is signed already`);
  if (signature.length > longestSignature)
    throw new CommandError('the signature is no ECDSA signature in DER of a P-384 key: it is too long');
  const key = keys.find(({ publicKey }) => isSignedBy(publicKey, front.bytes, signature));
  if (key === undefined)
    throw new CommandError(`no given or trusted key made this signature over manifest.json of ${name}`);
  const manifest = readManifest(front.bytes, name);
  const [first, second] = front.members;
  const signed = { ...second!, bytes: signature.length, crc: crcOf(signature) };
  const members = [first!, signed];
  inPrivateFolder(file, (temporary) => {
    const pieces = createPieces(temporary, null);
    pieces.write(Buffer.concat([localHeader(first!), front.bytes, localHeader(signed), signature]));
    for (const [index, part] of manifest.parts.entries()) {
      const member = memberOf(part, index);
      const header = reader.read(bytesBefore({ name: member }));
      members.push({ name: member, bytes: part.bytes, crc: statedCrc(header) });
      pieces.write(header);
      for (const chunk of reader.chunks(part.bytes)) pieces.write(chunk);
    }
    pieces.write(directory(members));
    pieces.close();
    renameSync(temporary, file);
    syncPath(dirname(file));
  });
  return { id: bundleId(front.bytes), key };
}
