import { strip } from '../base/text.ts';
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
  /** Of a web or database instance; absent elsewhere. */
  site?: string;
  instance?: string;
}

/** The last parts of the names of facts that are read. */
const usedFacts = /(?:^|:)(?:host_?name|fqdn|ipv4|ipaddress|ip|mac|macaddress|role|site|instance)$/i;

/** How many facts about a target have a value that a checklist has no place for. */
export function unusedFacts({ targets, facts }: Facts): number {
  const unused = facts.filter(([name, value]) => {
    const isUsed = usedFacts.test(name) || managerName.test(name);
    let isUnknown = false;
    if (/(?:^|:)role$/i.test(name)) readWord(roles, value, () => (isUnknown = true));
    return value.trim() !== '' && (!isUsed || isUnknown);
  });
  return unused.length + Math.max(0, targets.filter((text) => text !== '').length - 1);
}

const managerName = /^tag:stig-manager@.*:asset:name$/;

const first = (texts: string[]) => texts.find((text) => text !== '') ?? '';
const noHost = /^(127\.|::1$|0:0:0:0:0:0:0:1$|fe80:|0\.0\.0\.0$)/i;

/** The different ones of addresses that some texts list. */
function listed(texts: string[], normal: (address: string) => string, isOne: (address: string) => boolean) {
  const all = texts.flatMap((text) => text.split(/[,;\s]+/)).map(normal);
  return [...new Set(all)].filter(isOne).join(', ');
}

const addresses = (texts: string[]) =>
  listed(
    texts,
    (text) => text.replace(/\/\d+$/, ''),
    (text) => text !== '' && !noHost.test(text),
  );

const macs = (texts: string[]) =>
  listed(
    texts,
    (text) => text.toUpperCase(),
    (text) => /[^0:.-]/.test(text),
  );

/** The host of a scan. Only the last part of a fact name counts; the asset of an ARF fills empty fields. */
export function readTarget(stated: Facts, asset: Facts | null): Target {
  const from = ({ targets, addresses: others, facts }: Facts) => {
    const of = (...names: string[]) =>
      facts.flatMap(([name, value]) =>
        names.includes(name.slice(name.lastIndexOf(':') + 1).toLowerCase()) ? [value.trim()] : [],
      );
    const manager = facts.find(([name]) => managerName.test(name))?.[1] ?? '';
    const role = first(of('role'));
    const [site, instance] = [first(of('site')), first(of('instance'))];
    return {
      hostName: first([
        manager.trim(),
        ...targets.map((text) => text.trim()),
        ...of('host_name', 'hostname'),
      ]),
      fqdn: first(of('fqdn').map((text) => strip(text, null, /\./))),
      ipAddress: addresses(of('ipv4', 'ipaddress', 'ip')) || addresses(others),
      macAddress: macs(of('mac', 'macaddress')),
      role: readWord(roles, role, () => undefined),
      ...(site === '' ? {} : { site }),
      ...(instance === '' ? {} : { instance }),
    };
  };
  const own = from(stated);
  const more = asset && from(asset);
  return {
    ...own,
    hostName: own.hostName || (more?.hostName ?? ''),
    fqdn: own.fqdn || (more?.fqdn ?? ''),
    ipAddress: own.ipAddress || (more?.ipAddress ?? ''),
    macAddress: own.macAddress || (more?.macAddress ?? ''),
  };
}
