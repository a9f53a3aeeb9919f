import { TLSSocket } from 'node:tls';
import { SignInRefused } from '../auth/sign-in-refused.ts';
import { badRequest } from '../base/errors.ts';

/** The certificate of the other side of a connection, DER, also of a resumed TLS session; null without one. */
export function certificateOfPeer(socket: object): Uint8Array | null {
  return socket instanceof TLSSocket ? (socket.getPeerX509Certificate()?.raw ?? null) : null;
}

/**
 * The certificate in a proxy's header (rule D43.2): PEM, url-encoded or with its line ends as blanks; null for an empty
 * header. Throws 400 for two, and `SignInRefused` for anything else.
 */
export function certificateOfHeader(value: string | undefined): Uint8Array | null {
  if (value === undefined || value.trim() === '') return null;
  // Two headers arrive joined by a comma, which PEM does not have.
  if (value.includes(',')) throw badRequest('The proxy sent two client certificates');
  const [, base64] =
    /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/.exec(decoded(value)) ??
    [];
  if (base64 === undefined) throw new SignInRefused('CERTIFICATE_MALFORMED');
  return Buffer.from(base64, 'base64');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new SignInRefused('CERTIFICATE_MALFORMED');
  }
}
