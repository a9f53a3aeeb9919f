// The titles are those of O*NET up to release 30.2.
const codes = new Map([
  ['Office suite software', '43231513'],
  ['Word processing software', '43232104'],
  ['Presentation software', '43232106'],
  ['Calendar and scheduling software', '43232108'],
  ['Spreadsheet software', '43232110'],
  ['Data base management system software', '43232304'],
  ['Portal server software', '43232312'],
  ['Web platform development software', '43232408'],
  ['Application server software', '43232701'],
  ['Internet browser software', '43232705'],
  ['Network monitoring software', '43232801'],
  ['Internet protocol IP multimedia subsystem software', '43232805'],
  ['Cloud-based management software', '43232806'],
  ['Communications server software', '43232902'],
  ['Switch or router software', '43232908'],
  ['Wireless software', '43232910'],
  ['Software defined networking/ virtualization software', '43232917'],
  ['Operating system software', '43233004'],
  ['Network security or virtual private network VPN management software', '43233203'],
  ['Network security and virtual private network VPN equipment software', '43233204'],
  ['Transaction security and virus protection software', '43233205'],
  ['Electronic mail software', '43233501'],
  ['Video conferencing software', '43233502'],
]);

const key = (title: string) => title.toLowerCase().replace(/[^a-z0-9]+/g, '');

const codesByKey = new Map([...codes].map(([title, code]) => [key(title), code]));

/** The UNSPSC code of a title: releases from 30.3 state no code. Undefined for commodities that no rule uses. */
export function commodityCodeOf(title: string): string | undefined {
  return codesByKey.get(key(title));
}
