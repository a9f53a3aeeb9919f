import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { configWarnings, type Flags, readConfig } from '../src/base/config.ts';
import { CommandError } from '../src/base/errors.ts';
import { packageRoot } from '../src/base/root.ts';
import { suite } from './support/harness.ts';
import { put, scratchFolder } from './support/scratch.ts';

const config = suite('Configuration');

function failure(flags: Flags, env: Record<string, string>): string {
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

config('defaults', () => {
  const defaults = readConfig({}, {});
  assert.is(defaults.db, 'gapstone.db');
  assert.is(defaults.host, '127.0.0.1');
  assert.is(defaults.port, 8080);
  assert.is(defaults.jwks, null);
  assert.is(defaults.issuer, 'gapstone');
  assert.is(defaults.audience, 'gapstone');
  assert.equal(defaults.claims, { sub: 'sub', email: 'email', org: 'org', entitlements: 'entitlements' });
  assert.is(defaults.keyFile, 'gapstone-key.json');
  assert.is(defaults.logLevel, 'info');
  assert.ok(Object.isFrozen(defaults));
});

config('flags win over environment, environment over defaults', () => {
  const env = {
    GAPSTONE_DB: '/e/g.db',
    GAPSTONE_HOST: '0.0.0.0',
    GAPSTONE_PORT: '81',
    GAPSTONE_LOG_LEVEL: 'warn',
  };
  const fromEnv = readConfig({}, env);
  assert.equal(
    [fromEnv.db, fromEnv.host, fromEnv.port, fromEnv.logLevel],
    ['/e/g.db', '0.0.0.0', 81, 'warn'],
  );
  assert.is(fromEnv.keyFile, '/e/gapstone-key.json');
  const fromFlags = readConfig({ db: '/f/g.db', host: '::1', port: '82' }, env);
  assert.equal([fromFlags.db, fromFlags.host, fromFlags.port], ['/f/g.db', '::1', 82]);
  assert.is(fromFlags.keyFile, '/f/gapstone-key.json');
  const empty = { GAPSTONE_DB: '', GAPSTONE_HOST: '', GAPSTONE_PORT: '' };
  const beside = readConfig({ db: '/f/g.db', host: '::1', port: '82' }, empty);
  assert.equal(
    [beside.db, beside.host, beside.port],
    ['/f/g.db', '::1', 82],
    'what is empty is not looked at',
  );
});

config('a wrong port stops the start, as flag and as variable', () => {
  for (const port of [
    'abc',
    '-1',
    '65536',
    '99999',
    '1e3',
    '0x50',
    '80.5',
    ' 80',
    '80 ',
    '8080a',
    '１',
    '123456',
  ])
    for (const [name, message] of Object.entries({
      '--port': failure({ port }, {}),
      GAPSTONE_PORT: failure({}, { GAPSTONE_PORT: port }),
    }))
      assert.is(message, `${name} must be a number from 0 to 65535, not "${port}"`);
  for (const port of ['0', '1', '65535']) assert.is(readConfig({ port }, {}).port, Number(port));
});

config('a port as Kubernetes sets it for a service of this name is refused with the cause', () => {
  const message = failure({}, { GAPSTONE_PORT: 'tcp://10.0.0.1:8080' });
  assert.match(
    message,
    /^GAPSTONE_PORT must be a number from 0 to 65535, not "tcp:\/\/10\.0\.0\.1:8080"\. Kubernetes sets this value/,
  );
  assert.match(message, /enableServiceLinks: false/);
  const env = { GAPSTONE_PORT: 'tcp://10.0.0.1:8080' };
  assert.is(readConfig({ port: '81' }, env).port, 81, 'a flag wins over what is wrong in the environment');
});

config('a long wrong value is cut', () => {
  assert.is(failure({ port: 'x'.repeat(5000) }, {}).length < 120, true);
  assert.is(failure({}, { GAPSTONE_LOG_LEVEL: 'x'.repeat(5000) }).length < 120, true);
});

config('a variable that is set but empty stops the start and is named', () => {
  const names =
    'DB HOST PORT ISSUER AUDIENCE KEY_FILE LOG_LEVEL CLAIM_SUB CLAIM_EMAIL CLAIM_ORG CLAIM_ENTITLEMENTS JWKS'.split(
      ' ',
    );
  const others = { GAPSTONE_ISSUER: 'i', GAPSTONE_AUDIENCE: 'a' };
  for (const name of names)
    for (const value of ['', ' ', '\t'])
      assert.is(failure({}, { ...others, [`GAPSTONE_${name}`]: value }), `GAPSTONE_${name} is set but empty`);
});

config('an empty flag stops the start: it is a shell variable that was not set', () => {
  failure({ db: '' }, {});
  failure({ host: '' }, {});
  failure({ port: '' }, {});
});

config('an unknown log level stops the start', () => {
  for (const level of ['INFO', 'trace', 'verbose', '1'])
    assert.is(
      failure({}, { GAPSTONE_LOG_LEVEL: level }),
      `GAPSTONE_LOG_LEVEL must be debug, info, warn or error, not "${level}"`,
    );
});

config('a key set needs issuer and audience beside it, and a file', () => {
  const folder = scratchFolder();
  const GAPSTONE_JWKS = put(folder, 'jwks.json', '{}');
  const missing = 'GAPSTONE_JWKS also needs GAPSTONE_ISSUER and GAPSTONE_AUDIENCE: set both';
  assert.is(failure({}, { GAPSTONE_JWKS }), missing);
  assert.is(failure({}, { GAPSTONE_JWKS, GAPSTONE_ISSUER: 'i' }), missing);
  assert.is(failure({}, { GAPSTONE_JWKS, GAPSTONE_AUDIENCE: 'a' }), missing);
  const both = { GAPSTONE_ISSUER: 'i', GAPSTONE_AUDIENCE: 'a' };
  for (const path of [join(folder, 'none.json'), folder])
    assert.is(failure({}, { ...both, GAPSTONE_JWKS: path }), `GAPSTONE_JWKS is not a file: ${path}`);
  const good = readConfig({}, { ...both, GAPSTONE_JWKS });
  assert.equal([good.jwks, good.issuer, good.audience], [GAPSTONE_JWKS, 'i', 'a']);
});

config('limits are whole numbers within bounds, and the rate limit may be off', () => {
  const defaults = readConfig({}, {});
  assert.equal(
    [defaults.rateLimit, defaults.maxBody, defaults.maxConnections, defaults.requestTimeout],
    [null, 1024 * 1024, 1000, 30],
  );
  assert.is(readConfig({}, { GAPSTONE_RATE_LIMIT: '600' }).rateLimit, 600);
  assert.is(readConfig({}, { GAPSTONE_RATE_LIMIT: 'OFF' }).rateLimit, null);
  for (const value of ['0', '-1', '1.5', '1e3', 'on', '9999999999'])
    assert.is(
      failure({}, { GAPSTONE_RATE_LIMIT: value }),
      `GAPSTONE_RATE_LIMIT must be off or a number of requests a minute, not "${value}"`,
    );
  const bounds: [string, number, number][] = [
    ['MAX_BODY', 1024, 64 * 1024 * 1024],
    ['MAX_CONNECTIONS', 1, 65535],
    ['REQUEST_TIMEOUT', 1, 3600],
  ];
  for (const [name, least, most] of bounds) {
    for (const good of [least, most]) readConfig({}, { [`GAPSTONE_${name}`]: String(good) });
    for (const value of [String(least - 1), String(most + 1), 'off', '1k', ' 5', '0x10'])
      assert.is(
        failure({}, { [`GAPSTONE_${name}`]: value }),
        `GAPSTONE_${name} must be a number from ${least} to ${most}, not "${value}"`,
      );
  }
});

config('certificate and key come together and are files', () => {
  const file = put(scratchFolder(), 'tls.pem', 'x');
  const together = 'GAPSTONE_TLS_CERT and GAPSTONE_TLS_KEY must both be set';
  assert.is(failure({}, { GAPSTONE_TLS_CERT: file }), together);
  assert.is(failure({}, { GAPSTONE_TLS_KEY: file }), together);
  assert.is(
    failure({}, { GAPSTONE_TLS_CERT: file, GAPSTONE_TLS_KEY: '' }),
    'GAPSTONE_TLS_KEY is set but empty',
  );
  assert.is(
    failure({}, { GAPSTONE_TLS_CERT: file, GAPSTONE_TLS_KEY: `${file}.none` }),
    `GAPSTONE_TLS_KEY is not a file: ${file}.none`,
  );
  assert.equal(readConfig({}, { GAPSTONE_TLS_CERT: file, GAPSTONE_TLS_KEY: file }).tls, {
    cert: file,
    key: file,
  });
});

config('origins are exact and proxies are addresses', () => {
  const origins = 'https://a.example, http://b.example:8080';
  assert.equal(readConfig({}, { GAPSTONE_CORS_ORIGINS: origins }).corsOrigins, [
    'https://a.example',
    'http://b.example:8080',
  ]);
  for (const value of [
    '*',
    'null',
    'a.example',
    'https://a.example/',
    'https://a.example?b',
    'https://a.example#b',
    'https://a.example\\b',
    'https://u:p@a.example',
    'https://*.example',
    '',
  ])
    assert.is(
      failure({}, { GAPSTONE_CORS_ORIGINS: `https://good.example,${value}` }),
      `GAPSTONE_CORS_ORIGINS has an invalid entry: "${value}"`,
    );
  assert.equal(readConfig({}, { GAPSTONE_TRUSTED_PROXIES: '10.0.0.1,fd00::/8' }).trustedProxies, [
    '10.0.0.1',
    'fd00::/8',
  ]);
  for (const value of ['proxy', '10.0.0.0/33', '10.0.0.1/8/8', '::1/129', '10.0.0', ''])
    assert.is(
      failure({}, { GAPSTONE_TRUSTED_PROXIES: value }),
      `GAPSTONE_TRUSTED_PROXIES has an invalid entry: "${value}"`,
    );
});

config('users’ data lies beside the catalog, key and audit stream beside users’ data', () => {
  for (const [db, usersDb] of [
    ['/d/g.db', '/d/g-users.db'],
    ['g.db', 'g-users.db'],
    ['g', 'g-users.db'],
    ['/d.e/g', '/d.e/g-users.db'],
    ['/d.e/g.h.db', '/d.e/g.h-users.db'],
    [':memory:', ':memory:'],
  ] as const)
    assert.is(readConfig({ db }, {}).usersDb, usersDb);
  assert.equal([readConfig({}, {}).db, readConfig({}, {}).usersDb], ['gapstone.db', 'gapstone-users.db']);
  const env = { GAPSTONE_USERS_DB: '/e/u.db' };
  assert.is(readConfig({ db: '/d/g.db' }, env).usersDb, '/e/u.db');
  const { usersDb, keyFile, auditFile } = readConfig({ db: '/d/g.db', 'users-db': '/f/u.db' }, env);
  assert.equal([usersDb, keyFile, auditFile], ['/f/u.db', '/f/gapstone-key.json', '/f/gapstone-audit.jsonl']);
  assert.is(failure({}, { GAPSTONE_USERS_DB: ' ' }), 'GAPSTONE_USERS_DB is set but empty');
  assert.is(
    failure({ db: '/d/g.db' }, { GAPSTONE_USERS_DB: '/d/../d/g.db' }),
    '--db and --users-db name the same file',
  );
});

config('the audit file stands beside users’ data, the banner is one line', () => {
  assert.is(readConfig({ db: '/d/g.db' }, {}).auditFile, '/d/gapstone-audit.jsonl');
  assert.is(readConfig({}, {}).auditFailure, 'stop');
  assert.is(
    failure({}, { GAPSTONE_AUDIT_FAILURE: 'halt' }),
    'GAPSTONE_AUDIT_FAILURE must be stop or continue, not "halt"',
  );
  assert.is(readConfig({}, {}).banner, null);
  assert.is(readConfig({}, { GAPSTONE_BANNER: ' UNCLASSIFIED // FOUO ' }).banner, 'UNCLASSIFIED // FOUO');
  for (const value of ['', ' ', 'a\nb', 'x'.repeat(201), '\u202e'])
    assert.is(
      failure({}, { GAPSTONE_BANNER: value }),
      'GAPSTONE_BANNER must be one line of 1 to 200 characters',
    );
});

config(
  'a variable that is not known is named, bounded and without its value; every documented one is known',
  () => {
    const warningsOf = (env: Record<string, string>) => configWarnings(readConfig({}, {}), env);
    const table = readFileSync(join(packageRoot, 'docs', 'operate.md'), 'utf8').match(/^\| `GAPSTONE_.*$/gm)!;
    const documented = table.flatMap((row) => row.split('|')[1]!.match(/GAPSTONE_[A-Z_]+/g)!);
    assert.is(documented.length, 41);
    assert.equal(warningsOf(Object.fromEntries(documented.map((name) => [name, 'x']))), []);
    const others = { PATH: '/bin', gapstone_db: 'x', XGAPSTONE_DB: 'x', GAPSTONE: 'x' };
    assert.equal(warningsOf(others), []);
    const msg = 'unknown environment variables';
    assert.equal(warningsOf({ GAPSTONE_PROT: 'canary', GAPSTONE_: 'canary', GAPSTONE_DB: 'g.db' }), [
      { msg, fields: { names: ['GAPSTONE_', 'GAPSTONE_PROT'] } },
    ]);
    const hostile = `GAPSTONE_\n\u001b[31m\u202e${'x'.repeat(1000)}`;
    assert.equal(warningsOf({ [hostile]: 'x' }), [
      { msg, fields: { names: [`GAPSTONE_\ufffd\ufffd[31m\ufffd${'x'.repeat(64 - 16)}…`] } },
    ]);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`GAPSTONE_X${i}`, 'x']));
    const [warning] = warningsOf(many);
    assert.equal([(warning!.fields.names as string[]).length, warning!.fields.more], [20, 980]);
  },
);

config('a cron secret of fewer than 16 characters is told of, and is no reason not to start', () => {
  const warningsOf = (GAPSTONE_CRON_SECRET: string) =>
    configWarnings(readConfig({}, { GAPSTONE_CRON_SECRET }), { GAPSTONE_CRON_SECRET });
  const warning = { msg: 'GAPSTONE_CRON_SECRET has fewer than 16 characters', fields: {} };
  for (const secret of ['x', 'canary-secret-x']) assert.equal(warningsOf(secret), [warning]);
  assert.equal(warningsOf('canary-secret-16'), []);
  assert.equal(configWarnings(readConfig({}, {}), {}), []);
});

config.run();
