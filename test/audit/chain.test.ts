import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { openAuditFile } from '../../src/audit/file.ts';
import { verifyAuditFile } from '../../src/audit/verify.ts';
import { type AuditLine, auditLines, disk, someEvent } from '../support/audit.ts';
import { suite } from '../support/harness.ts';
import { scratchFolder } from '../support/scratch.ts';

const test = suite('Audit: the chain and its file');
const clock = { now: new Date('2026-11-21T12:00:00Z') };
const now = () => clock.now;

/** A new file with so many lines, closed. */
function written(count: number): string {
  const file = join(scratchFolder(), 'audit.jsonl');
  append(file, ...Array.from({ length: count }, (_, index) => `event ${index + 1}`));
  return file;
}

/** Appends events as a process does that opens the file, writes, and ends. */
function append(file: string, ...names: string[]): void {
  const audit = openAuditFile(file, { now });
  for (const name of names) audit.append([someEvent(name)], false);
  audit.close();
}

/** A copy without the head that was noted beside it: the lines have to speak for themselves. */
function alone(file: string, text: string | Buffer): string {
  const copy = join(scratchFolder(), 'copy.jsonl');
  writeFileSync(copy, text);
  assert.ok(!statSync(`${copy}.head`, { throwIfNoEntry: false }), file);
  return copy;
}

test('each line holds the hash of its own bytes and of the line before', () => {
  const file = written(3);
  const texts = readFileSync(file, 'utf8').split('\n');
  assert.is(texts.pop(), '');
  let previous = '0'.repeat(64);
  texts.forEach((text, index) => {
    const { seq, prevHash, hash } = JSON.parse(text);
    assert.equal([seq, prevHash], [index + 1, previous]);
    const body = text.replace(`,"hash":"${hash}"}`, '}');
    assert.is(createHash('sha256').update(body).digest('hex'), hash);
    previous = hash;
  });
  assert.equal(verifyAuditFile(file), {
    lines: 3,
    first: 1,
    head: { seq: 3, hash: previous },
    problem: null,
    headProblem: null,
    notes: [],
  });
});

test('the file and what lies beside it are the owner’s alone', () => {
  const file = written(1);
  for (const name of [file, `${file}.head`]) assert.is(statSync(name).mode & 0o777, 0o600, name);
  assert.is(statSync(`${file}.lock`).size, 0);
});

test('any change of a byte, any line taken out, doubled or moved is found, at its line or the next', () => {
  const whole = readFileSync(written(12));
  const lines = whole.toString('utf8').trimEnd().split('\n');
  const join = (list: string[]) => `${list.join('\n')}\n`;
  const check = (text: string | Buffer, line: number, slack: number, what: string) => {
    const { problem } = verifyAuditFile(alone(what, text));
    assert.ok(problem, what);
    const off = problem.line - line;
    assert.ok(off >= 0 && off <= slack, `${what}: ${JSON.stringify(problem)}`);
  };
  fc.assert(
    fc.property(fc.nat(whole.length - 2), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= flip;
      const line = whole.subarray(0, at).filter((byte) => byte === 10).length + 1;
      check(bytes, line, 1, `byte ${at} with ${flip}`);
    }),
    { numRuns: 100 },
  );
  for (let i = 0; i < lines.length - 1; i++) {
    if (i > 0) {
      check(join(lines.toSpliced(i, 1)), i + 1, 0, `line ${i + 1} taken out`);
      const { problem } = verifyAuditFile(alone('one', join(lines.toSpliced(i, 1))));
      assert.match(problem!.reason, new RegExp(`^lines? ${i + 1} .*missing before this line$`));
    }
    check(join(lines.toSpliced(i, 0, lines[i]!)), i + 2, 0, `line ${i + 1} doubled`);
    check(join(lines.toSpliced(i, 2, lines[i + 1]!, lines[i]!)), i + 1, 1, `line ${i + 1} moved`);
    check(join(lines.toSpliced(i, 0, '{}')), i + 1, 0, `something put in before line ${i + 1}`);
    check(join(lines.toSpliced(i, 0, '')), i + 1, 0, `an empty line before line ${i + 1}`);
  }
});

test('a changed line with a hash of its own making is found at the next', () => {
  const file = written(4);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const { hash: _, ...body } = JSON.parse(lines[1]!);
  const text = JSON.stringify({ ...body, actor: 'mallory' });
  const hash = createHash('sha256').update(text).digest('hex');
  lines[1] = `${text.slice(0, -1)},"hash":"${hash}"}`;
  const { problem } = verifyAuditFile(alone(file, `${lines.join('\n')}\n`));
  assert.is(problem?.line, 3);
  assert.match(problem!.reason, /previous line was changed or replaced/);
});

test('lines cut off at the end are found by the head that was noted, and the next line keeps the gap visible', () => {
  const file = written(5);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  truncateSync(file, Buffer.byteLength(`${lines.slice(0, 3).join('\n')}\n`));
  assert.match(
    verifyAuditFile(file).problem!.reason,
    /^the end is cut off: lines 4 to 5 of the chain are missing$/,
  );
  append(file, 'later');
  const after = auditLines(file);
  assert.equal(
    after.slice(3).map(({ seq, action, reason, detail }) => ({ seq, action, reason, detail })),
    [
      { seq: 6, action: 'audit.recover', reason: 'LINES_MISSING', detail: { missingFrom: 4, missingTo: 5 } },
      { seq: 7, action: 'test.happen', reason: null, detail: null },
    ],
  );
  const { problem } = verifyAuditFile(file);
  assert.equal(
    [problem?.line, problem?.reason],
    [4, 'lines 4 to 5 of the chain are missing before this line'],
  );
});

test('a line torn at any byte is recorded by the next, and the chain holds', () => {
  const [first, second] = readFileSync(written(2), 'utf8').split('\n') as [string, string];
  const headOfFirst = readFileSync(`${written(1)}.head`);
  for (let at = 1; at <= second.length; at += 7) {
    const file = join(scratchFolder(), 'audit.jsonl');
    writeFileSync(file, `${first}\n${second.slice(0, at)}`);
    writeFileSync(`${file}.head`, headOfFirst);
    const whole = at === second.length;
    const torn = verifyAuditFile(file);
    assert.is(torn.problem, null);
    if (!whole) assert.equal([torn.lines, torn.notes.length], [1, 1]);
    append(file, 'later');
    const { problem, notes, head } = verifyAuditFile(file);
    assert.is(problem, null, `torn at ${at}: ${JSON.stringify(problem)}`);
    assert.equal([head?.seq, notes.length], [3, whole ? 0 : 1]);
  }
  const file = join(scratchFolder(), 'audit.jsonl');
  writeFileSync(file, `${first}\n${second}`);
  writeFileSync(`${file}.head`, headOfFirst);
  append(file, 'later');
  assert.equal(
    [verifyAuditFile(file).lines, verifyAuditFile(file).notes],
    [3, []],
    'only a newline was missing',
  );
});

test('a torn first line, and garbage at the end, do not stop the stream', () => {
  const torn = join(scratchFolder(), 'audit.jsonl');
  writeFileSync(torn, '{"seq":1,"ti');
  append(torn, 'a', 'b');
  assert.equal([verifyAuditFile(torn).problem, verifyAuditFile(torn).lines], [null, 3]);
  const file = written(3);
  appendFileSync(file, 'garbage\n');
  append(file, 'later');
  const { problem, head } = verifyAuditFile(file);
  assert.equal([problem?.line, problem?.reason, head?.seq], [4, 'this is not a line of the audit stream', 3]);
  assert.match(readFileSync(file, 'utf8').split('\n')[4]!, /"seq":4,.*"audit.recover".*"UNREADABLE"/);
});

test('a half line is believed torn only where the next line tells of those very bytes', () => {
  const file = written(2);
  appendFileSync(file, '{"seq":3,"half');
  append(file, 'later');
  const text = readFileSync(file, 'utf8');
  assert.is(verifyAuditFile(alone(file, text)).problem, null);
  const changed = text.replace('{"seq":3,"half', '{"seq":3,"hulf');
  assert.is(verifyAuditFile(alone(file, changed)).problem?.line, 3);
});

test('a file that is renamed goes on in a new one, also across processes, and both verify as one chain', () => {
  const file = written(3);
  const audit = openAuditFile(file, { now });
  audit.append([someEvent('before')], true);
  renameSync(file, `${file}.1`);
  const { anchor } = audit.append([someEvent('after')], true);
  assert.is(anchor?.seq, 4, 'the head of the old file is worth noting');
  audit.close();
  renameSync(file, `${file}.2`);
  append(file, 'in another process');
  const heads = auditLines(file).map(({ seq, action }) => [seq, action]);
  assert.equal(heads, [
    [7, 'audit.continue'],
    [8, 'test.happen'],
  ]);
  const verdict = verifyAuditFile([`${file}.1`, `${file}.2`, file]);
  assert.equal([verdict.lines, verdict.problem, verdict.head?.seq], [8, null, 8]);
  assert.equal([verifyAuditFile(file).first, verifyAuditFile(file).problem], [7, null]);
  assert.match(
    verifyAuditFile([`${file}.1`, file]).problem!.reason,
    /^lines 5 to 6 of the chain are missing/,
  );
  assert.is(verifyAuditFile([`${file}.2`, `${file}.1`, file]).problem?.file, `${file}.1`);
});

test('a file that is removed or emptied shows by the numbers of the next', () => {
  const file = written(4);
  rmSync(file);
  append(file, 'later');
  const [{ prevHash, detail }] = auditLines(file) as [AuditLine];
  assert.equal([verifyAuditFile(file).first, detail], [5, { previousHash: prevHash }]);
  truncateSync(file, 0);
  assert.match(verifyAuditFile(file).problem!.reason, /lines 1 to 6 of the chain are missing/);
});

test('a lock that somebody removes is made again, and two openers still take turns', () => {
  const file = written(1);
  const both = [openAuditFile(file, { now }), openAuditFile(file, { now })];
  for (const name of ['lock', 'head', 'lock']) {
    rmSync(`${file}.${name}`);
    for (const each of [...both, ...both]) each.append([someEvent('a')], false);
    assert.ok(existsSync(`${file}.${name}`));
  }
  for (const each of both) each.close();
  const { lines, problem, notes } = verifyAuditFile(file);
  assert.equal([lines, problem, notes.length], [14, null, 1], 'that the head was gone is told of');
});

test('a head that is gone, empty or garbage is a problem of its own, and the next line tells of it', () => {
  const spoil: [name: string, work: (head: string) => void][] = [
    ['gone', (head) => rmSync(head)],
    ['empty', (head) => truncateSync(head, 0)],
    ['garbage', (head) => writeFileSync(head, 'x'.repeat(82))],
  ];
  for (const [name, work] of spoil) {
    const file = written(5);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    truncateSync(file, Buffer.byteLength(`${lines.slice(0, 3).join('\n')}\n`));
    work(`${file}.head`);
    const found = verifyAuditFile(file);
    assert.equal([found.problem, found.notes], [null, []], name);
    assert.match(
      found.headProblem!,
      /audit\.jsonl\.head is missing or cannot be read: missing lines at the end would not be noticed$/,
    );
    append(file, 'later');
    const { seq, action, outcome, reason, detail } = auditLines(file)[3]!;
    assert.equal(
      [seq, action, outcome, reason, detail],
      [4, 'audit.recover', 'failure', 'HEAD_MISSING', { headMissing: true }],
      name,
    );
    const after = verifyAuditFile(file);
    assert.equal([after.lines, after.problem, after.headProblem], [5, null, null]);
    assert.match(after.notes.join(), /line 4: the head was missing: earlier lines may have been cut off$/);
  }
});

test('a head that is taken away under an open file, with lines or all of them, is missed by who wrote last', () => {
  for (const kept of [3, 0]) {
    const file = join(scratchFolder(), 'audit.jsonl');
    const audit = openAuditFile(file, { now });
    for (let i = 1; i <= 5; i++) audit.append([someEvent(`event ${i}`)], false);
    const lines = readFileSync(file, 'utf8').split('\n');
    const left = lines.slice(0, kept).map((line) => `${line}\n`);
    truncateSync(file, Buffer.byteLength(left.join('')));
    rmSync(`${file}.head`);
    audit.append([someEvent('later')], false);
    audit.close();
    const { seq, action, detail } = auditLines(file)[kept]!;
    assert.equal([seq, action], [6, 'audit.recover']);
    const missing = kept > 0 ? { missingFrom: 4, missingTo: 5 } : { streamMissing: true, missingTo: 5 };
    assert.equal(detail, { ...missing, headMissing: true });
    assert.is(verifyAuditFile(file).headProblem, null);
  }
});

test('what is known to have been written is missed, though stream and head are gone or are those of before', () => {
  const spoil: [name: string, work: (file: string) => void, told: object | null][] = [
    [
      'both gone',
      (file) => {
        rmSync(file);
        rmSync(`${file}.head`);
      },
      { reason: 'STREAM_MISSING', detail: { streamMissing: true, missingTo: 5, headMissing: true } },
    ],
    [
      'gone, with a head as of a new installation',
      (file) => {
        rmSync(file);
        writeFileSync(`${file}.head`, `${'0'.repeat(16)} ${'0'.repeat(64)}\n`);
      },
      { reason: 'STREAM_MISSING', detail: { streamMissing: true, missingTo: 5 } },
    ],
    [
      'both as they were before',
      (file) => {
        const before = readFileSync(file, 'utf8').split('\n', 3);
        const { seq, hash } = JSON.parse(before[2]!);
        writeFileSync(file, `${before.join('\n')}\n`);
        writeFileSync(`${file}.head`, `${String(seq).padStart(16, '0')} ${hash}\n`);
      },
      { reason: 'LINES_MISSING', detail: { missingFrom: 4, missingTo: 5 } },
    ],
    [
      'both made anew',
      (file) => {
        rmSync(file);
        rmSync(`${file}.head`);
        append(file, 'a', 'b', 'c', 'd', 'another');
      },
      null,
    ],
  ];
  for (const [name, work, told] of spoil) {
    const file = written(5);
    const known = verifyAuditFile(file).head!;
    const older = { ...known, seq: 4, hash: auditLines(file)[3]!.hash };
    for (const each of [known, older])
      assert.equal([verifyAuditFile(file, each).problem, verifyAuditFile(file, each).lines], [null, 5]);
    work(file);
    if (name === 'both gone') assert.throws(() => verifyAuditFile(file, known), /ENOENT/);
    else if (name === 'both made anew')
      assert.match(
        verifyAuditFile(file, older).problem!.reason,
        /^this is not the line that the database recorded/,
      );
    else if (name === 'both as they were before')
      assert.match(verifyAuditFile(file, known).problem!.reason, /^the end is cut off: lines 4 to 5 /);
    const audit = openAuditFile(file, { now, known: () => known });
    const kept = existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
    const { missing } = audit.append([someEvent('later')], false);
    const again = audit.append([someEvent('latest')], false).missing;
    audit.close();
    const { seq, action, outcome, reason, detail } = auditLines(file)[kept]!;
    assert.equal([seq, action, outcome], [6, 'audit.recover', 'failure'], name);
    const expected = told ?? { reason: 'CHANGED', detail: { expectedHash: known.hash } };
    assert.equal({ reason, detail }, expected, name);
    assert.equal([missing, again], [reason, null], name);
    const after = verifyAuditFile(file, known);
    if (name === 'both made anew') assert.ok(after.problem);
    else if (kept > 0) assert.match(after.problem!.reason, /^lines 4 to 5 of the chain are missing before/);
    else {
      assert.equal([after.problem, after.headProblem, after.first], [null, null, 6], name);
      assert.match(after.notes[0]!, /line 1: the stream was missing, with lines up to 5 of the chain$/);
    }
  }
});

test('a database that knows less than the stream accuses nobody, a rotation neither', () => {
  const file = written(5);
  const third = auditLines(file)[2]!;
  const known = () => ({ seq: third.seq, hash: third.hash });
  const audit = openAuditFile(file, { now, known });
  assert.is(audit.append([someEvent('f')], false).missing, null);
  renameSync(file, `${file}.1`);
  assert.is(audit.append([someEvent('g')], false).missing, null);
  audit.close();
  const next = openAuditFile(file, { now, known });
  assert.is(next.append([someEvent('h')], false).missing, null);
  next.close();
  assert.equal(
    auditLines(file).map(({ seq, action }) => [seq, action]),
    [
      [7, 'audit.continue'],
      [8, 'test.happen'],
      [9, 'test.happen'],
    ],
  );
  const verdict = verifyAuditFile([`${file}.1`, file], known());
  assert.equal([verdict.lines, verdict.problem, verdict.notes], [9, null, []]);
  assert.is(verifyAuditFile(file, known()).problem, null, 'what it knows was rotated away');
});

test('nothing that we leave behind lacks a head: not a first write that fails, nor one cut anywhere', () => {
  for (const half of [false, true]) {
    const file = join(scratchFolder(), 'audit.jsonl');
    Object.assign(disk, { full: true, half });
    const audit = openAuditFile(file, { now });
    assert.throws(() => audit.append([someEvent('a')], true), /ENOSPC/);
    audit.close();
    disk.full = false;
    const left = verifyAuditFile(file);
    assert.equal([left.problem, left.headProblem, left.lines], [null, null, 0]);
    append(file, 'later');
    const actions = auditLinesThatHold(file).map(({ action, detail }) => [action, detail?.headMissing]);
    const told = [['test.happen', undefined]];
    assert.equal(actions, half ? [['audit.recover', undefined], ...told] : told);
  }
  const opened = join(scratchFolder(), 'audit.jsonl');
  for (const name of [opened, `${opened}.head`]) writeFileSync(name, '');
  assert.is(verifyAuditFile(opened).headProblem, null, 'opened, and killed before its first line');
  rmSync(`${opened}.head`);
  assert.match(verifyAuditFile(opened).headProblem!, /is missing/);
  const made = join(scratchFolder(), 'audit.jsonl');
  writeFileSync(made, '');
  append(made, 'first');
  assert.equal(
    auditLines(made).map(({ seq, action }) => [seq, action]),
    [[1, 'test.happen']],
    'a file that was made for us, empty, is no loss',
  );
});

/** The lines of a file whose first is torn. */
function auditLinesThatHold(file: string): AuditLine[] {
  const texts = readFileSync(file, 'utf8').split('\n');
  return texts.filter((line) => line.endsWith('"}')).map((line) => JSON.parse(line));
}

test('the first line of a day is an anchor', () => {
  const file = join(scratchFolder(), 'audit.jsonl');
  const time = { now: new Date('2026-11-21T23:59:59.999Z') };
  const audit = openAuditFile(file, { now: () => time.now });
  assert.is(audit.append([someEvent('a')], false).anchor, null);
  assert.is(audit.isNewDay(), false);
  time.now = new Date('2026-11-22T00:00:00Z');
  assert.is(audit.isNewDay(), true);
  const { anchor } = audit.append([someEvent('b')], false);
  const lines = auditLines(file);
  assert.equal(anchor, { seq: 1, hash: lines[0]!.hash });
  assert.equal([lines[1]!.action, lines[1]!.detail], ['audit.anchor', { day: '2026-11-21', lines: 1 }]);
  assert.equal(audit.append([someEvent('c')], false).anchor, null);
  audit.close();
  assert.is(verifyAuditFile(file).lines, 4);
});

test('texts of every kind are one line each, and long ones are cut', () => {
  const file = join(scratchFolder(), 'audit.jsonl');
  const audit = openAuditFile(file, { now });
  const names = [
    '\n{"seq":9}',
    '\u2028\u0000\ud800',
    '"},"hash":"',
    'x'.repeat(100_000),
    '',
    '😀'.repeat(200),
  ];
  for (const name of names) {
    const event = { ...someEvent(name), actor: name, detail: { list: Array(100).fill(name) } };
    audit.append([event], false);
  }
  audit.close();
  const { lines, problem } = verifyAuditFile(file);
  assert.equal([lines, problem], [names.length, null]);
  for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) assert.ok(line.length < 16_000);
  assert.is(auditLines(file)[3]!.actor, `${'x'.repeat(300)}…`);
});

test.run();
