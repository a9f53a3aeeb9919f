/**
 * The kind of a block of a check or fix text: words to read, a command, a script of PowerShell or SQL, or literal
 * content of a file, a registry or an output.
 */
export type BlockKind = 'words' | 'command' | 'powershell' | 'sql' | 'literal';

/** The kind of a line, and its prompt. */
export interface KnownLine {
  kind: BlockKind | 'blank';
  prompt: string;
}

/** Prompts of shells, PowerShell, Windows, routers and databases. */
const prompts = [
  /^\s*(?:\[[^\]\n]+\]|[\w.-]+@[\w.-]+(?::\S*)?)\s?[$#>]\s+(?=\S)/,
  /^\s*PS(?: [^>\n]*)?>\s*(?=\S)/,
  /^\s*[A-Za-z]:\\[^>\n]*>\s*(?=\S)/,
  /^\s*[\w-]+\([\w-]+\)\s?#\s*(?=\S)/,
  /^\s*[A-Z][\w-]*#\s*(?=[a-z])/,
  /^\s*(?:mysql|sqlplus|psql|mongo|SQL|postgres=[#>]|[a-z_]+=[#>])>?\s+(?=\S)/,
  /^\s*(?:~\]?)?[$>]\s+(?=\S)/,
];

/** `# ` is root's prompt but also begins a comment: only a known command after it makes it a prompt. */
const rootPrompt = /^\s*(?:~\]?)?#\s+(?=\S)/;

const shellCommands = new Set(
  `aa-status aide apt apt-get apt-cache apparmor_status aulast auditctl augenrules authselect awk bash cat cd chage chattr
  chcon chgrp chkconfig chmod chown chroot chronyc cksum cp crontab curl cut date dconf declare df dig dmesg dnf docker dpkg
  dpkg-query dracut echo egrep etcdctl ethtool export fgrep file find findmnt fips-mode-setup firewall-cmd firewall-offline-cmd for getcap
  getenforce getent getfacl getsebool gpg grep groupadd groupdel groupmod grub2-editenv grub2-mkconfig grubby gsettings gunzip head hostname
  hostnamectl id ifconfig insmod ip ip6tables iptables journalctl keytool kubectl kubeadm last lastlog launchctl ldapsearch ln ls lsattr lsblk lsmod lsof
  mkdir mkfs mktemp modprobe mount mv nano netstat nft nmcli ntpq oc openssl pam-auth-update pamtester passwd perl pgrep ping pkexec pkill podman
  postconf printf ps psql pwck pwconv pwpolicy python python3 readlink realm restorecon rm rmmod route rpm rpmkeys rsync scutil sed semanage semodule
  service sestatus setenforce setfacl setsebool sh sha256sum sha512sum shutdown slapcat snmpwalk sort source spctl ss ssh ssh-keygen sshd stat strings
  stty su subscription-manager sudo swapoff swapon sysctl syspurpose systemctl systemd-analyze systemd-cryptenroll systemd-detect-virt tail tar tee timedatectl touch
  ufw umask umount uname unset update-crypto-policies update-grub update-rc.d useradd userdel usermod usbguard vi vim visudo which while xargs yum zgrep zypper`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
/** One of the words of a list, as a regular expression. */
const anyOf = (list: string) => `(?:${list.split(/,\s+/).join('|')})`;

const windowsCommand = anyOf(
  `appcmd, auditpol, bcdedit, bitsadmin, certutil, cipher(?= /), cscript, dism, dsquery, fsutil, gpresult, gpupdate, icacls,
  ipconfig, klist, manage-bde, net accounts, net group, net localgroup, net share, net start, net stop, net user, netsh,
  nltest, powercfg, reg add, reg delete, reg query, regsvr32, repadmin, sc config, sc query, sc sdshow, sc qc, sc.exe config,
  sc.exe query, sc.exe sdshow, sc.exe qc, schtasks, secedit, setspn, sigverif, takeown, vssadmin, w32tm, wevtutil, wmic`,
);
const windowsCommands = new RegExp(`^${windowsCommand}(?:\\.exe)?(?=\\s+["/\\w.\\\\:-]|$)`, 'i');

const powershellVerb = anyOf(
  `Add, Clear, Complete, Convert, ConvertFrom, ConvertTo, Copy, Disable, Enable, Export, ForEach, Format, Get, Grant, Import,
  Install, Invoke, Measure, Move, New, Out, Register, Remove, Rename, Reset, Resolve, Restart, Resume, Revoke, Select, Send,
  Set, Sort, Start, Stop, Suspend, Test, Uninstall, Unregister, Update, Where, Write`,
);
const powershell = [
  new RegExp(`^\\(*${powershellVerb}-[A-Z]\\w+\\)*(?:$|\\s*[|;)]|\\s+[-"'$(@{\\\\\\w:.*])`),
  /^\$[A-Za-z_][\w:.]*(?:\[[^\]]*\])?\s*[+-]?=(?!=)/,
  /^\[[A-Za-z]\w*(?:\.\w+)*\]::?\w/,
  /^powershell(?:\.exe)?\s+[-\w"&{]/i,
  /^(?:if|foreach|ForEach|If)\s*\(.*\$/,
];

const sqlStatement = anyOf(
  `ALTER, AUDIT, BACKUP, BEGIN, CREATE, DECLARE, DELETE FROM, DENY, DROP, EXEC, EXECUTE, GO, GRANT, INSERT INTO, NOAUDIT,
  RECONFIGURE, REVOKE, SELECT, SET, SHOW, UPDATE, USE, WITH`,
);
const sqlClause = anyOf(
  `AND, AS, BEGIN, CASE, ELSE, END, FROM, FULL, GO, GROUP BY, HAVING, IF, INNER, INTO, JOIN, LEFT, ON, OR, ORDER BY, PRINT,
  RIGHT, RETURN, THEN, UNION, VALUES, WHEN, WHERE`,
);
const sqlStarts = [
  new RegExp(`^${sqlStatement}\\b(?![:(])`),
  /^select\s.*(?:\sfrom\s|\($|\w,$)/,
  /^sp_\w+ N?'/,
  /^(?:alter|create|drop|exec|grant|revoke)\s.*;\s*$/,
];
const sqlMore = new RegExp(`^${sqlClause}\\b|^[()]`);

/** Whether a line begins a statement of SQL. */
export const beginsSql = (line: string) => sqlStarts.some((start) => start.test(line));
/** Whether a line can only go on in a statement of SQL. */
export const continuesSql = (line: string) => sqlMore.test(line);

/** Lines that no sentence contains. */
const literals = [
  /^-[aAwWD](?: |$)/,
  /^[bcdlps-][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-][.+@]?\s/,
  /^(?:\\?(?:HKLM|HKCU|HKU|HKCR)|\\?HKEY_[A-Z_]+)(?:\\|$)/,
  /^(?:Registry )?Hive:|^(?:Registry )?(?:Key|Path):\s*\\?(?:SOFTWARE|SYSTEM|HK|[A-Za-z]+\\)|^(?:Value )?(?:Name|Type|Data|Value)\s*:\s*(?=\S)(?!.*\b(?:the|is|are)\b)/i,
  /^<\/?[A-Za-z!?][^<>]*\/?>(?:.*<\/[\w:-]+>)?$/,
  /^<[A-Za-z][\w:-]*(?:\s+[\w:-]+="[^"]*")*\s*\/?>?$/,
  /^[{}[\]]+[,;]?$|^[\])}]+[;,]?$/,
  /^\[[\w:./ -]+\]$/,
  /^"[\w.*/-]+"\s*:\s*\S/,
  /^"[^"]+"\s*=>?\s*\S/,
  /^[\w.*/$-]+(?:\[[^\]]*\])?\s*=(?![=>])(?!.*\b(?:the|is|are|must|statement)\b)/,
  /^\/[\w.*+-]+(?:\/[\w.*+-]*)*(?::\S.*)?$/,
  /^\/(?:[\w.-]+\/)+[\w.*-]+:/,
  /^(?:apiVersion|kind|metadata|spec):|^- [a-z][\w.]*:(?: \S.*)?$|^(?:---|\.\.\.)$/,
  /^Value\s*:\s*(?:0x|\d)/,
  /^#\s*[\w.-]+\s*=/,
  /^(?:set|delete) (?!.*\s(?:the|to|is|on|of)\s)[a-z][a-z0-9-]* [\w-]+(?:\s[^.:]*)?$/,
];

/** Words of sentences that lines of files lack. */
const sentenceWord = anyOf(
  `the, is, are, be, been, must, this, that, these, those, will, should, of, if, when, which, has, have, does, was, were,
  can, cannot, may, your, its, it, then, than, following, an, or, and, with, to`,
);
const sentenceWords = new RegExp(`(?:^|\\s)${sentenceWord}(?=[\\s,.;:]|$)`);

/** Whether a line is a sentence, as far as the line alone shows. */
export function isSentence(line: string): boolean {
  if (/^\s+[a-z]/.test(line) && !/[.:?!]\s*$/.test(line) && line.trim().split(/\s+/).length < 9) return false;
  const bare = line.trim().replace(/"[^"]*"|'[^']*'|“[^“”]*”/g, '""');
  if (/^(?:\d+[.)]|[-*•o]|\(?[a-z]\)|Step \d+)\s+[A-Z"]/.test(bare) || / >> | -> |→/.test(bare)) return true;
  if (/^(?:and|or|AND|OR|Note|Example|EXAMPLE)[:.]?$|^https?:\/\/\S+$/.test(bare)) return true;
  if (/^[A-Z"(]/.test(bare) && /[.:?!]$/.test(bare) && /\s/.test(bare)) return true;
  if (sentenceWords.test(bare)) return true;
  const words = bare.split(/\s+/);
  return words.length > 3 && words.every((word) => /^[A-Za-z"(][a-z"’-]*[a-z",;)]?$/.test(word));
}

/** Whether a line has a sign that sentences lack (dashes, commas and full stops do not count). */
export const hasSign = (line: string) => /[=/\\_{}<>$|*;@[\]]|\d|^\s*[a-z]|:\S|\w\(|…/.test(line);

/** The kind of a line by itself; null where it depends on its neighbours. */
export function kindOf(text: string): KnownLine | null {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'blank', prompt: '' };
  for (const pattern of prompts) {
    const prompt = pattern.exec(text)?.[0];
    if (prompt === undefined) continue;
    const typed = text.slice(prompt.length);
    const script = /^\s*PS/.test(prompt) || isPowershell(typed);
    return { kind: script ? 'powershell' : 'command', prompt };
  }
  const root = rootPrompt.exec(text)?.[0];
  if (root !== undefined && isShellCommand(text.slice(root.length))) return { kind: 'command', prompt: root };
  if (isPowershell(trimmed)) return { kind: 'powershell', prompt: '' };
  if (isShellCommand(trimmed) || (windowsCommands.test(trimmed) && !isSentence(trimmed)))
    return { kind: 'command', prompt: '' };
  if (beginsSql(trimmed) && !/^(?!(?:GO|BEGIN|RECONFIGURE)$)[A-Z ]+\.?$/.test(trimmed))
    return { kind: 'sql', prompt: '' };
  if (literals.some((pattern) => pattern.test(trimmed))) return { kind: 'literal', prompt: '' };
  return isSentence(text.trimEnd()) ? { kind: 'words', prompt: '' } : null;
}

const isPowershell = (typed: string) =>
  powershell.some((pattern) => pattern.test(typed)) && !/[a-z]{2}[.:]$/.test(typed);

function isShellCommand(typed: string): boolean {
  const words = typed.trim().split(/\s+/);
  const first = words[0]!.replace(/[;|]$/, '');
  const isPath =
    /^\/(?:usr\/|opt\/[\w/]*)?s?bin\/[\w.-]+$/.test(first) || /^\/usr\/libexec\/\S+$/.test(first);
  if (!isPath && !shellCommands.has(first)) return false;
  // After a path, a file mode or an AIDE rule is no argument: the path is data.
  if (isPath) return !/^(?:\d{3,4}$|\w\+\w)/.test(words[1] ?? '');
  if (first === 'sudo') return words.length > 1;
  // Router configurations use these words too.
  if (first === 'ip' || first === 'service')
    return /^(?:ip (?:-\w|(?:a|addr|link|netns)\b)|service \S+ (?:re)?st)/.test(typed);
  // Some commands are also English words.
  const rest = typed.replace(/"[^"]*"|'[^']*'/g, '""');
  if (/[a-z]{2}[.:]\s*$/.test(rest) && sentenceWords.test(rest)) return false;
  if (/\s\{$/.test(typed)) return false;
  return !/(?:^|\s)(?:the|is|are|must|this|that|will|should|be|has|have)\s/.test(rest);
}
