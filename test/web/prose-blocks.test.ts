import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { blocksOf, Prose } from '../../src/pages/parts/prose.tsx';
import { growthOf } from '../support/effort.ts';
import { suite, testIf } from '../support/harness.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { referenceData } from '../support/reference.ts';
import { linesOf, rowsOf } from '../support/tables.ts';
import { joinTexts, readBenchmark } from '../support/xccdf-reader.ts';

const prose = suite('Prose of checks and fixes');

/** The blocks of a text, each as its kind, the prompt in braces, and its text; ⏎ stands for the end of a line. */
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

/** What is read, and a line for each of its blocks: without kinds and braces they are the text. */
const samples = String.raw`
a prompt is no part of the command, sudo is
  words: Look at the banner:⏎⏎
  command: {$ }sudo grep -i banner /etc/ssh/sshd_config⏎
  words: ⏎Banner /etc/issue⏎⏎If there is none, say so.
a command needs no prompt, and blanks at its end stay
  words: Run this command:⏎
  command: grep -i banner /etc/ssh/sshd_config ⏎
  words: It must name a file.
each command stands alone, a continued one is one
  command: {# }systemctl stop demo⏎
  command: {# }systemctl mask \⏎    demo.service
a quoted document belongs to its command
  command: cat <<EOF > /etc/demo.conf⏎The first line is here.⏎EOF⏎
  words: Done with the file.
a comment of a file is no command of root
  words: Add these lines:⏎⏎
  literal: # Demo = 1⏎Demo = 2⏎
a router has prompts of its own
  command: {R1(config)# }no ip http server⏎
  command: {R1(config)#}end⏎
  command: {SW2# }show run
PowerShell with and without a prompt
  command: {PS C:\> }Get-Service demo⏎
  command: Get-ADUser -Filter * | Where-Object {⏎  $_.Enabled⏎}⏎
  words: Get-well cards are no command.
a statement of SQL is one, up to its end
  words: Run the query:⏎
  command: SELECT name,⏎  state⏎FROM demo.things⏎  where state = 1⏎  and name <> 2;⏎
  words: Compare the answer with the list.
values of the registry are contents, not commands
  words: Registry:⏎
  literal: Registry Hive: HKEY_LOCAL_MACHINE⏎Registry Path: \SOFTWARE\Demo\⏎
  words: ⏎
  literal: Value Name: On⏎Value: 1⏎
  words: ⏎This is a demo.
`;
for (const sample of samples.trim().split(/\n(?! )/)) {
  const [what, ...lines] = sample.split('\n');
  const blocks = lines.map((line) => line.slice(2));
  const text = blocks.map((block) => block.replace(/^\w+: (?:\{([^}]+)\})?/, '$1')).join('');
  prose(what!, () => assert.equal(shown(text.replaceAll('⏎', '\n')), blocks));
}

prose('prompts of all kinds are left out of what is copied, and nothing else', () => {
  for (const [line, copied] of rowsOf(String.raw`
    $ ls -l /tmp | ls -l /tmp
    # ls -l | ls -l
    > show version | show version
    C:\Windows> icacls c:\demo | icacls c:\demo
    PS> Get-Demo | Get-Demo
    [root@host ~]# id  demo | id  demo
    admin@fw-1> show admins | show admins
    Router# show version | show version
    SQL> SHOW demo | SHOW demo
    postgres=# \du | \du
    sudo ls | sudo ls
    /usr/sbin/demo | /usr/sbin/demo
    awk -F: '$3 < 1 {print $1}' /etc/demo | awk -F: '$3 < 1 {print $1}' /etc/demo
    auditpol /get /category:* | auditpol /get /category:*
  `))
    assert.equal(typed(line!), [copied], line);
  assert.equal(typed('  $ ls -l'), ['ls -l']);
});

prose('what is read is not taken for what is typed', () => {
  for (const line of linesOf(`
    Set the value to 1.
    Select "OK" and then "Apply".
    Find the file and look at the mode.
    find the file and look at the mode.
    If the mode is not 0600, it is wrong.
    1. Open the editor with demo.msc.
    # This line is a comment that people read.
    - The group must be empty.
    Computer Configuration >> Demo >> Policy
    Administrators
    Run the command "ls -l".
    USE OF THIS SYSTEM IS RESTRICTED.
    mount the disk before the check is made.
  `))
    assert.equal(kinds(line), ['words'], line);
  // A text that was wrapped and indented as a whole has no lines to go by.
  assert.equal(kinds('Run:\n                    $ ls\n                    -l /tmp and look.'), ['words']);
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
  const pieces = [
    ...['\n', '\n\n', ' ', '\t', '$ ', '# ', 'PS C:\\> ', '\\\n', '"', "'", '{', '<<EOF\n', 'SELECT ', 'ls '],
    ...[
      'a = b',
      'The end is near. ',
      'Do this:\n',
      ' for x in y; do\n',
      'done',
      '\u00a0',
      '…',
      '<key>a</key>',
    ],
    '&amp;',
  ];
  const part = fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 8 }));
  const text = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (each) => {
      assert.is(together(each), each);
      if (each.trim() !== '') assert.is(textOf(htmlOf(each)), each);
    }),
    { numRuns: 400 },
  );
});

prose(
  'a long text of any one line is read in time that grows with its length; a longer one is words',
  async () => {
    const words = ['$ ls \\', 'cat <<EOF', '"', 'SELECT', 'a b', ' {', 'Get-Demo {', '# ', "echo '"];
    const lines = words.map((word) => `${word}\n`);
    for (const line of [...lines, '“', 'Name: ', 'a=  ']) {
      const grown = await growthOf((size) => {
        const text = line.repeat(size / line.length);
        for (let turn = 0; turn < 5; turn++) assert.is(together(text), text);
      }, 25_000);
      assert.ok(grown < 3.5, `${line}: ${grown.toFixed(1)}`);
      if (line.endsWith('\n')) assert.equal(kinds(line.repeat(1_000_000 / line.length)), ['words']);
    }
    for (const line of ['“'.repeat(50_000), `Name:${' '.repeat(49_000)}the`, `a=${' '.repeat(49_000)}the`])
      assert.is(together(line), line);
  },
);

/** Registers a test that needs the publishers’ files. */
const onReal = testIf(referenceData, prose);

onReal('every published check and fix is shown as it was published', async () => {
  let texts = 0;
  for (const file of await benchmarkFiles())
    for (const { checks, fixTexts } of readBenchmark(file.text).rules)
      for (const text of [joinTexts(checks.map((check) => check.content)), joinTexts(fixTexts)]) {
        texts++;
        assert.is(together(text), text);
        if (text.trim() !== '') assert.is(textOf(htmlOf(text)), text);
      }
  assert.ok(texts > 10_000);
});

prose.run();
