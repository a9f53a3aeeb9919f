import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as assert from 'uvu/assert';
import type { AuditEvent } from '../../src/audit/event.ts';
import { companionsOf } from '../../src/audit/file.ts';
import { createRepeats } from '../../src/audit/repeats.ts';
import { verifyAuditFile } from '../../src/audit/verify.ts';
import { createWatermark } from '../../src/audit/watermark.ts';
import { createLog, silentLog } from '../../src/base/log.ts';
import { disk, someEvent, testAudit } from '../support/audit.ts';
import { suite } from '../support/harness.ts';
import { holdLock } from '../support/lock.ts';
import { until } from '../support/running.ts';

const test = suite('Audit: the policy, repeats, the disk');
const at = (text: string) => ({ now: new Date(text) });

for (const half of [false, true]) {
  test(`stop: what cannot be written is refused${half ? ', half a line being written' : ''}, until there is room`, () => {
    const clock = at('2026-11-21T12:00:00Z');
    const t = testAudit(clock);
    t.stream.must(someEvent('a'));
    Object.assign(disk, { full: true, half });
    assert.throws(() => t.stream.must(someEvent('b')), /not audited/);
    t.stream.note(someEvent('d'));
    assert.throws(() => t.stream.must(someEvent('e')), /not audited/);
    assert.equal(t.stream.stats(), { written: 1, lost: 1, failing: true });
    const errors = t.log.filter((line) => line.level === 'error');
    assert.is(errors.length, 1, 'one line a minute');
    clock.now = new Date('2026-11-21T12:01:01Z');
    assert.throws(() => t.stream.must(someEvent('f')));
    assert.is(t.log.filter((line) => line.level === 'error').length, 2);
    disk.full = false;
    t.stream.must(someEvent('g'));
    assert.equal(t.stream.stats(), { written: 2, lost: 1, failing: false });
    t.stream.close();
    const verdict = verifyAuditFile(t.file);
    assert.equal([verdict.problem, verdict.notes.length], [null, half ? 1 : 0]);
    const lines = linesThatHold(t.file);
    const failure = lines.find((line) => line.action === 'audit.failure')!;
    assert.equal(
      [failure.reason, failure.detail],
      ['ENOSPC', { lost: 1, refused: 3, since: '2026-11-21T12:00:00.000Z' }],
    );
    assert.equal(
      lines.filter((line) => line.action === 'test.happen').map((line) => line.objectId),
      ['a', 'g'],
    );
  });
}

/** The lines of a file of which one is torn. */
function linesThatHold(file: string): AuditEvent[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('"}'))
    .map((line) => JSON.parse(line));
}

test('continue: what cannot be written is counted as lost, and the count is told', () => {
  const clock = at('2026-11-21T12:00:00Z');
  const t = testAudit(clock, { failure: 'continue' });
  disk.full = true;
  t.stream.must(someEvent('a'), someEvent('b'));
  t.stream.note(someEvent('c'));
  disk.full = false;
  t.stream.must(someEvent('d'));
  t.stream.close();
  assert.equal(
    t.lines().map((line) => [line.seq, line.action, line.detail]),
    [
      [1, 'audit.failure', { lost: 3, refused: 0, since: '2026-11-21T12:00:00.000Z' }],
      [2, 'test.happen', null],
    ],
  );
});

test('a sync that fails refuses as well, although the line is there; the chain goes on after it', () => {
  const clock = at('2026-11-21T12:00:00Z');
  disk.broken = true;
  const t = testAudit(clock);
  assert.throws(() => t.stream.must(someEvent('a')), /not audited/);
  disk.broken = false;
  t.stream.must(someEvent('b'));
  t.stream.close();
  assert.equal(
    t.lines().map((line) => [line.seq, line.action, line.reason]),
    [
      [1, 'test.happen', null],
      [2, 'audit.failure', 'EIO'],
      [3, 'test.happen', null],
    ],
  );
  assert.is(verifyAuditFile(t.file).problem, null);
});

const refusal = (source: string, reason = 'INVALID_CREDENTIALS'): AuditEvent => ({
  ...someEvent('GET /api/v1/stigs'),
  actorType: 'anonymous',
  actor: null,
  action: 'auth.failure',
  outcome: 'denied',
  source,
  reason,
});

test('repeats within a minute become one event with their count; nothing is lost', () => {
  const clock = at('2026-11-21T12:00:00Z');
  const written: AuditEvent[] = [];
  const repeats = createRepeats(
    (event) => written.push(event),
    () => clock.now,
  );
  const seconds = (count: number) => {
    clock.now = new Date(Date.parse('2026-11-21T12:00:00Z') + count * 1000);
  };
  for (let i = 0; i < 100; i++) {
    seconds(i / 2);
    repeats.note(refusal('10.0.0.1'));
    if (i === 10) repeats.note(refusal('10.0.0.2'));
    if (i === 20) repeats.note(refusal('10.0.0.1', 'NO_CREDENTIALS'));
  }
  assert.equal(
    written.map((event) => [event.source, event.reason]),
    [
      ['10.0.0.1', 'INVALID_CREDENTIALS'],
      ['10.0.0.2', 'INVALID_CREDENTIALS'],
      ['10.0.0.1', 'NO_CREDENTIALS'],
    ],
  );
  repeats.flush();
  assert.is(written.length, 3, 'the minute is not over');
  seconds(61);
  repeats.flush();
  assert.equal(written[3]!.detail, {
    repeats: 99,
    from: '2026-11-21T12:00:00.000Z',
    until: '2026-11-21T12:00:49.500Z',
  });
  assert.is(written.length, 4, 'what happened once is not told twice');
  repeats.note(refusal('10.0.0.1'));
  repeats.note(refusal('10.0.0.1'));
  repeats.flush(true);
  assert.equal([written.length, written[5]!.detail!.repeats], [6, 1]);
});

test('ten thousand addresses at once take no more room than the bound, and are counted', () => {
  const clock = at('2026-11-21T12:00:00Z');
  const written: AuditEvent[] = [];
  const repeats = createRepeats(
    (event) => written.push(event),
    () => clock.now,
    50,
  );
  for (let i = 0; i < 10_000; i++) repeats.note(refusal(`10.0.${i >> 8}.${i & 255}`));
  assert.is(written.length, 51);
  assert.equal([written[50]!.source, written[50]!.actor], ['many', null]);
  repeats.flush(true);
  assert.equal([written.length, written[51]!.detail!.repeats], [52, 10_000 - 51]);
});

test('what is noted while another process writes is kept in order, and written before what comes next', async () => {
  const clock = at('2026-11-21T12:00:00Z');
  const t = testAudit(clock, { lockTimeout: 0 });
  t.stream.must(someEvent('first'));
  const { lock } = companionsOf(t.file);
  let free = holdLock(lock);
  for (const name of ['a', 'b', 'c']) t.stream.note(someEvent(name));
  clock.now = new Date('2026-11-22T00:00:01Z');
  t.stream.tick();
  assert.equal(t.stream.stats(), { written: 1, lost: 0, failing: false });
  free();
  t.stream.must(someEvent('d'));
  free = holdLock(lock);
  t.stream.note(someEvent('e'));
  free();
  await until('a timer wrote it', () => t.lines().at(-1)!.objectId === 'e');
  const names = t.lines().map((line) => line.objectId ?? line.action);
  assert.equal(names, ['first', 'audit.anchor', 'a', 'b', 'c', 'd', 'e']);
  assert.equal(t.stream.stats(), { written: 6, lost: 0, failing: false });
  assert.is(verifyAuditFile(t.file).problem, null);
  assert.equal(
    readdirSync(dirname(t.file)).sort(),
    ['audit.jsonl', 'audit.jsonl.head', 'audit.jsonl.lock'],
    'no journal is made',
  );
  t.stream.close();
});

test('so many and no more are kept, also when it is closed; what is lost is counted', () => {
  const clock = at('2026-11-21T12:00:00Z');
  const t = testAudit(clock, { lockTimeout: 0 });
  t.stream.must(someEvent('first'));
  const { lock } = companionsOf(t.file);
  const free = holdLock(lock);
  for (let count = 0; count < 5010; count++) t.stream.note(someEvent(`${count}`));
  assert.equal(t.stream.stats(), { written: 1, lost: 10, failing: true });
  free();
  t.stream.note(someEvent('last'));
  assert.equal(t.stream.stats(), { written: 5002, lost: 10, failing: false });
  const failure = t.lines().find((line) => line.action === 'audit.failure')!;
  assert.equal([failure.reason, failure.detail?.lost], ['SQLITE_BUSY', 10]);
  const again = holdLock(lock);
  t.stream.note(someEvent('never'));
  t.stream.close();
  again();
  assert.is(t.stream.stats().lost, 11);
  assert.is(t.log.filter((line) => line.level === 'error').length, 2);
  assert.is(verifyAuditFile(t.file).problem, null);
});

test('what must be told waits without holding the loop, and where it is held, everything goes through', async () => {
  const clock = at('2026-11-21T12:00:00Z');
  const t = testAudit(clock, { lockTimeout: 0 });
  t.stream.must(someEvent('first'));
  const { lock } = companionsOf(t.file);
  const free = holdLock(lock);
  const busy = (error: unknown) => (error as { code?: string }).code === 'SQLITE_BUSY';
  assert.throws(() => t.stream.hold(() => assert.unreachable('it is held by another'), false), busy);
  let over = false;
  const told = t.stream.tell(someEvent('waits')).then(() => {
    over = true;
  });
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  assert.not.ok(over);
  free();
  await told;
  t.stream.hold(() => {
    assert.throws(holdLockAtOnce, busy);
    t.stream.must(someEvent('a'));
    t.stream.hold(() => t.stream.note(someEvent('b')), false);
    t.stream.must(someEvent('c'));
  }, false);
  holdLock(lock)();
  assert.equal(
    t.lines().map((line) => line.objectId),
    ['first', 'waits', 'a', 'b', 'c'],
  );
  t.stream.close();

  function holdLockAtOnce(): void {
    holdLock(lock, 0)();
  }
});

test('a disk that fills up past 75 % is told once, and again when there is room', () => {
  const clock = at('2026-11-21T12:00:00Z');
  const t = testAudit(clock);
  let share = 0.5;
  const logged: string[] = [];
  const look = createWatermark(
    t.stream,
    createLog('warn', (line) => logged.push(JSON.parse(line).msg)),
    () => share,
  );
  for (const next of [0.5, 0.749, 0.75, 0.9, 0.72, 0.69, 0.6, 0.8]) {
    share = next;
    look();
  }
  t.stream.close();
  assert.equal(
    t.lines().map((line) => [line.action, line.outcome, line.reason, line.detail!.percent]),
    [
      ['disk.watermark', 'failure', 'DISK_FILLING', 75],
      ['disk.watermark', 'success', null, 69],
      ['disk.watermark', 'failure', 'DISK_FILLING', 80],
    ],
  );
  assert.equal(logged.length, 2);
  const failing = createWatermark(t.stream, silentLog, () => {
    throw new Error('ENOENT');
  });
  failing();
});

test.run();
