/** A class of technology of STIGs: its UNSPSC commodities in O*NET, and the work roles for it. */
export interface TechnologyClass {
  name: string;
  /** Whole words of a folded title. */
  words: RegExp;
  commodities: string[];
  workRoles: string[];
}

const wordsOf = (list: string) => new RegExp(`(?:^| )(?:${list.trim().split(/,\s+/).join('|')})(?: |$)`);

/** The more specific classes first: the first one with a word of the title counts. */
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

/** The class of a STIG by a word of its folded title, else the last, most general one with the product's commodity. */
export function classOf(title: string, commodityCode: string | null): TechnologyClass | null {
  return (
    classes.find((each) => each.words.test(title)) ??
    classes.findLast((each) => commodityCode !== null && each.commodities.includes(commodityCode)) ??
    null
  );
}

/** Hundreds of occupations use these commodities: they do not show who runs a product. */
export const officeCommodities = new Set(
  '43231513 43232104 43232106 43232108 43232110 43232705 43233501'.split(' '),
);
