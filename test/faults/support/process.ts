import { readFileSync } from 'node:fs';

/** The resident memory of a process in megabytes. Linux only. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)![1]) / 1024;
}
