import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';

// What every command says of a wrong line: one line on stderr, nothing on stdout, and nothing made or changed.
const usage = suite('Command line: what is refused');

/**
 * A line as a shell reads it, with variables before it, and its message: `…` stands for any text, at its end for an empty
 * one, too. What is written twice with other words is `{a,b}`. Begins with the exit code of all lines that follow.
 */
const refusals = `
exit 2
nonsense | there is no command "nonsense": …
backpu | there is no command "backpu": did you mean "backup"?
xyzzy | there is no command "xyzzy": see gapstone --help
--versoin | there is no option "--versoin": did you mean "--version"?
--json status | the command must come before "--json": see gapstone --help
--db g.db status | the command must come before "--db"…
status --db | --db needs a value
status --json=1 | --json takes no value
status --jsn | there is no option "--jsn": did you mean "--json"?
backup f --user-only | there is no option "--user-only": did you mean "--users-only"?
back\u001b[31mup | there is no command "back\ufffd[31mup": see gapstone --help
status --js\u001bon | there is no option "--js\ufffdon": did you mean "--json"?
${'x'.repeat(1000)} | there is no command "${'x'.repeat(64)}": see gapstone --help
import | give at least one PATH to import…
{backup,restore,import} '' | an argument is empty
status --users-db '' | --users-db is set but empty
GAPSTONE_USERS_DB= status | GAPSTONE_USERS_DB is set but empty
check --db g.db --users-db {g.db,./g.db} | --db and --users-db name the same file
upgrade-check | …

backup | …expected FILE, got 0…
backup x.zip --keep 3 | …--keep needs --into…
backup x.zip --into to | …expected no arguments, got 1…
backup --into to --keep 0 | …--keep must be a number from 1 to 99999, not "0"…
tidy --older-than soon | …--older-than must be a number with s, m, h or d…
GAPSTONE_SITE=../x backup --into to | GAPSTONE_SITE must be 1 to 64 letters…

token{, revoke} | …token issue…
token issue{, --subject ''} | …--subject must be given…
token issue --subject s --ttl soon | …--ttl must be a number with s, m, h or d, not "soon"…
token issue --subject s --ttl 91d | …--ttl must be from 1s to 90d…
token issue --subject s --entitlement admin | …--entitlement must be regdoc or occ, not "admin"…
token issue --subject s --secret x | …--secret…
integration-token{, constructor, revoke, assign x} | …
integration-token create --name n | …
integration-token create --name \u200b --org red | …
integration-token create --name n --org \u00ad | …
integration-token create --name n --org red --ttl soon | …
integration-token create --name n --org red stray | …

collection create --owner a --kind list --name N --item x | …--kind must be regdoc or role…
collection create --owner a --kind role --name N | …--item must be given…
collection create --owner a --kind role --item 15-1244.00 | …name is required…
collection create --owner a --kind role --item x --name ' ' | …name must have 1 to 200…
collection create --owner a --kind role --item x --name \u200b | …name must be one line…
collection create --owner a --kind role --item x --name N --tag a --tag a | …tags must differ…
collection create --owner a --kind role --item x --name N --color red | …#RRGGBB…
collection create --owner a --org o --kind role --item x --name N --visibility ALL | …PRIVATE or SHARED…
collection create --owner a --kind role --item 15-1244.00 --name N --visibility SHARED | …

mapping | "mapping" alone does nothing: the commands are "mapping set", "mapping remove" and "mapping list"
mapping lst | there is no command "mapping lst": did you mean "mapping list"?
mapping {unset,__proto__} | there is no command "mapping …": the commands are "mapping set", …
mapping {set,list} more | …expected no arguments, got 1…
mapping set --from a:1 --to b:2 --lantern | …lantern…
mapping remove --from cci:CCI-1 | --to must be given
mapping remove --from cci:CCI-1 --to nist-800-53:AC-1 --status auto | mapping remove takes --from and --to alone
mapping set --from cci:CCI-1 --to cci:CCI-2 --status auto --reason x
  | --from and --to must be of different frameworks; both are of cci
mapping set --to nist-800-53:AC-1 --status auto --reason x | --from must be given
mapping set --from cci:CCI-1 --status auto --reason x | --to must be given
mapping set --from cci:CCI-1 --to nist-800-53:AC-1 --reason x{, --status '', --status no, --status rejected#auto, --status __proto__}
  | --status must be one of: auto, verified, rejected
mapping set --from cci:CCI-1 --to nist-800-53:AC-1 --status auto | --reason must be given
mapping set --from cci:CCI-1 --to nist-800-53:AC-1 --status auto --reason {' ',${'x'.repeat(2001)}}
  | --reason must have 1 to 2000 characters
mapping set --to cci:CCI-1 --status auto --reason x --from {x,:,nist-800-53:,'nist-800-53: ',:AC-1}
  | --from must be <framework>:<identifier>, not "…"
mapping set --from cci:CCI-1 --status auto --reason x --to {x,:,nist-800-53:,'nist-800-53: ',:AC-1}
  | --to must be <framework>:<identifier>, not "…"
mapping set --from site:S-1 --status auto --reason x --to {nist-800-53:Lantern,nist-800-171:3.01.1,nist-800-171:9.9.9,cci:15}
  | --to: "…" is not an identifier of …

content | "content" alone does nothing: the commands are "content keygen", "content trust", "content build"…
content unpack | there is no command "content unpack": the commands are…
content keygen | …--out must be given…
content trust | …the commands are "content trust add", "content trust list" and "content trust remove"…
content trust add depot.pub | …--name must be given…
content trust add depot.pub --name {'a\u0007b',\u3164} | …--name must have 1 to 64 characters…
content trust add depot.pub --name a --channel 'A b' | …--channel must be 1 to 64 of a-z…
content trust list --channel main | …takes neither --name nor --channel…
content trust remove | …expected NAME, got 0 arguments…
content build --key depot | …--out must be given…
content build --out new | …--key must be given…
content build --out new --key depot {--since b,--split 1M,--expires 2027-01-01,--time 2026-01-01,--unsigned} | …there is no option…
content attach b s | …there is no command "content attach"…
content build --out new --key depot stray | …expected no arguments, got 1 arguments…
content build --out new --key depot --sequence {0,99999999999999999999} | …--sequence must be a whole number…
content {verify,apply,plan} | …expected BUNDLE, got 0 arguments…
content apply b b | …
content {rollback,list} b | …expected no arguments…

checklists --hosts h.csv --out new.zip | give either --list ID or --stig SLUG
checklists --stig x --list x --hosts h.csv --out new.zip | give either --list ID or --stig SLUG
checklists --stig x --out new.zip | --hosts must be given
checklists --stig x --hosts h.csv | --out must be given
checklists --stig harbor_linux_3 --hosts h.csv --out new.zip --format pdf | Invalid format. Must be one of: cklb, ckl
checklists --stig harbor_linux_3 --hosts h.csv --out new.zip --layout x | layout must be one of: stig, host
checklists --list x y --hosts h.csv --out new.zip | expected no arguments, got 1 arguments

exit 1
integration-token revoke nobody | …
collection create --owner a --kind role --name N --item 99-9999.99 | …no occupation "99-9999.99"…
collection create --owner a --kind regdoc --name N --item x | …no document "x"…
restore nothing.db | there is no backup at nothing.db
restore g.db --db no/such/slip.db | the folder of the database does not exist: no/such/slip.db
backup --into nowhere | …nowhere is not a folder: create it first…
upgrade-check nowhere | …nowhere is not a folder…
upgrade-check to | there is neither gapstone.db nor gapstone-users.db in to
references nothing | …there is no …nothing…
content build --out new --key depot.pub | …depot.pub …
content verify bundle | this site trusts no key yet: add one with "gapstone content trust add"
content apply bundle | …trusts no key yet…
content verify b --key depot.pub | …b is no bundle of Gapstone…
content verify nowhere --key depot.pub | …nowhere cannot be read: ENOENT…
checklists --stig harbor_linux_3 --hosts none.csv --out new.zip | none.csv: There is no host
checklists --stig harbor_linux_3 --hosts typo.csv --out new.zip
  | typo.csv: Line 1: there is no column "ipAdress". The columns are hostName, ipAddress, macAddress, fqdn, role, stigs
checklists --stig harbor_linux_3 --hosts nameless.csv --out new.zip
  | nameless.csv: Line 1: the column hostName is missing
checklists --stig harbor_linux_3 --hosts twice.csv --out new.zip
  | twice.csv: Line 1: the column hostName is listed twice
checklists --stig harbor_linux_3 --hosts bad.csv --out new.zip
  | bad.csv: Line 4 (web02): role must be one of: None, Workstation, Member Server, Domain Controller; Line 5: hostName is required
checklists --stig harbor_linux_3 --hosts open.csv --out new.zip | open.csv: Quote Not Closed: … line 2…
checklists --stig harbor_linux_3 --hosts long.csv --out new.zip
  | long.csv: Line 2 (${'x'.repeat(64)}): hostName must have at most 255 characters
checklists --stig harbor_linux_3 --hosts many.csv --out new.zip
  | many.csv: There are more than 500 hosts. One zip can have at most 500
checklists --stig harbor_linux_3 --hosts latin.csv --out new.zip | latin.csv cannot be read: not valid UTF-8…
checklists --stig harbor_linux_3 --hosts absent.csv --out new.zip | there is no file absent.csv
checklists --stig nothing --hosts h.csv --out new.zip | STIG not found: nothing…
checklists --list nothing --hosts h.csv --out new.zip | there is no list nothing
checklists --stig harbor_linux_3 --hosts h.csv --out h.csv | h.csv already exists…
checklists --stig harbor_linux_3 --hosts h.csv --out no/such/a.zip | the folder of no/such/a.zip does not…
self-assessment | STIG not found: application_security_and_development: import it first
self-assessment --stig harbor_linux_3 --answers state.csv
  | state.csv, line 2: status must be one of: not_a_finding, not_applicable, open, not_reviewed
self-assessment --stig harbor_linux_3 --answers again.csv | again.csv, line 3: V-1 is answered twice
self-assessment --stig harbor_linux_3 --answers ids.csv
  | ids.csv, line 2: groupId must have the form V-222387, not "SV-1r1_rule"
self-assessment --stig harbor_linux_3 --answers less.csv | less.csv: the column evidence is missing
self-assessment --stig harbor_linux_3 --answers cut.csv | cut.csv: …
`;

/** The files that the lines name; `//` ends a line. */
const tables: Record<string, string | Uint8Array> = {
  'h.csv': 'hostName//web01//',
  'none.csv': 'hostName//',
  'typo.csv': 'hostName,ipAdress//web01,10.0.0.1//',
  'nameless.csv': 'ipAddress//10.0.0.1//',
  'twice.csv': 'hostName,host//a,b//',
  'bad.csv': '\uFEFFhostName;role\r//web01;None\r//\r//web02;King\r//;None\r//',
  'open.csv': 'hostName//"web01//',
  'long.csv': `hostName//${'x'.repeat(256)}//`,
  'many.csv': `hostName//${Array.from({ length: 501 }, (_, index) => `h${index}`).join('//')}//`,
  'latin.csv': Buffer.from('hostName\nk\x81ln\n', 'latin1'),
  'state.csv': 'groupId,status,evidence,comment//V-1,closed,,//',
  'again.csv': 'groupId,status,evidence,comment//V-1,open,,//V-1,open,,//',
  'ids.csv': 'groupId,status,evidence,comment//SV-1r1_rule,open,,//',
  'less.csv': 'groupId,status,comment//V-1,open,x//',
  'cut.csv': 'groupId,status,evidence,comment//V-1,open,"//',
  b: 'no bundle, though it is long enough to be read as one: it goes on and on',
};

/** Each line that `{a,b}` stands for; `#` is a comma in one of them. */
function linesOf(line: string): string[] {
  const [whole, first, choices, last] = /^(.*?)\{(.*)\}(.*)$/.exec(line) ?? [null, '', '', ''];
  if (whole === null) return [line];
  const leading = (each: string) => (each.startsWith(' ') ? each : each.trimEnd());
  return choices!.split(',').map((each) => `${first}${leading(each).replace('#', ',')}${last}`);
}

const wordsOf = (line: string) =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);

usage('each line is told its fault, and nothing is made', async () => {
  const cwd = scratchFolder();
  const imported = [shipped('stigs'), shipped('roles'), shipped('regulatory')];
  assert.is((await commandHere(['import', ...imported, '--db', 'g.db'], { cwd })).code, 0);
  assert.is((await commandHere(['purge', '--db', 'g.db'], { cwd })).code, 0);
  for (const [name, text] of Object.entries(tables))
    put(cwd, name, typeof text === 'string' ? text.replaceAll('//', '\n') : text);
  put(cwd, 'to/there', '');
  await commandHere(['content', 'keygen', '--out', 'depot'], { cwd });
  const bundle = await build(await sampleCatalog([[shipped('roles')]]), sampleKey('other'));
  copyFileSync(bundle.file, join(cwd, 'bundle'));
  const before = filesIn(cwd);
  let code = 0;
  let tried = 0;
  for (const row of refusals.replaceAll('\n  |', ' |').split('\n')) {
    if (row.startsWith('exit ')) code = Number(row.slice(5));
    if (!row.includes(' | ')) continue;
    const [lines, message] = row.split(/ \| (.*)/s) as [string, string];
    const pattern = message
      .split('…')
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('[^\\n]*');
    for (const line of linesOf(lines)) {
      tried++;
      const words = wordsOf(line);
      const isVariable = (word: string) => /^[A-Z_]+=/.test(word);
      const env = Object.fromEntries(words.filter(isVariable).map((word) => word.split(/=(.*)/s, 2)));
      const ended = await commandHere(
        words.filter((word) => !isVariable(word)),
        { cwd, env: { GAPSTONE_DB: 'g.db', ...env } },
      );
      assert.equal([ended.code, ended.stdout], [code, ''], `${line}: ${ended.stderr}`);
      assert.match(ended.stderr, new RegExp(`^gapstone: ${pattern}\\n$`), line);
      assert.equal(filesIn(cwd), before, line);
    }
  }
  assert.ok(tried > 150, String(tried));
  assert.is((await commandHere([], { cwd })).code, 2);
});

usage.run();
