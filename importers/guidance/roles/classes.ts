/** A class of technology that STIGs are about: whose work it is, and which UNSPSC commodities it has in O*NET. */
export interface TechnologyClass {
  name: string;
  /** Words of a folded title that put a STIG into the class, whole words each. */
  words: RegExp;
  commodities: string[];
  /** The NICE work roles that run such technology: an occupation with one of them fits. */
  workRoles: string[];
}

/** Any of the words of a list with commas between them, each as a whole word. */
const wordsOf = (list: string) => new RegExp(`(?:^| )(?:${list.trim().split(/,\s+/).join('|')})(?: |$)`);

/** The classes, the more specific before the more general: the first whose words a title has is the STIG's. */
const classes: TechnologyClass[] = [
  {
    name: 'containers',
    words: wordsOf('kubernetes, docker, openshift, container, rancher, tanzu'),
    commodities: ['43232806', '43232917'],
    workRoles: ['DD-WRL-003', 'IO-WRL-005'],
  },
  {
    name: 'databases',
    words: wordsOf('database, sql, dbms, postgresql, postgres, mysql, mariadb, mongodb, db2, redis, hana'),
    commodities: ['43232304'],
    workRoles: ['IO-WRL-002'],
  },
  {
    name: 'networks',
    words: wordsOf(`
      router, switch, rtr, ndm, l2s, firewall, vpn, ips, idps, wlan, wireless, network, dns, bind, proxy,
      load balancer, alg, nac, sdn, sd wan, cisco, juniper, arista, palo alto, f5, fortinet`),
    commodities: ['43232908', '43233204', '43233203', '43232910', '43232801'],
    workRoles: ['IO-WRL-004'],
  },
  {
    name: 'voice and video',
    words: wordsOf('voip, vvoip, voice, video, unified communications, session border'),
    commodities: ['43232805', '43233502'],
    workRoles: ['IO-WRL-004'],
  },
  {
    name: 'applications and web servers',
    words: wordsOf(`
      web server, nginx, application server, tomcat, iis, http server, websphere, weblogic, jboss,
      middleware, application security, application core, application programming interface, java, jre,
      net framework, dotnet framework`),
    commodities: ['43232701', '43232408'],
    workRoles: ['DD-WRL-003'],
  },
  {
    name: 'collaboration servers',
    words: wordsOf('sharepoint, exchange, skype, lync, mail server, domino'),
    commodities: ['43232902', '43232312'],
    workRoles: ['IO-WRL-005'],
  },
  {
    name: 'virtualization',
    words: wordsOf('vmware, vsphere, esxi, vcenter, hyper v, xendesktop, xenapp, virtual machine'),
    commodities: ['43232917', '43232806'],
    workRoles: ['IO-WRL-005'],
  },
  {
    name: 'security software',
    words: wordsOf(
      'antivirus, defender, endpoint security, mcafee, trellix, splunk, siem, log server, tanium',
    ),
    commodities: ['43233205'],
    workRoles: ['PD-WRL-001', 'PD-WRL-004'],
  },
  {
    name: 'mainframes',
    words: wordsOf('z os, racf, acf2, tss, mainframe, hmc, hardware management console, cics, zvm, z vm'),
    commodities: ['43233004'],
    workRoles: ['IO-WRL-005'],
  },
  {
    name: 'mobile devices',
    words: wordsOf('ios, ipados, android, mobile, mdm, blackberry, knox'),
    commodities: ['43233004'],
    workRoles: ['IO-WRL-005', 'IO-WRL-007'],
  },
  {
    name: 'desktop software',
    words: wordsOf(`
      chrome, firefox, microsoft edge, internet explorer, browser, word, excel, powerpoint, outlook,
      onenote, office, visio, adobe, acrobat, office system`),
    commodities: ['43231513', '43232705'],
    workRoles: ['IO-WRL-007', 'IO-WRL-005'],
  },
  {
    name: 'operating systems',
    words: wordsOf(`
      operating system, operating systems, windows, linux, ubuntu, unix, macos, os x, solaris, aix, hp ux,
      gpos, toss, active directory, entra`),
    commodities: ['43233004'],
    workRoles: ['IO-WRL-005'],
  },
];

/**
 * The class of a STIG by the words of its folded title, else by the commodity of the product that it names: of the
 * classes with that commodity the most general, which is the last.
 */
export function classOf(title: string, commodityCode: string | null): TechnologyClass | null {
  return (
    classes.find((each) => each.words.test(title)) ??
    classes.findLast((each) => commodityCode !== null && each.commodities.includes(commodityCode)) ??
    null
  );
}

/** Commodities that hundreds of occupations work with: they say who uses a product, not who runs it. */
export const officeCommodities = new Set(
  '43231513 43232104 43232106 43232108 43232110 43232705 43233501'.split(' '),
);
