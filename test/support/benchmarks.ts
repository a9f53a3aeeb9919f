import { put, scratchFolder } from './scratch.ts';
import { type SampleBenchmark, writeXccdf } from './xccdf-writer.ts';

/**
 * Writes synthetic benchmarks, one file each, into a new folder and gives its path. Each gets a rule of its own unless
 * it brings some: STIGs that share their rules would be taken for one (rule D24.5).
 */
export function writeBenchmarks(samples: SampleBenchmark[]): string {
  const folder = scratchFolder();
  samples.forEach((sample, index) => {
    const own = { rules: 1, stem: `OWN-${index}`, first: 200_000 + 1000 * index };
    put(folder, `${String(index).padStart(4, '0')}-xccdf.xml`, writeXccdf({ ...own, ...sample }));
  });
  return folder;
}
