import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { configWarnings, type Flags, readConfig } from '../src/base/config.ts';
import { CommandError } from '../src/base/errors.ts';
import { packageRoot } from '../src/base/root.ts';
import { suite } from './support/harness.ts';
import { put, scratchFolder } from './support/scratch.ts';
import { rowsOf } from './support/tables.ts';

const config = suite('Configuration');

function failure(env: Record<string, string>, flags: Flags = {}): string {
  try {
    readConfig(flags, env);
  } catch (error) {
    assert.instance(error, CommandError);
    assert.is((error as CommandError).exitCode, 2);
    assert.not.match((error as CommandError).message, /\n/, 'one line');
    return (error as CommandError).message;
  }
  throw new Error(`it was not refused: ${JSON.stringify({ flags, env })}`);
}

const folder = scratchFolder();
const file = put(folder, 'file.pem', '{}');

config('defaults', () => {
  const defaults = readConfig({}, {});
  assert.equal(defaults.claims, { sub: 'sub', email: 'email', org: 'org', entitlements: 'entitlements' });
  for (const [name, value] of rowsOf(`
    db | gapstone.db
    usersDb | gapstone-users.db
    host | 127.0.0.1
    port | 8080
    jwks | null
    issuer | gapstone
    audience | gapstone
    keyFile | gapstone-key.json
    auditFile | gapstone-audit.jsonl
    auditFailure | stop
    logLevel | info
    banner | null
    rateLimit | null
    maxBody | 1048576
    maxConnections | 1000
    requestTimeout | 30
  `))
    assert.is(String(defaults[name as 'db']), value, name);
  assert.ok(Object.isFrozen(defaults));
});

config('flags win over environment, environment over defaults', () => {
  const env = { GAPSTONE_DB: '/e/g.db', GAPSTONE_HOST: '0.0.0.0', GAPSTONE_PORT: '81' };
  const fromEnv = readConfig({}, env);
  assert.equal([fromEnv.db, fromEnv.host, fromEnv.port], ['/e/g.db', '0.0.0.0', 81]);
  assert.is(fromEnv.keyFile, '/e/gapstone-key.json');
  const empty = { GAPSTONE_DB: '', GAPSTONE_HOST: '', GAPSTONE_PORT: 'tcp://10.0.0.1:8080' };
  for (const beside of [env, empty]) {
    const { db, host, port } = readConfig({ db: '/f/g.db', host: '::1', port: '82' }, beside);
    assert.equal([db, host, port], ['/f/g.db', '::1', 82], 'what is wrong or empty is not looked at');
  }
  for (const name of ['db', 'host', 'port']) failure({}, { [name]: '' });
});

/** Values of a variable, between two bars each and `_` for a blank, and what is said of each; `*` stands for it. */
const wrong = `
  PORT | abc -1 65536 99999 1e3 0x50 80.5 _80 80_ 8080a １ 123456 | GAPSTONE_PORT must be a number from 0 to 65535, not "*"
  LOG_LEVEL | INFO trace verbose 1 | GAPSTONE_LOG_LEVEL must be debug, info, warn or error, not "*"
  RATE_LIMIT | 0 -1 1.5 1e3 on 9999999999 | GAPSTONE_RATE_LIMIT must be off or a number of requests a minute, not "*"
  MAX_BODY | 1023 67108865 off 1k _5 0x10 | GAPSTONE_MAX_BODY must be a number from 1024 to 67108864, not "*"
  MAX_CONNECTIONS | 0 65536 off 1k | GAPSTONE_MAX_CONNECTIONS must be a number from 1 to 65535, not "*"
  REQUEST_TIMEOUT | 0 3601 off 1s | GAPSTONE_REQUEST_TIMEOUT must be a number from 1 to 3600, not "*"
  AUDIT_FAILURE | halt | GAPSTONE_AUDIT_FAILURE must be stop or continue, not "*"
  TRUSTED_PROXIES | proxy 10.0.0.0/33 10.0.0.1/8/8 ::1/129 10.0.0 | GAPSTONE_TRUSTED_PROXIES has an invalid entry: "*"
  CORS_ORIGINS | * null a.example https://a.example/ https://a.example?b | GAPSTONE_CORS_ORIGINS has an invalid entry: "*"
  CORS_ORIGINS | https://a.example#b https://a.example\\b https://u:p@a.example https://*.example | GAPSTONE_CORS_ORIGINS has an invalid entry: "*"
  BANNER | _ a\nb \u202e ${'x'.repeat(201)} | GAPSTONE_BANNER must be one line of 1 to 200 characters
  DB HOST PORT ISSUER AUDIENCE KEY_FILE LOG_LEVEL CLAIM_SUB CLAIM_EMAIL CLAIM_ORG CLAIM_ENTITLEMENTS JWKS USERS_DB | _ \t | GAPSTONE_# is set but empty
`;

config('a wrong value stops the start in one line that names the variable', () => {
  for (const line of wrong.trim().split('\n  ')) {
    const [names, values, message] = line.split(' | ') as [string, string, string];
    for (const name of names.split(' '))
      for (const value of values.split(' ').map((each) => each.replace('_', ' '))) {
        const others = name === 'JWKS' ? { GAPSTONE_ISSUER: 'i', GAPSTONE_AUDIENCE: 'a' } : {};
        const said = message.replace('#', name).replace(/"\*"/, () => `"${value}"`);
        assert.is(failure({ ...others, [`GAPSTONE_${name}`]: value }), said);
      }
  }
  assert.is(failure({}, { port: '80x' }), '--port must be a number from 0 to 65535, not "80x"');
  assert.ok(failure({ GAPSTONE_LOG_LEVEL: 'x'.repeat(5000) }).length < 120, 'a long one is cut');
  assert.match(failure({ GAPSTONE_CORS_ORIGINS: 'https://good.example,null' }), 'invalid entry: "null"');
  for (const [name, good] of rowsOf(`
    PORT | 0
    PORT | 65535
    MAX_BODY | 67108864
    MAX_CONNECTIONS | 65535
    REQUEST_TIMEOUT | 3600
  `))
    readConfig({}, { [`GAPSTONE_${name}`]: good! });
});

config('limits, lists and the banner are read', () => {
  const limit = (GAPSTONE_RATE_LIMIT: string) => readConfig({}, { GAPSTONE_RATE_LIMIT }).rateLimit;
  assert.equal([limit('600'), limit('OFF')], [600, null]);
  const { corsOrigins, trustedProxies, banner } = readConfig(
    {},
    {
      GAPSTONE_CORS_ORIGINS: 'https://a.example, http://b.example:8080',
      GAPSTONE_TRUSTED_PROXIES: '10.0.0.1,fd00::/8',
      GAPSTONE_BANNER: ' UNCLASSIFIED // FOUO ',
    },
  );
  assert.equal(corsOrigins, ['https://a.example', 'http://b.example:8080']);
  assert.equal(trustedProxies, ['10.0.0.1', 'fd00::/8']);
  assert.is(banner, 'UNCLASSIFIED // FOUO');
});

config('what belongs together is set together, and a file that is named is there', () => {
  const none = `${file}.none`;
  const both = { GAPSTONE_ISSUER: 'i', GAPSTONE_AUDIENCE: 'a' };
  const missing = 'GAPSTONE_JWKS also needs GAPSTONE_ISSUER and GAPSTONE_AUDIENCE: set both';
  const together = 'GAPSTONE_TLS_CERT and GAPSTONE_TLS_KEY must both be set';
  for (const [env, message] of [
    [{ GAPSTONE_JWKS: file }, missing],
    [{ GAPSTONE_JWKS: file, GAPSTONE_ISSUER: 'i' }, missing],
    [{ GAPSTONE_JWKS: file, GAPSTONE_AUDIENCE: 'a' }, missing],
    [{ GAPSTONE_JWKS: none, ...both }, `GAPSTONE_JWKS is not a file: ${none}`],
    [{ GAPSTONE_JWKS: folder, ...both }, `GAPSTONE_JWKS is not a file: ${folder}`],
    [{ GAPSTONE_TLS_CERT: file }, together],
    [{ GAPSTONE_TLS_KEY: file }, together],
    [{ GAPSTONE_TLS_CERT: file, GAPSTONE_TLS_KEY: '' }, 'GAPSTONE_TLS_KEY is set but empty'],
    [{ GAPSTONE_TLS_CERT: file, GAPSTONE_TLS_KEY: none }, `GAPSTONE_TLS_KEY is not a file: ${none}`],
    [{ GAPSTONE_DB: '/d/g.db', GAPSTONE_USERS_DB: '/d/../d/g.db' }, /.* name the same file$/],
  ] as [Record<string, string>, string | RegExp][])
    assert.match(failure(env), typeof message === 'string' ? `${message}` : message);
  const { jwks, issuer, audience } = readConfig({}, { ...both, GAPSTONE_JWKS: file });
  assert.equal([jwks, issuer, audience], [file, 'i', 'a']);
  const { tls } = readConfig({}, { GAPSTONE_TLS_CERT: file, GAPSTONE_TLS_KEY: file });
  assert.equal(tls, { cert: file, key: file });
});

config('users’ data lies beside the catalog, key and audit stream beside users’ data', () => {
  for (const [db, usersDb] of rowsOf(`
    /d/g.db | /d/g-users.db
    g | g-users.db
    /d.e/g | /d.e/g-users.db
    /d.e/g.h.db | /d.e/g.h-users.db
    :memory: | :memory:
  `))
    assert.is(readConfig({ db: db! }, {}).usersDb, usersDb);
  const env = { GAPSTONE_USERS_DB: '/e/u.db' };
  assert.is(readConfig({ db: '/d/g.db' }, env).usersDb, '/e/u.db');
  const { usersDb, keyFile, auditFile } = readConfig({ db: '/d/g.db', usersDb: '/f/u.db' }, env);
  assert.equal([usersDb, keyFile, auditFile], ['/f/u.db', '/f/gapstone-key.json', '/f/gapstone-audit.jsonl']);
});

config(
  'a variable that is not known is named, bounded and without its value; documented ones are known',
  () => {
    const warningsOf = (env: Record<string, string>) => configWarnings(readConfig({}, {}), env);
    const table = readFileSync(join(packageRoot, 'docs', 'operate.md'), 'utf8').match(/^\| `GAPSTONE_.*$/gm)!;
    const documented = table.flatMap((row) => row.split('|')[1]!.match(/GAPSTONE_[A-Z_]+/g)!);
    assert.ok(documented.length > 40);
    assert.equal(warningsOf(Object.fromEntries(documented.map((name) => [name, 'x']))), []);
    assert.equal(warningsOf({ PATH: '/bin', gapstone_db: 'x', XGAPSTONE_DB: 'x', GAPSTONE: 'x' }), []);
    const msg = 'unknown environment variables';
    assert.equal(warningsOf({ GAPSTONE_PROT: 'canary', GAPSTONE_: 'canary', GAPSTONE_DB: 'g.db' }), [
      { msg, fields: { names: ['GAPSTONE_', 'GAPSTONE_PROT'] } },
    ]);
    const hostile = `GAPSTONE_\n\u001b[31m\u202e${'x'.repeat(1000)}`;
    assert.equal(warningsOf({ [hostile]: 'x' }), [
      { msg, fields: { names: [`GAPSTONE_\ufffd\ufffd[31m\ufffd${'x'.repeat(64 - 16)}`] } },
    ]);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`GAPSTONE_X${i}`, 'x']));
    const [warning] = warningsOf(many);
    assert.is(warning!.fields.names!.length, 20);
  },
);

config('a cron secret of fewer than 16 characters is told of, and is no reason not to start', () => {
  const warningsOf = (GAPSTONE_CRON_SECRET: string) =>
    configWarnings(readConfig({}, { GAPSTONE_CRON_SECRET }), { GAPSTONE_CRON_SECRET });
  const warning = { msg: 'GAPSTONE_CRON_SECRET has fewer than 16 characters', fields: {} };
  assert.equal(warningsOf('canary-secret-x'), [warning]);
  assert.equal(warningsOf('canary-secret-16'), []);
});

config.run();
