// The alerts that come with the package: each is caused on a server, whose metrics promtool evaluates (rule D44.6).
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { runImport } from '../../importers/run.ts';
import { packageRoot } from '../../src/base/root.ts';
import { openCatalog } from '../../src/db/database.ts';
import { gapstone } from '../support/child.ts';
import { suite, testIf } from '../support/harness.ts';
import { selfSigned } from '../support/pki.ts';
import { programs } from '../support/programs.ts';
import { shipped } from '../support/reference.ts';
import { killAll, openRaw, type Running, startServer, until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const alerts = suite('Alerts');
alerts.after(killAll);
const withPromtool = testIf(programs('promtool', 'curl'), alerts);

const rules = join(packageRoot, 'packaging', 'gapstone.rules.yml');
const names = (
  parse(readFileSync(rules, 'utf8')) as { groups: { rules: { alert: string }[] }[] }
).groups.flatMap((group) => group.rules.map(({ alert }) => alert));
const fired = new Set<string>();
const minutes = 180;

/**
 * The alerts that fire when what happened between two scrapes happens each minute for three hours (null: no answer).
 * promtool's clock begins at 0, so times are moved there.
 */
function firing(before: string | null, after: string | null, more: string[] = []): string[] {
  const now = Date.now() / 1000;
  const series = [
    `- series: 'up{job="gapstone",instance="i"}'\n  values: '${after === null ? 0 : 1}x${minutes}'`,
    ...more,
  ];
  const values = (text: string) =>
    new Map(
      [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, labels, value]) => [
        `${name}{${labels ? `${labels},` : ''}job="gapstone",instance="i"}`,
        Number(value),
      ]),
    );
  const first = values(before ?? '');
  for (const [key, value] of values(after ?? '')) {
    const name = key.split('{')[0]!;
    const isCounter = new RegExp(
      `^# TYPE ${name.replace(/_(bucket|sum|count)$/, '')} (counter|histogram)$`,
      'm',
    ).test(after!);
    const from = isCounter
      ? (first.get(key) ?? 0)
      : name.endsWith('_timestamp_seconds')
        ? value - now
        : value;
    const step = isCounter ? value - from : 0;
    series.push(`- series: '${key}'\n  values: '${from}+${step}x${minutes}'`);
  }
  const tests = names.map((name) => `- {eval_time: ${minutes}m, alertname: ${name}, exp_alerts: []}`);
  const file = put(
    scratchFolder(),
    'test.yml',
    `rule_files: [${rules}]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n${series.map((each) => `  ${each.replace('\n', '\n  ')}`).join('\n')}\n  alert_rule_test:\n${tests.map((each) => `  ${each}`).join('\n')}\n`,
  );
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  const said = stdout + stderr;
  assert.match(said, /SUCCESS|FAILED:\n/);
  assert.not.match(said, /unmarshal|parse error|invalid/i);
  const found = names.filter((name) => new RegExp(`got:\\[[^\\]]*alertname="${name}"`).test(said));
  for (const name of found) fired.add(name);
  return found;
}

interface Site {
  folder: string;
  server: Running;
  scrape(): Promise<string>;
}

/** A site of which nothing is to be told: imported and backed up just now. */
async function site(
  env: Record<string, string> = {},
  { imported = new Date(), backup = true, under = [] as string[] } = {},
): Promise<Site> {
  const folder = scratchFolder();
  const db = join(folder, 'gapstone.db');
  {
    using catalog = openCatalog(db, { create: true });
    await runImport(catalog, [shipped('stigs')], { now: () => imported });
  }
  const server = await startServer(folder, ['serve', '--port', '0'], env, under);
  if (backup) assert.is((await gapstone(['backup', 'b.zip'], { cwd: folder })).code, 0);
  const scrape = async () => {
    const answer = await fetch(`${server.url}/metrics`);
    assert.is(answer.status, 200);
    return answer.text();
  };
  return { folder, server, scrape };
}

async function stop({ server }: Site): Promise<void> {
  server.child.kill('SIGTERM');
  await server.ended;
}

withPromtool('promtool finds nothing in the rules, and nothing in the metrics', async () => {
  const checked = spawnSync('promtool', ['check', 'rules', '--lint-fatal', rules], { encoding: 'utf8' });
  assert.is(checked.status, 0, checked.stderr);
  const quiet = await site();
  const text = await quiet.scrape();
  const metrics = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  assert.equal([metrics.status, metrics.stdout, metrics.stderr], [0, '', '']);
  assert.match(
    text,
    /^gapstone_build_info\{version="1\.0\.0",commit="([0-9a-f]{40}|unknown)",node="[\d.]+",sqlite="3\.[\d.]+"\} 1$/m,
  );
  const value = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)![1]);
  assert.ok(Math.abs(value('gapstone_last_backup_timestamp_seconds') - Date.now() / 1000) < 600);
  assert.is(value('gapstone_last_bundle_timestamp_seconds'), 0);
  assert.ok(value('process_open_fds') > 3 && value('process_open_fds') <= value('process_max_fds'));
  // Probes and scrapes leave no line.
  await fetch(`${quiet.server.url}/healthz`);
  await fetch(`${quiet.server.url}/signin`);
  await until('the page is logged', () => quiet.server.stdout().includes('"route":"/signin"'));
  assert.not.match(quiet.server.stdout(), /"route":"\/(healthz|readyz|metrics)"/);
  assert.equal(firing(text, await quiet.scrape()), []);
  await stop(quiet);
  assert.equal(firing(null, null), ['GapstoneDown']);
});

withPromtool('no backup, old content, a certificate that ends', async () => {
  const folder = scratchFolder();
  const days = (count: number) => new Date(Date.now() + count * 86_400_000);
  const certificate = selfSigned(days(-1), days(5));
  const env = {
    GAPSTONE_TLS_CERT: put(folder, 'cert.pem', certificate.cert),
    GAPSTONE_TLS_KEY: put(folder, 'key.pem', certificate.key),
    GAPSTONE_LOG_LEVEL: 'debug',
  };
  spawnSync('chmod', ['600', env.GAPSTONE_TLS_KEY]);
  const old = await site(env, { imported: days(-121), backup: false });
  // What scrapes over TLS trusts the certificate of the server.
  const scrape = () =>
    spawnSync('curl', ['-sS', '--cacert', env.GAPSTONE_TLS_CERT, `${old.server.url}/metrics`], {
      encoding: 'utf8',
    }).stdout;
  const text = scrape();
  assert.match(text, /^gapstone_certificate_expiry_timestamp_seconds /m);
  assert.equal(firing(text, scrape()), [
    'GapstoneBackupOld',
    'GapstoneContentOld',
    'GapstoneCertificateEnds',
  ]);
  await until('at debug a scrape is logged', () =>
    /"level":"debug".*"route":"\/metrics"/.test(old.server.stdout()),
  );
  // A renewed certificate counts at once.
  const renewed = selfSigned(days(-1), days(90));
  writeFileSync(env.GAPSTONE_TLS_CERT, renewed.cert);
  writeFileSync(env.GAPSTONE_TLS_KEY, renewed.key);
  old.server.child.kill('SIGHUP');
  await until('the new one is read', () => old.server.stdout().includes('certificate reloaded'));
  assert.equal(firing(scrape(), scrape()), ['GapstoneBackupOld', 'GapstoneContentOld']);
  await stop(old);
});

withPromtool('a rejected source, users\u2019 data that was moved, a log that nobody reads', async () => {
  const busy = await site();
  const before = await busy.scrape();
  put(busy.folder, 'bad.xml', '<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.1" id="x">');
  assert.is((await gapstone(['import', 'bad.xml'], { cwd: busy.folder })).code, 1);
  assert.equal(firing(before, await busy.scrape()), ['GapstoneImportRejected']);
  const whole = await busy.scrape();
  const users = join(busy.folder, 'gapstone-users.db');
  renameSync(users, `${users}.away`);
  for (let round = 0; round < 5; round++) assert.is((await fetch(`${busy.server.url}/readyz`)).status, 503);
  const moved = await busy.scrape();
  renameSync(`${users}.away`, users);
  assert.equal(firing(whole, moved), ['GapstoneErrors']);
  const read = await busy.scrape();
  busy.server.child.stdout.destroy();
  const lost = (text: string) => Number(/^gapstone_log_lines_dropped_total (\d+)$/m.exec(text)![1]);
  let text = read;
  await until('lines are lost', async () => {
    await fetch(`${busy.server.url}/signin`);
    text = await busy.scrape();
    return lost(text) > 0;
  });
  assert.equal(firing(read, text), ['GapstoneLogLinesDropped']);
  await stop(busy);
});

withPromtool('an audit stream that cannot be written', async () => {
  const ready = await site({ GAPSTONE_AUDIT_FAILURE: 'continue' });
  const before = await ready.scrape();
  const file = join(ready.folder, 'gapstone-audit.jsonl');
  rmSync(file);
  mkdirSync(file);
  let text = before;
  await until('an event is lost', async () => {
    // Each refusal is an event.
    await fetch(`${ready.server.url}/api/v1/lists`, { headers: { Authorization: 'Bearer wrong' } });
    text = await ready.scrape();
    return /^gapstone_audit_failing 1$/m.test(text) && !/^gapstone_audit_events_lost_total 0$/m.test(text);
  });
  assert.equal(firing(before, text), ['GapstoneAuditFailing', 'GapstoneAuditEventsLost']);
  ready.server.child.kill('SIGKILL');
  await ready.server.ended;
});

withPromtool('connections past their limit, and files past theirs', async () => {
  const few = await site({ GAPSTONE_MAX_CONNECTIONS: '2' });
  const before = await few.scrape();
  let text = before;
  await until('a connection is refused', async () => {
    const raw = await Promise.all(
      [1, 2, 3, 4].map(() => openRaw(few.server.port, 'GET / HTTP/1.1\r\nHost: x\r\n').catch(() => null)),
    );
    for (const each of raw) each?.socket.destroy();
    text = await few.scrape().catch(() => '');
    return /^gapstone_rejected_total\{limit="connections"\} [1-9]/m.test(text);
  });
  assert.equal(firing(before, text), ['GapstoneRefuses']);
  await stop(few);

  const limited = await site({}, { under: ['sh', '-c', 'ulimit -n 60; exec "$@"', 'sh'] });
  const start = await limited.scrape();
  assert.match(start, /^process_max_fds 60$/m);
  const open = Number(/^process_open_fds (\d+)$/m.exec(start)![1]);
  const raw = await Promise.all(
    Array.from({ length: Math.max(0, 52 - open) }, () =>
      openRaw(limited.server.port, 'GET / HTTP/1.1\r\nHost: x\r\n'),
    ),
  );
  const openNow = (scraped: string) => Number(/^process_open_fds (\d+)$/m.exec(scraped)![1]);
  await until('they are accepted', async () => {
    text = await limited.scrape();
    return openNow(text) > 48;
  });
  assert.equal(firing(start, text), ['GapstoneOpenFiles']);
  for (const { socket } of raw) socket.destroy();
  await stop(limited);
});

withPromtool('a revocation list that ends, and then each alert has fired', () => {
  const series =
    '- series: \'gapstone_crl_next_update_timestamp_seconds{job="gapstone",instance="i"}\'\n  values: \'20000x180\'';
  assert.equal(firing('', '', [series]), ['GapstoneCrlEnds']);
  assert.equal([...fired].sort(), [...names].sort());
});

alerts.run();
