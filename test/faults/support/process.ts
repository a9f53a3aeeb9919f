import { readFileSync } from 'node:fs';

const megabytes = (pid: number, field: string) => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(status)![1]) / 1024;
};

/** The resident memory of a process in megabytes. Linux only. */
export const residentMegabytes = (pid: number): number => megabytes(pid, 'VmRSS');

/** The most resident memory that a process ever had, in megabytes. Linux only. */
export const mostMegabytes = (pid: number): number => megabytes(pid, 'VmHWM');
