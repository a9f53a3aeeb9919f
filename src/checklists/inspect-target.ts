import { isNetwork } from '../base/addresses.ts';
import type { Cklb } from '../catalog/stigs/cklb-schema.ts';
import type { FindingCode } from './advice.ts';

const longestField = 255;

const mac = /^(?:(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|[0-9a-f]{12})$/i;
const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const domainName = new RegExp(`^${label}(?:\\.${label})*\\.?$`, 'i');

const each = (text: string) => text.split(/[,;\s]+/).filter((part) => part !== '');

type TargetData = Pick<Cklb['target_data'], 'host_name' | 'ip_address' | 'mac_address' | 'fqdn'>;

/** What STIG Manager or eMASS refuses in the data about a target. */
export function inspectTarget(target: TargetData): [FindingCode, string][] {
  const found: [FindingCode, string][] = [];
  const fields = Object.entries({
    'host name': target.host_name,
    'IP address': target.ip_address,
    'MAC address': target.mac_address,
    FQDN: target.fqdn,
  });
  if (target.host_name.trim() === '') found.push(['no-host-name', 'The target has no host name']);
  const isLong = (text: string) => text.length > longestField;
  for (const [name, text] of fields.filter(([, value]) => isLong(value)))
    found.push(['long-target-field', `The ${name} of the target has ${text.length} characters`]);
  const wrong = (text: string, isRight: (part: string) => boolean) =>
    isLong(text) ? undefined : each(text).find((part) => !isRight(part));
  const ip = wrong(target.ip_address, isNetwork);
  if (ip !== undefined) found.push(['bad-ip-address', `"${ip.slice(0, 64)}" is no IP address`]);
  const address = wrong(target.mac_address, (part) => mac.test(part));
  if (address !== undefined) found.push(['bad-mac-address', `"${address.slice(0, 64)}" is no MAC address`]);
  const fqdn = target.fqdn.trim();
  if (fqdn !== '' && !isLong(fqdn) && !domainName.test(fqdn))
    found.push(['bad-fqdn', `"${fqdn.slice(0, 64)}" is no domain name`]);
  return found;
}
