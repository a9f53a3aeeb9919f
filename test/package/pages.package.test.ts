// The pages of the rpm and the tar, run from top to bottom as they stand: on a root of Debian with nothing of Gapstone,
// where /tmp and /var are noexec and the mask is 077. Needs root.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { suite, testIf } from '../support/harness.ts';
import { keyOfRpm, made, output, systemRpm } from '../support/package.ts';
import { programs } from '../support/programs.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { makeZip } from '../support/zip.ts';

const pages = suite('Package: pages');
const needed = programs('mmdebstrap', 'unshare', 'ip', 'openssl');
const withRoot = testIf(process.geteuid?.() === 0 ? needed : { here: false, bring: 'run as root' }, pages);

/** The sh blocks of a page in their order. What is marked `outside` or `signature` is run elsewhere. */
function blocksOf(page: string): { mark: string; text: string }[] {
  return [
    ...readFileSync(join(packageRoot, 'docs', page), 'utf8').matchAll(/^```sh ?(\w*)\n([\s\S]*?)^```$/gm),
  ].map(([, mark, text]) => ({ mark: mark!, text: text! }));
}

let system: string | undefined;

/** A root of Debian with what RHEL has of the commands on these pages, made once. */
function freshRoot(): string {
  if (system === undefined) {
    system = join(scratchFolder(), 'system');
    // Not that of security updates, which has no whole system.
    const sources = ['Created-By: Packages', 'Origin: Debian', 'Codename: bookworm'];
    const [mirror] = output('apt-get', ['indextargets', '--format', '$(REPO_URI)', ...sources]).split('\n');
    const without = ['doc', 'man', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
    output('mmdebstrap', [
      '--quiet',
      '--variant=essential',
      '--include=curl,rpm,dnf,xz-utils',
      ...without,
      'bookworm',
      system,
      mirror || 'http://deb.debian.org/debian',
    ]);
  }
  const root = join(scratchFolder(), 'root');
  output('cp', ['-a', '--reflink=auto', system, root]);
  put(root, 'etc/hosts', '127.0.0.1 localhost\n');
  put(
    root,
    'etc/dnf/dnf.conf',
    '[main]\ngpgcheck=1\nlocalpkg_gpgcheck=1\nplugins=0\nreposdir=/nonexistent\n',
  );
  put(root, 'etc/dnf/vars/releasever', '9\n');
  const library = readdirSync(shipped('stigs')).map((name) => ({
    name,
    data: readFileSync(join(shipped('stigs'), name)),
  }));
  put(root, 'in/U_SRG-STIG_Library_July_2026.zip', makeZip(library));
  return root;
}

/** What was carried in, with a certificate for localhost. */
function carry(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(made)) cpSync(join(made, name), join(folder, name));
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'server.key'];
  output('openssl', ['req', '-x509', ...key, '-out', 'server.pem', '-days', '30', ...names], folder);
}

/**
 * What of systemd the page of the rpm needs: it runs what the units say, as their user, in their folders. `/run` holds the
 * ids of processes.
 */
const systemctl = `#!/bin/bash
set -eu
verb=$1; shift
value() { sed -n "s/^$2=//p" "/usr/lib/systemd/system/$1"; }
run_as() { local unit=$1; shift; umask "$(value "$unit" UMask)"; cd "$(value "$unit" WorkingDirectory)"; exec setpriv --reuid="$(value "$unit" User)" --regid="$(value "$unit" Group)" --init-groups --inh-caps=-all "$@"; }
start() {
  local folder
  for folder in $(value "$1" StateDirectory); do install -d -m 0700 -o gapstone -g gapstone "/var/lib/$folder"; done
  if [ "$(value "$1" Type)" = oneshot ]; then (run_as "$1" $(value "$1" ExecStart))
  else run_as "$1" $(value "$1" ExecStart) >/run/log 2>&1 & echo $! >"/run/$1.pid"; fi
}
for unit; do
  case $unit in --now) continue ;; *.service | *.timer) ;; *) unit=$unit.service ;; esac
  case $verb-$unit in
    enable-*.timer) grep -q '^WantedBy=timers.target$' "/usr/lib/systemd/system/$unit"; [ -e "/usr/lib/systemd/system/\${unit%.timer}.service" ] ;;
    enable-* | start-*) start "$unit" ;;
    reload-*) kill -HUP "$(cat "/run/$unit.pid")" ;;
    stop-*) kill -TERM "$(cat "/run/$unit.pid")"; while kill -0 "$(cat "/run/$unit.pid")" 2>/dev/null; do sleep 0.1; done ;;
    *) echo "systemctl: $verb $unit is not made here" >&2; exit 1 ;;
  esac
done
`;

/** Runs a script in a root, with its own processes and its own loopback. Gives what it printed. */
function runIn(root: string, script: string): string {
  put(
    root,
    'page.sh',
    `set -Eeuo pipefail\ntrap 'echo "failed: $BASH_COMMAND" >&2; cat /run/log >&2 || true' ERR\n${script}\n`,
  );
  const mounts = `ip link set lo up
mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; mount -t tmpfs tmpfs "$0/run"
mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 tmpfs "$0/tmp"
mount --bind "$0/var" "$0/var"; mount -o remount,bind,noexec,nosuid,nodev "$0/var"
umask 077; exec chroot "$0" /bin/bash /page.sh`;
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '--net', '--pid', '--fork', '--kill-child', 'bash', '-ec', mounts, root],
    {
      encoding: 'utf8',
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' },
    },
  );
  assert.is(status, 0, `${stderr.slice(-3000)}\n${stdout.slice(-1000)}`);
  return stdout + stderr;
}

withRoot('the page of the rpm', () => {
  const root = freshRoot();
  carry(join(root, 'carried'));
  if (!readdirSync(made).includes('RPM-GPG-KEY-gapstone')) keyOfRpm(join(root, 'carried'));
  cpSync(systemRpm(), join(root, 'base.rpm'));
  put(root, 'usr/bin/systemctl', systemctl);
  output('chmod', ['755', join(root, 'usr/bin/systemctl')]);
  const blocks = blocksOf('rpm.md').filter(({ mark }) => mark !== 'outside');
  const said = runIn(
    root,
    [
      'rpm -i --nosignature --define "_pkgverify_level none" /base.rpm; cd /carried',
      ...blocks
        .map(({ text }) => text)
        // As the STIG asks (RHEL-09-214030).
        .map((text) => text.replace('systemctl stop gapstone', 'rpm -V --noconfig --nodeps gapstone\n$&')),
      // What the page says besides its commands.
      '[ "$(stat -c "%a %U" /var/lib/gapstone/gapstone.db)" = "600 gapstone" ]; ls /var/lib/gapstone-backup; cat /run/log',
      '[ ! -e /usr/bin/gapstone ]',
    ].join('\n'),
  );
  for (const expected of [
    /digests signatures OK/,
    /^file +GAPSTONE_BANNER=UNCLASSIFIED \/\/ FOR OFFICIAL USE ONLY$/m,
    /\{"status":"ready"\}/,
    /3 imported|unchanged/,
    /^digest: [0-9a-f]{64}$/m,
    /^[\w-]+\.[\w-]+\.[\w-]+$/m,
    /^gapstone-[0-9a-f]{8}-\d{8}T\d{6}Z\.zip\.sha256$/m,
    /nothing is set aside/,
    /"msg":"certificate reloaded"/,
    /"msg":"stopped"/,
  ])
    assert.match(said, expected);
  assert.is(blocks.length, 7);
});

withRoot('the page of the tar', () => {
  const root = freshRoot();
  const home = join(root, 'home', 'ann');
  carry(home);
  cpSync(join(root, 'in'), home, { recursive: true });
  output('chroot', [root, 'useradd', '-M', '-d', '/home/ann', 'ann']);
  output('chroot', [root, 'chown', '-R', 'ann', '/home/ann']);
  const ready = 'until curl -sfk https://localhost:8443/readyz >/dev/null; do sleep 0.2; done';
  const blocks = blocksOf('tar.md').filter(({ mark }) => mark === '' || mark === 'serving');
  const script = blocks.map(({ mark, text }) =>
    mark === 'serving' ? `${text.trimEnd()} >log 2>&1 & server=$!\n${ready}` : text,
  );
  put(
    root,
    'home/ann/page.sh',
    `set -Eeuo pipefail\ntrap 'echo "failed: $BASH_COMMAND" >&2; cat log >&2 || true' ERR\n${[...script, 'kill $server', 'wait $server || true', 'cat log; ls ..'].join('\n')}\n`,
  );
  writeFileSync(join(home, 'nothing'), '');
  const said = runIn(root, 'cd /home/ann; exec setpriv --reuid=ann --regid=ann --clear-groups bash page.sh');
  for (const expected of [
    /gapstone-1\.0\.0-linux-x64\.tar\.xz: OK/,
    /^file +GAPSTONE_BANNER=UNCLASSIFIED \/\/ FOR OFFICIAL USE ONLY$/m,
    /\{"status":"ready"\}/,
    /^digest: [0-9a-f]{64}$/m,
    /nothing is set aside/,
    /nothing to migrate/,
    /^gapstone-data$/m,
  ])
    assert.match(said, expected);
  assert.is(blocks.filter(({ mark }) => mark === 'serving').length, 1);
});

pages.run();
