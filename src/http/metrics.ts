import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Rejection, rejections } from './limits.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Metrics by name: the help text and how to read it, one number or one for each value of a label. */
export type Figures = Record<
  string,
  [help: string, read: () => number | Record<string, number>, label?: string]
>;

/** Upper bounds of the latency histogram, in seconds. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * The metrics of `/metrics` (rule D22). Labels are route templates, methods and statuses only: bounded in number, and
 * nothing of a request shows.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'gapstone_http_requests_total',
    help: 'Requests, by route template, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'gapstone_http_request_duration_seconds',
    help: 'Time from the request headers to the end of the response, by route template.',
    labelNames: ['route'],
    buckets,
    registers,
  });
  const rejected = new Counter({
    name: 'gapstone_rejected_total',
    help: 'Requests and connections refused, by limit.',
    labelNames: ['limit'],
    registers,
  });
  for (const limit of rejections) rejected.inc({ limit }, 0);

  return {
    /** Counts an answered request. `route` is a template, never a path; the HTTP parser knows few methods. */
    observe(route: string, method: string, status: number, seconds: number): void {
      requests.inc({ route, method, status });
      durations.observe({ route }, seconds);
    },
    reject(limit: Rejection): void {
      rejected.inc({ limit });
    },
    /** Adds metrics that are read at each scrape; a name that ends in `_total` is a counter. */
    add(figures: Figures): void {
      for (const [name, [help, read, label]] of Object.entries(figures)) {
        const labelNames = label === undefined ? [] : [label];
        function collect(this: Counter | Gauge): void {
          const now = read();
          this.reset();
          if (typeof now === 'number') this.inc(now);
          else for (const [value, number] of Object.entries(now)) this.inc({ [label!]: value }, number);
        }
        const options = { name, help, labelNames, registers, collect };
        name.endsWith('_total') ? new Counter(options) : new Gauge(options);
      }
    },
    /** Adds a metric of the value 1 whose labels tell what does not change. */
    info(name: string, help: string, labels: Record<string, string>): void {
      new Gauge({ name, help, labelNames: Object.keys(labels), registers }).set(labels, 1);
    },
    /** Adds prom-client's metrics of this process; they start timers, which do not keep it alive. */
    addProcess(): void {
      collectDefaultMetrics({ register: registry });
      // Prometheus keeps the ending for counters, and these are none.
      for (const kind of ['handles', 'requests', 'resources'])
        registry.removeSingleMetric(`nodejs_active_${kind}_total`);
    },
    text: () => registry.metrics(),
  };
}
