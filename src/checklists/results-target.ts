import { roles } from '../catalog/stigs/cklb-schema.ts';
import { readWord } from './fields.ts';

/** What a file says about the scanned host, unchanged. */
export interface Facts {
  targets: string[];
  addresses: string[];
  /** Names, as `urn:scap:fact:asset:identifier:ipv4`, with their values. */
  facts: [name: string, value: string][];
}

/** The host of a checklist, under the field names of requests. */
export interface Target {
  hostName: string;
  fqdn: string;
  ipAddress: string;
  macAddress: string;
  role: (typeof roles)[number];
}

const first = (texts: string[]) => texts.find((text) => text !== '') ?? '';
const noHost = /^(127\.|::1$|0:0:0:0:0:0:0:1$|fe80:|0\.0\.0\.0$)/i;

function addresses(texts: string[]): string {
  const each = texts.flatMap((text) => text.split(/[,;\s]+/)).map((text) => text.replace(/\/\d+$/, ''));
  return [...new Set(each)].filter((text) => text !== '' && !noHost.test(text)).join(', ');
}

function macs(texts: string[]): string {
  const each = texts.flatMap((text) => text.split(/[,;\s]+/)).map((text) => text.toUpperCase());
  return [...new Set(each)].filter((text) => /[^0:.-]/.test(text)).join(', ');
}

/** A loop, not a pattern: a pattern would take quadratic time on a long run of dots. */
function withoutEndingDots(text: string): string {
  let end = text.length;
  while (text[end - 1] === '.') end--;
  return text.slice(0, end);
}

/** The host of a scan. Only the last part of a fact name counts; the asset of an ARF fills empty fields. */
export function readTarget(stated: Facts, asset: Facts | null): Target {
  const from = ({ targets, addresses: others, facts }: Facts) => {
    const of = (...names: string[]) =>
      facts.flatMap(([name, value]) =>
        names.includes(name.slice(name.lastIndexOf(':') + 1).toLowerCase()) ? [value.trim()] : [],
      );
    const manager = facts.find(([name]) => /^tag:stig-manager@.*:asset:name$/.test(name))?.[1] ?? '';
    const role = first(of('role'));
    return {
      hostName: first([
        manager.trim(),
        ...targets.map((text) => text.trim()),
        ...of('host_name', 'hostname'),
      ]),
      fqdn: first(of('fqdn').map(withoutEndingDots)),
      ipAddress: addresses(of('ipv4', 'ipaddress', 'ip')) || addresses(others),
      macAddress: macs(of('mac', 'macaddress')),
      role: readWord(roles, role, () => undefined),
    };
  };
  const own = from(stated);
  if (asset === null) return own;
  const more = from(asset);
  return {
    hostName: own.hostName || more.hostName,
    fqdn: own.fqdn || more.fqdn,
    ipAddress: own.ipAddress || more.ipAddress,
    macAddress: own.macAddress || more.macAddress,
    role: own.role,
  };
}
