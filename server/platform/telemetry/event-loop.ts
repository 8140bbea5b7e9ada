import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** Milliseconds between two samples. prom-client's 10 ms cost an idle process 4 ms of processor time a second. */
const sampleEveryMs = 100;

const statistics: Record<string, (histogram: IntervalHistogram) => number> = {
  min: ({ min }) => min,
  max: ({ max }) => max,
  mean: ({ mean }) => mean,
  p50: (histogram) => histogram.percentile(50),
  p90: (histogram) => histogram.percentile(90),
  p99: (histogram) => histogram.percentile(99),
};

/**
 * Replaces prom-client's gauges of the event loop's delay, which sample too often. A value is how much later than its time a
 * sample came, in seconds, since the metrics were read last.
 */
export function observeEventLoop(registry: Registry): void {
  const histogram = monitorEventLoopDelay({ resolution: sampleEveryMs });
  histogram.enable();
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - sampleEveryMs / 1_000);
  const gaugeOf = (name: string, read: () => number, collected = () => {}): void => {
    const metric = `nodejs_eventloop_lag_${name}_seconds`;
    registry.removeSingleMetric(metric);
    new Gauge({
      name: metric,
      help: `Delay of the event loop, sampled every ${sampleEveryMs} ms: ${name}`,
      registers: [registry],
      collect() {
        const value = histogram.count === 0 ? 0 : read();
        this.set(value);
        collected();
      },
    });
  };
  for (const [name, read] of Object.entries(statistics)) gaugeOf(name, () => seconds(read(histogram)));
  // A registry collects in the order of registration, so this is the last one.
  gaugeOf(
    'stddev',
    () => histogram.stddev / 1e9,
    () => histogram.reset(),
  );
}
