import type { Rejection } from '../limits/limiter.ts';
import { expositionText, type Family } from './exposition.ts';

/** Gives families when somebody asks for the metrics. */
export type Collector = () => Family[];

export type Metrics = ReturnType<typeof createMetrics>;

/** Upper bounds of the latency histogram, in seconds. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']);
const rejections: Rejection[] = ['rate', 'expensive_rate', 'invalid_tokens', 'busy', 'bodies', 'connections'];

interface RouteCounts {
  /** Requests by `METHOD status`. */
  answers: Map<string, number>;
  /** Requests by the first bound that they were not slower than; the last is for the rest. */
  buckets: Float64Array;
  sum: number;
}

/**
 * The counters of `/metrics` (DECISIONS D22). Labels are route templates, methods and statuses only, so their number is
 * bounded and nothing of a request shows.
 */
export function createMetrics() {
  const routes = new Map<string, RouteCounts>();
  const rejected = new Map<Rejection, number>(rejections.map((why) => [why, 0]));
  const collectors: Collector[] = [];

  function requestFamilies(): Family[] {
    const name = 'gapstone_http_request_duration_seconds';
    const total: Family = {
      name: 'gapstone_http_requests_total',
      help: 'Requests, by route template, method and status.',
      type: 'counter',
      samples: [],
    };
    const duration: Family = {
      name,
      help: 'Time from the request headers to the end of the response, by route template.',
      type: 'histogram',
      samples: [],
    };
    for (const [route, { answers, buckets, sum }] of routes) {
      for (const [answer, value] of answers) {
        const [method, status] = answer.split(' ') as [string, string];
        total.samples.push({ labels: { route, method, status }, value });
      }
      let count = 0;
      buckets.forEach((value, index) => {
        count += value;
        const le = index < bounds.length ? String(bounds[index]) : '+Inf';
        duration.samples.push({ suffix: '_bucket', labels: { route, le }, value: count });
      });
      duration.samples.push({ suffix: '_sum', labels: { route }, value: sum });
      duration.samples.push({ suffix: '_count', labels: { route }, value: count });
    }
    return [total, duration];
  }

  return {
    /** Counts a request that is over. `route` is a template, never a path. */
    observe(route: string, method: string, status: number, seconds: number): void {
      let counts = routes.get(route);
      if (counts === undefined) {
        counts = { answers: new Map(), buckets: new Float64Array(bounds.length + 1), sum: 0 };
        routes.set(route, counts);
      }
      const answer = `${knownMethods.has(method) ? method : 'other'} ${status}`;
      counts.answers.set(answer, (counts.answers.get(answer) ?? 0) + 1);
      let bucket = 0;
      while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++;
      counts.buckets[bucket]!++;
      counts.sum += seconds;
    },
    /** Counts what was turned away by a limit. */
    reject(why: Rejection): void {
      rejected.set(why, rejected.get(why)! + 1);
    },
    /** Adds families that are collected when they are asked for, for one by a cache. */
    register(collector: Collector): void {
      collectors.push(collector);
    },
    /** The Prometheus text of everything. */
    text(): string {
      const turnedAway: Family = {
        name: 'gapstone_rejected_total',
        help: 'Requests and connections refused, by limit.',
        type: 'counter',
        samples: [...rejected].map(([limit, value]) => ({ labels: { limit }, value })),
      };
      return expositionText([
        ...requestFamilies(),
        turnedAway,
        ...collectors.flatMap((collector) => collector()),
      ]);
    },
  };
}
