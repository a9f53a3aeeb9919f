import { BlockList, isIP, SocketAddress } from 'node:net';

export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** The canonical spelling of an address, so that one caller counts as one: RFC 5952, IPv4 without its IPv6 prefix. */
export function plainAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const [plain = '', zone] = address.split('%');
  const { address: written } = new SocketAddress({ address: plain, family: 'ipv6' });
  return written.replace(/^::ffff:(?=\d+\.)/, '') + (zone === undefined ? '' : `%${zone}`);
}

/**
 * Finds a caller's address: that of its connection or, behind trusted proxies, the first untrusted address from the end
 * of `X-Forwarded-For`. What the client itself wrote stands before that, so it is never read.
 */
export function callerFinder(trusted: (address: string) => boolean) {
  return (peer: string, forwardedFor: string | undefined): string => {
    let caller = peer;
    if (forwardedFor === undefined || !trusted(peer)) return caller;
    for (const entry of forwardedFor.slice(-2000).split(',').reverse()) {
      const text = entry.trim();
      const address = plainAddress(
        isIP(text) ? text : text.replace(/^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2'),
      );
      if (isIP(address) === 0) break;
      caller = address;
      if (!trusted(address)) break;
    }
    return caller;
  };
}

/** Gives a function that says whether an address is in one of the networks; IPv4 inside IPv6 counts as IPv4. */
export function networkMatcher(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return (address) => {
    const plain = plainAddress(address);
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
  };
}
