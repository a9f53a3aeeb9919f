import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Figures } from './metrics.ts';

/**
 * Metrics of this process under prom-client's names; prom-client's own watch every garbage collection, a microsecond
 * for each request. Call it once: it starts a timer (which does not keep the process alive).
 */
export function processFigures(): Figures {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const started = Date.now() / 1000 - process.uptime();
  const seconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0);
  const processorTime = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  const largestDelay = () => {
    const { max } = delay;
    delay.reset();
    return seconds(max);
  };
  const mostFiles = largestOpenFiles();
  return {
    process_start_time_seconds: ['When the process started, in seconds since 1970.', () => started],
    process_cpu_seconds_total: ['Processor time of the process.', processorTime],
    process_open_fds: ['Open files and connections.', () => openFiles() ?? 0],
    process_max_fds: ['How many of them there may be; 0 where the system does not say.', () => mostFiles],
    process_resident_memory_bytes: ['Resident memory.', process.memoryUsage.rss],
    nodejs_heap_size_used_bytes: ['JavaScript heap in use.', () => process.memoryUsage().heapUsed],
    nodejs_heap_size_total_bytes: ['JavaScript heap.', () => process.memoryUsage().heapTotal],
    nodejs_external_memory_bytes: [
      'Memory of buffers and other external objects.',
      () => process.memoryUsage().external,
    ],
    nodejs_eventloop_lag_mean_seconds: [
      'Mean delay of a 20 ms timer since the last scrape, including the 20 ms.',
      () => seconds(delay.mean),
    ],
    nodejs_eventloop_lag_p99_seconds: [
      '99th percentile of the same delay.',
      () => seconds(delay.percentile(99)),
    ],
    // Read last: it resets the delay for the next scrape.
    nodejs_eventloop_lag_max_seconds: ['Maximum of the same delay.', largestDelay],
  };
}

/** The open files of this process; null where the system does not list them. */
function openFiles(): number | null {
  try {
    // One of them is the folder that is being read.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return null;
  }
}

function largestOpenFiles(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
