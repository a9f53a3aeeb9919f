import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { readConfig } from '../../src/base/config.ts';
import { isThere, statIfThere } from '../../src/base/files.ts';
import { suite, testIf } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { actingAsNobody, nobodyRunsProgram } from '../support/nobody.ts';
import { put, scratchFolder } from '../support/scratch.ts';

// Rule D44.4: a missing right is never reported as a missing file.
const rights = suite('A missing right');

rights('a path without a name above it is not there, one that cannot be known throws', () => {
  const folder = scratchFolder();
  const file = put(folder, 'file', 'x');
  assert.equal([isThere(file), isThere(folder), statIfThere(file)!.size], [true, true, 1]);
  assert.equal([isThere(join(folder, 'none')), isThere(join(file, 'below'))], [false, false]);
  const long = join(folder, 'n'.repeat(300));
  assert.throws(
    () => readConfig({}, { GAPSTONE_INBOX: long }),
    /^GAPSTONE_INBOX is wrong: ENAMETOOLONG: name too long/,
  );
});

/** A command whose `PATH` lies in a folder that nobody may enter; before it stands the setting that names it, where it is one. */
const commands = `import PATH
import --once PATH
import mine.xml --slugs PATH
import mine.xml --db PATH
status --db PATH
check --db PATH
serve --db PATH
start --db PATH
start --db g.db --users-db PATH
backup copy.zip --db PATH
backup copy.db --users-only --users-db PATH
restore PATH --db g.db
restore mine.xml --db PATH
purge --users-db PATH --db g.db
token issue --subject ann --db PATH
GAPSTONE_KEY_FILE= token issue --subject ann
GAPSTONE_JWKS= serve
GAPSTONE_TLS_CERT= serve
GAPSTONE_INBOX= serve
GAPSTONE_KEY_FILE= serve --db g.db
GAPSTONE_AUDIT_FILE= start --db g.db
check --db g.db --audit PATH
check --upgrade PATH
content verify PATH
content plan PATH
content apply PATH
content apply mine.xml --users-db PATH
content rollback --db PATH
content list --users-db PATH
content trust list --users-db PATH
content trust add PATH --name n
content keygen --out PATH
content build --out new.bundle --key PATH --sequence 1 --db g.db
checklists --stig x --hosts PATH --out o.zip --db g.db
check --self-assessment --answers PATH --db g.db`.split('\n');

const missing =
  /does not exist|there is no (?:database|file|backup)|is missing|trusts no key|is not a (?:file|folder)|nothing to import|is in neither/;

const withRights = testIf(await nobodyRunsProgram(), rights);
withRights('is what every command says that was given a path in a folder that it may not enter', async () => {
  const folder = scratchFolder();
  const closed = join(folder, 'closed');
  const file = put(closed, 'file', 'x');
  chmodSync(closed, 0o700);
  chmodSync(folder, 0o755);
  const cwd = join(folder, 'own');
  mkdirSync(cwd);
  put(cwd, 'mine.xml', '<x/>');
  chmodSync(join(cwd, 'mine.xml'), 0o644);
  chmodSync(cwd, 0o777);
  const inPlace = { cwd, env: {} };
  await actingAsNobody(() => commandHere(['import', 'mine.xml', '--db', 'g.db'], inPlace));
  const wrong: string[] = [];
  for (const line of commands) {
    const [, setting, command] = /^(?:(\w+)= )?(.*)$/.exec(line)!;
    const args = command!.split(' ').map((arg) => (arg === 'PATH' ? file : arg));
    const env =
      setting === undefined ? {} : { [setting]: file, GAPSTONE_ISSUER: 'i', GAPSTONE_AUDIENCE: 'a' };
    const { code, stdout, stderr } = await actingAsNobody(() => commandHere(args, { cwd, env }));
    const said = stdout + stderr;
    const isTold =
      /EACCES|EPERM|permission denied/.test(said) && said.includes(`${closed} belongs to uid 0,`);
    if (!isTold || missing.test(said) || code === 0 || /\n\s+at /.test(said))
      wrong.push(`${args.join(' ')} ${setting ?? ''}: ${code} ${said}`);
  }
  assert.equal(wrong, []);
});

rights.run();
