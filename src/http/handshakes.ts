import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { plainAddress } from '../base/addresses.ts';
import type { Log } from '../base/log.ts';
import type { Rejected } from './limits.ts';
import { addressKey } from './record.ts';

/** Bytes of a handshake: one with a chain of four certificates takes 8 KB, and half a record of what follows 16 KB. */
const mostOfHandshake = 24 * 1024;
const checkMilliseconds = 250;

const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

/**
 * Closes a connection whose TLS handshake received more than a client needs, with all handshakes of its address, and
 * refuses that address for a minute (rule D43.1): OpenSSL verifies up to 100 KB of certificates before anybody knows
 * who sent them. Gives a function that ends all handshakes.
 */
export function limitHandshakes(server: Server, log: Log, rejected: Rejected): () => void {
  /** The addresses (`addressKey`) that sent too much, for a minute. */
  const refused = new LRUCache<string, true>({ max: 10_000, ttl: 60_000 });
  /** Connections during their handshake, by the client's address and port. */
  const handshaking = new Map<string, Socket>();
  const keyOf = (socket: Socket) => addressKey(plainAddress(socket.remoteAddress ?? ''));

  function endIfTooLarge(socket: Socket, remote: string, bytes: number): void {
    if (bytes <= mostOfHandshake) return;
    const key = addressKey(remote);
    refused.set(key, true);
    socket.destroy();
    for (const each of handshaking.values()) if (keyOf(each) === key) each.destroy();
    rejected('handshakes');
    log.warn('TLS handshake too large: its address is refused for a minute', { remote, bytes });
  }

  const startTls = server.listeners('connection');
  // In the place of Node's own listener, which would begin the handshake.
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (refused.has(keyOf(socket))) {
      rejected('handshakes');
      socket.destroy();
      return;
    }
    for (const start of startTls) start.call(server, socket);
    const [peer, remote] = [peerOf(socket), plainAddress(socket.remoteAddress ?? '')];
    handshaking.set(peer, socket);
    socket.on('close', () => {
      if (handshaking.delete(peer)) endIfTooLarge(socket, remote, socket.bytesRead);
    });
  });
  server.on('secureConnection', (socket: Socket) => {
    const peer = peerOf(socket);
    const plain = handshaking.get(peer);
    handshaking.delete(peer);
    if (plain === undefined) return;
    // In the next turn: what follows a handshake may have come with it, and counts once it is decrypted.
    const remote = plainAddress(socket.remoteAddress ?? '');
    setImmediate(() => endIfTooLarge(socket, remote, plain.bytesRead - socket.bytesRead));
  });
  const check = setInterval(() => {
    // Its `close` counts it.
    for (const socket of handshaking.values()) if (socket.bytesRead > mostOfHandshake) socket.destroy();
  }, checkMilliseconds).unref();
  server.on('close', () => clearInterval(check));
  return () => {
    for (const socket of handshaking.values()) socket.destroy();
  };
}
