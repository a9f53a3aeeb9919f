import type { Child } from 'hono/jsx';

/** A block of a check or fix text. The prompts and texts of all blocks together are the text as published. */
interface ProseBlock {
  kind: 'words' | 'command' | 'literal';
  /** The prompt and blanks before a command, which are not typed; empty for other kinds. */
  prompt: string;
  text: string;
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
const powershellVerb = anyOf(
  `Add, Clear, Complete, Convert, ConvertFrom, ConvertTo, Copy, Disable, Enable, Export, ForEach, Format, Get, Grant, Import,
  Install, Invoke, Measure, Move, New, Out, Register, Remove, Rename, Reset, Resolve, Restart, Resume, Revoke, Select, Send,
  Set, Sort, Start, Stop, Suspend, Test, Uninstall, Unregister, Update, Where, Write`,
);
const sqlStatement = anyOf(
  `ALTER, AUDIT, BACKUP, BEGIN, CREATE, DECLARE, DELETE FROM, DENY, DROP, EXEC, EXECUTE, GO, GRANT, INSERT INTO, NOAUDIT,
  RECONFIGURE, REVOKE, SELECT, SET, SHOW, UPDATE, USE, WITH`,
);

/** Beginnings of commands of Windows, PowerShell and SQL. */
const commands = [
  new RegExp(`^${windowsCommand}(?:\\.exe)?(?=\\s+["/\\w.\\\\:-]|$)`, 'i'),
  new RegExp(`^\\(*${powershellVerb}-[A-Z]\\w+\\)*(?:$|\\s*[|;)]|\\s+[-"'$(@{\\\\\\w:.*])`),
  /^\$[A-Za-z_][\w:.]*(?:\[[^\]]*\])?\s*[+-]?=(?!=)/,
  /^powershell(?:\.exe)?\s+[-\w"&{]/i,
];
const sql = new RegExp(`^${sqlStatement}\\b(?![:(])(?!(?: [A-Z]+)*\\.?$)`);

/** Lines that no sentence contains: rules of audit, modes of files, the registry, markup, settings, paths. */
const literals = [
  /^-[aAwWD](?: |$)/,
  /^[bcdlps-][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-][.+@]?\s/,
  /^(?:\\?(?:HKLM|HKCU|HKU|HKCR)|\\?HKEY_[A-Z_]+)(?:\\|$)/,
  /^(?:Registry )?Hive:|^(?:Registry )?(?:Key|Path):\s*\\?(?:SOFTWARE|SYSTEM|HK|[A-Za-z]+\\)|^(?:Value )?(?:Name|Type|Data|Value)\s*:\s*(?=\S)(?!.*\b(?:the|is|are)\b)/i,
  /^<\/?[A-Za-z!?][^<>]*\/?>(?:.*<\/[\w:-]+>)?$/,
  /^[{}[\]]+[,;]?$|^[\])}]+[;,]?$/,
  /^\[[\w:./ -]+\]$/,
  /^"[^"]+"\s*(?::|=>?)\s*\S/,
  /^(?:#\s*)?[\w.*/$-]+(?:\[[^\]]*\])?\s*=(?![=>])(?!.*\b(?:the|is|are|must|statement)\b)/,
  /^\/[\w.*+-]+(?:\/[\w.*+-]*)*(?::\S.*)?$/,
];

/** Words of sentences that lines of files lack. */
const sentenceWord = anyOf(
  `the, is, are, be, been, must, this, that, these, those, will, should, of, if, when, which, has, have, does, was, were,
  can, cannot, may, your, its, it, then, than, following, an, or, and, with, to`,
);
const sentenceWords = new RegExp(`(?:^|\\s)${sentenceWord}(?=[\\s,.;:]|$)`);

const isSentence = (line: string) =>
  sentenceWords.test(line.replace(/"[^"]*"|'[^']*'/g, '""')) || /^[A-Z"(]\S*\s.*[.:?!]$/.test(line);

function isShellCommand(typed: string): boolean {
  const [first = '', second = ''] = typed.split(/\s+/);
  // After a path, a file mode is no argument: the path is data.
  if (/^\/(?:usr\/)?(?:s?bin|libexec)\/[\w./-]+$/.test(first)) return !/^\d{3,4}$/.test(second);
  // Routers use these words too.
  if (first === 'ip' || first === 'service') return /^(?:-\w|a|addr|link)\b|^\S+ (?:re)?st/.test(second);
  return shellCommands.has(first.replace(/[;|]$/, '')) && !isSentence(typed);
}

/** The kind of a line by itself, and its prompt. */
function kindOf(line: string): Pick<ProseBlock, 'kind' | 'prompt'> {
  const typed = line.trim();
  const root = rootPrompt.exec(line)?.[0] ?? '';
  const isRoot = root !== '' && isShellCommand(line.slice(root.length).trim());
  const prompt = isRoot ? root : (prompts.map((each) => each.exec(line)?.[0]).find(Boolean) ?? '');
  const isKnown = isShellCommand(typed) || sql.test(typed) || commands.some((each) => each.test(typed));
  if (prompt !== '' || (isKnown && !/[a-z]{2}[.:]$/.test(typed))) return { kind: 'command', prompt };
  return { kind: literals.some((each) => each.test(typed)) ? 'literal' : 'words', prompt };
}

/** A longer text is not analyzed, nor a longer command: no published one is that long. */
const mostCharacters = 50_000;
const mostLines = 60;

/** The last line of a here-document that a command contains. */
const endOfDocument = (command: string) => /<<-?\s*["']?(\w+)/.exec(command)?.[1];

/** Whether a command goes on in the next line: after a sign at its end, in a quote, in the brackets of a script. */
function isOpen(command: string): boolean {
  const end = endOfDocument(command);
  if (end !== undefined) return !command.trimEnd().endsWith(`\n${end}`);
  const numberOf = (sign: string) => command.split(sign).length - 1;
  return (
    /(?:\\|\||&&|`)\s*$/.test(command) ||
    numberOf('"') % 2 === 1 ||
    numberOf("'") % 2 === 1 ||
    numberOf('{') > numberOf('}') ||
    (sql.test(command.trim()) && !/;\s*$/.test(command))
  );
}

/** How many lines after the first belong to its command; 0 where it is never closed, so that its sign is plain text. */
function linesAfter(lines: string[], first: number): number {
  let command = lines[first]!;
  for (let more = 0; more < mostLines; more++) {
    if (!isOpen(command)) return more;
    const next = lines[first + more + 1]?.trim() ?? '';
    if (sql.test(command.trim())) {
      if (next === '' || /[.:?!]$/.test(next)) return more;
    } else if (endOfDocument(command) === undefined && (next === '' || isSentence(next))) return 0;
    command += lines[first + more + 1];
  }
  return 0;
}

/** A check or fix text in blocks, recognized by heuristics. */
export function blocksOf(text: string): ProseBlock[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  // A program that wraps and indents a text makes its line breaks meaningless.
  const isWrapped = lines.length > 1 && lines.slice(1).every((line) => /^(?:\s{8}|\s*$)/.test(line));
  if (text.length > mostCharacters || isWrapped) return [{ kind: 'words', prompt: '', text }];
  const blocks: ProseBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const { kind, prompt } = kindOf(lines[at]!);
    const last = blocks.at(-1);
    if (kind !== 'command' && last?.kind === kind) {
      last.text += lines[at];
      continue;
    }
    const more = kind === 'command' ? linesAfter(lines, at) : 0;
    blocks.push({
      kind,
      prompt,
      text: lines
        .slice(at, at + more + 1)
        .join('')
        .slice(prompt.length),
    });
    at += more;
  }
  return blocks;
}

/**
 * A published text with its line breaks. With `copied`, the label of a copy button, commands and file contents stand
 * out; the text content of the element stays the published one, character by character.
 */
export function Prose({ text, copied }: { text: string; copied?: string }) {
  if (text.trim() === '') return <p class="empty">The catalog has no text here.</p>;
  return (
    <div class="prose" data-copy={copied}>
      {copied === undefined ? text : blocksOf(text).map((block) => <Block {...block} />)}
    </div>
  );
}

function Block({ kind, prompt, text }: ProseBlock): Child {
  if (kind === 'words') return <span>{text}</span>;
  if (kind === 'literal') return <code>{text}</code>;
  // A line break at the end belongs to the text, but not to the command.
  const end = text.endsWith('\n') ? '\n' : '';
  return (
    <code class="typed">
      {prompt === '' ? null : <span class="prompt">{prompt}</span>}
      <kbd>{end === '' ? text : text.slice(0, -1)}</kbd>
      {end}
    </code>
  );
}
