import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { blocksOf } from '../../src/base/prose-blocks.ts';
import { Prose } from '../../src/site/parts/prose.tsx';
import { effortOf } from '../support/effort.ts';
import { suite, testIf } from '../support/harness.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { referenceData } from '../support/reference.ts';
import { joinTexts, readBenchmark } from '../support/xccdf-reader.ts';

const prose = suite('Prose of checks and fixes');

/** The blocks of a text, each as its kind, the prompt in braces, and its text. */
const shown = (text: string) =>
  blocksOf(text).map(
    ({ kind, prompt, text: own }) =>
      `${kind}: ${prompt === '' ? '' : `{${prompt}}`}${own.replaceAll('\n', '⏎')}`,
  );
/** What the buttons of a text copy. */
const typed = (text: string) =>
  blocksOf(text)
    .filter(({ kind }) => kind !== 'words' && kind !== 'literal')
    .map(({ text: own }) => own.replace(/\n$/, ''));
const kinds = (text: string) => blocksOf(text).map(({ kind }) => kind);

const samples: [what: string, text: string, blocks: string[]][] = [
  [
    'a prompt is no part of the command, sudo is',
    'Look at the banner:\n\n$ sudo grep -i banner /etc/ssh/sshd_config\n\nBanner /etc/issue\n\nIf there is none, say so.',
    [
      'words: Look at the banner:⏎⏎',
      'command: {$ }sudo grep -i banner /etc/ssh/sshd_config⏎',
      'words: ⏎',
      'literal: Banner /etc/issue⏎',
      'words: ⏎If there is none, say so.',
    ],
  ],
  [
    'a command needs no prompt, and blanks at its end stay',
    'Run this command:\ngrep -i banner /etc/ssh/sshd_config \nIt must name a file.',
    [
      'words: Run this command:⏎',
      'command: grep -i banner /etc/ssh/sshd_config ⏎',
      'words: It must name a file.',
    ],
  ],
  [
    'a path under a command that has a prompt is its answer',
    'Look:\n\n$ stat -c "%n %U" /sbin/demo\n\n/sbin/demo root\n\nRun this:\n\n/sbin/demo --off',
    [
      'words: Look:⏎⏎',
      'command: {$ }stat -c "%n %U" /sbin/demo⏎',
      'words: ⏎',
      'literal: /sbin/demo root⏎',
      'words: ⏎Run this:⏎⏎',
      'command: /sbin/demo --off',
    ],
  ],
  [
    'each command stands alone, a continued one is one',
    '# systemctl stop demo\n# systemctl mask \\\n    demo.service',
    ['command: {# }systemctl stop demo⏎', 'command: {# }systemctl mask \\⏎    demo.service'],
  ],
  [
    'a quoted document belongs to its command',
    'cat <<EOF > /etc/demo.conf\nThe first line is here.\nEOF\nDone with the file.',
    ['command: cat <<EOF > /etc/demo.conf⏎The first line is here.⏎EOF⏎', 'words: Done with the file.'],
  ],
  [
    'a comment of a file is no command of root',
    'Add these lines:\n\n# Demo = 1\nDemo = 2\n',
    ['words: Add these lines:⏎⏎', 'literal: # Demo = 1⏎Demo = 2⏎'],
  ],
  [
    'a router has prompts of its own',
    'R1(config)# no ip http server\nR1(config)#end\nSW2# show run',
    ['command: {R1(config)# }no ip http server⏎', 'command: {R1(config)#}end⏎', 'command: {SW2# }show run'],
  ],
  [
    'a stanza of a router is no command of Linux',
    'As in the example below:\n\ninterface demo0\n description Link to the core\n ip address 192.0.2.1 255.255.255.0\n',
    [
      'words: As in the example below:⏎⏎',
      'literal: interface demo0⏎ description Link to the core⏎ ip address 192.0.2.1 255.255.255.0⏎',
    ],
  ],
  [
    'PowerShell with and without a prompt',
    'PS C:\\> Get-Service demo\nGet-ADUser -Filter * | Where-Object {\n  $_.Enabled\n}\nGet-well cards are no command.',
    [
      'powershell: {PS C:\\> }Get-Service demo⏎',
      'powershell: Get-ADUser -Filter * | Where-Object {⏎  $_.Enabled⏎}⏎',
      'words: Get-well cards are no command.',
    ],
  ],
  [
    'a statement of SQL is one, up to its end',
    'Run the query:\nSELECT name,\n  state\nFROM demo.things\n  where state = 1\n  and name <> 2;\nCompare the answer with the list.',
    [
      'words: Run the query:⏎',
      'sql: SELECT name,⏎  state⏎FROM demo.things⏎  where state = 1⏎  and name <> 2;⏎',
      'words: Compare the answer with the list.',
    ],
  ],
  [
    'values of the registry are contents, not commands',
    'Registry Hive: HKEY_LOCAL_MACHINE\nRegistry Path: \\SOFTWARE\\Demo\\\n\nValue Name: On\nType: REG_DWORD\nValue: 1\n\nThis is a demo.',
    [
      'literal: Registry Hive: HKEY_LOCAL_MACHINE⏎Registry Path: \\SOFTWARE\\Demo\\⏎⏎Value Name: On⏎Type: REG_DWORD⏎Value: 1⏎',
      'words: ⏎This is a demo.',
    ],
  ],
];
for (const [what, text, blocks] of samples) prose(what, () => assert.equal(shown(text), blocks));

prose('prompts of all kinds are left out of what is copied, and nothing else', () => {
  const commands: [line: string, copied: string][] = [
    ['$ ls -l /tmp', 'ls -l /tmp'],
    ['  $ ls -l', 'ls -l'],
    ['# ls -l', 'ls -l'],
    ['> show version', 'show version'],
    ['C:\\Windows> icacls c:\\demo', 'icacls c:\\demo'],
    ['PS> Get-Demo', 'Get-Demo'],
    ['[root@host ~]# id  demo', 'id  demo'],
    ['admin@fw-1> show admins', 'show admins'],
    ['Router# show version', 'show version'],
    ['SQL> SHOW demo', 'SHOW demo'],
    ['postgres=# \\du', '\\du'],
    ['sudo ls', 'sudo ls'],
    ['/usr/sbin/demo', '/usr/sbin/demo'],
    ["awk -F: '$3 < 1 {print $1}' /etc/demo", "awk -F: '$3 < 1 {print $1}' /etc/demo"],
    ['auditpol /get /category:*', 'auditpol /get /category:*'],
  ];
  for (const [line, copied] of commands) assert.equal(typed(line), [copied], line);
});

prose('what is read is not taken for what is typed', () => {
  const lines = [
    'Set the value to 1.',
    'Select "OK" and then "Apply".',
    'Find the file and look at the mode.',
    'find the file and look at the mode.',
    'If the mode is not 0600, it is wrong.',
    '1. Open the editor with demo.msc.',
    '# This line is a comment that people read.',
    '- The group must be empty.',
    'Computer Configuration >> Demo >> Policy',
    'Administrators',
    'Run the command "ls -l".',
    'USE OF THIS SYSTEM IS RESTRICTED.',
    'mount the disk before the check is made.',
  ];
  for (const line of lines) assert.equal(kinds(line), ['words'], line);
});

prose('a text that was wrapped and indented as a whole has no lines to go by', () => {
  const text = 'Run:\n                    $ ls\n                    -l /tmp and look.';
  assert.equal(kinds(text), ['words']);
});

/** The text of an element: tags taken out, entities read. */
const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(
      /&(lt|gt|quot|#39|amp);/g,
      (_, name) => ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name as 'lt']!,
    );
const htmlOf = (text: string) => String(Prose({ text, copied: 'check' }));
const together = (text: string) =>
  blocksOf(text)
    .map(({ prompt, text: own }) => prompt + own)
    .join('');

prose('whatever the text, its blocks and its page are the text', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '\n',
      '\n\n',
      ' ',
      '\t',
      '$ ',
      '# ',
      'PS C:\\> ',
      '\\\n',
      '"',
      "'",
      '{',
      '<<EOF\n',
      'SELECT ',
      'ls ',
      'a = b',
    ),
    fc.constantFrom(
      'The end is near. ',
      'Do this:\n',
      ' for x in y; do\n',
      'done',
      '\u00a0',
      '…',
      '<key>a</key>',
      '&amp;',
    ),
    fc.string({ maxLength: 8 }),
  );
  const text = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (each) => {
      assert.is(together(each), each);
      if (each.trim() !== '') assert.is(textOf(htmlOf(each)), each);
    }),
    { numRuns: 2000 },
  );
});

prose('a long text of any one line keeps nobody waiting, and a longer one is words', async () => {
  for (const line of [
    '$ ls \\\n',
    'cat <<EOF\n',
    '"\n',
    'SELECT\n',
    'a b\n',
    ' {\n',
    'Get-Demo {\n',
    '# \n',
    "echo '\n",
  ]) {
    const text = line.repeat(50_000 / line.length);
    const effort = await effortOf(() => assert.is(together(text), text));
    assert.ok(effort < 150, `${JSON.stringify(line)}: ${effort} ms`);
    assert.equal(kinds(line.repeat(1_000_000 / line.length)), ['words']);
  }
});

prose('a long line takes no more time than its length', async () => {
  for (const line of ['“'.repeat(50_000), `Name:${' '.repeat(49_000)}the`, `a=${' '.repeat(49_000)}the`]) {
    const effort = await effortOf(() => assert.is(together(line), line));
    assert.ok(effort < 300, `${line.slice(0, 6)}: ${effort} ms`);
  }
});

/** Registers a test that needs the publishers’ files. */
const onReal = testIf(referenceData, prose);

onReal('every published check and fix is shown as it was published', async () => {
  let texts = 0;
  const found: Record<string, number> = {};
  for (const file of await benchmarkFiles())
    for (const { checks, fixTexts } of readBenchmark(file.text).rules)
      for (const text of [joinTexts(checks.map((check) => check.content)), joinTexts(fixTexts)]) {
        texts++;
        assert.is(together(text), text);
        if (text.trim() !== '') assert.is(textOf(htmlOf(text)), text);
        for (const { kind } of blocksOf(text)) found[kind] = (found[kind] ?? 0) + 1;
      }
  process.stdout.write(`${texts} texts: ${JSON.stringify(found)}\n`);
  assert.ok(texts > 10_000);
});

prose.run();
