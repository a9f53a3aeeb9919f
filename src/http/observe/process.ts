import { monitorEventLoopDelay } from 'node:perf_hooks';
import { single } from './exposition.ts';
import type { Collector } from './metrics.ts';

/** The metrics of this process. It has a timer, which keeps nothing alive; make it once. */
export function processCollector(): Collector {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const started = Date.now() / 1000 - process.uptime();
  const seconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0);
  return () => {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const families = [
      single(
        'process_start_time_seconds',
        'gauge',
        'When the process started, in seconds since 1970.',
        started,
      ),
      single('process_cpu_seconds_total', 'counter', 'Processor time of the process.', (user + system) / 1e6),
      single('process_resident_memory_bytes', 'gauge', 'Resident memory.', rss),
      single('nodejs_heap_size_used_bytes', 'gauge', 'JavaScript heap in use.', heapUsed),
      single('nodejs_heap_size_total_bytes', 'gauge', 'JavaScript heap.', heapTotal),
      single(
        'nodejs_external_memory_bytes',
        'gauge',
        'Memory of buffers and other external objects.',
        external,
      ),
      single(
        'nodejs_eventloop_lag_mean_seconds',
        'gauge',
        'Mean delay of a 20 ms timer since the last scrape, including the 20 ms.',
        seconds(delay.mean),
      ),
      single(
        'nodejs_eventloop_lag_p99_seconds',
        'gauge',
        '99th percentile of the same delay.',
        seconds(delay.percentile(99)),
      ),
      single('nodejs_eventloop_lag_max_seconds', 'gauge', 'Maximum of the same delay.', seconds(delay.max)),
    ];
    delay.reset();
    return families;
  };
}
