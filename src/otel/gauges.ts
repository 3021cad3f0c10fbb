import type { Attributes, MeterProvider } from '@opentelemetry/api';

/** How long a reading may take: shorter than the usual limit of a scrape, 10 s, so that it does not hold up other metrics. */
export const READ_LIMIT_MS = 2_000;

/** One gauge of something that is read as a whole. */
export interface Gauge<Reading> {
  description: string;
  unit: string;
  /** Returns the value to observe; undefined where there is none. */
  value(reading: Reading): number | undefined;
}

/** Observes gauges each time metrics are collected. Returns a function that ends it. */
export function observeGauges<Reading>(
  meters: MeterProvider,
  gauges: Readonly<Record<string, Gauge<Reading>>>,
  read: () => Promise<Reading>,
  attributes: Attributes,
): () => void {
  const meter = meters.getMeter('service-webhooks');
  const created = Object.entries(gauges).map(([name, { description, unit, value }]) => ({
    gauge: meter.createObservableGauge(name, { description, unit }),
    value,
  }));
  const all = created.map(({ gauge }) => gauge);
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    const reading = await read();
    for (const { gauge, value } of created) {
      const found = value(reading);
      if (found !== undefined) result.observe(gauge, found, attributes);
    }
  };
  meter.addBatchObservableCallback(observe, all);
  return () => meter.removeBatchObservableCallback(observe, all);
}
