import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { onTestFinished } from 'vitest';

/** A meter provider, and what an SDK collects from it. */
export function collectedMetrics() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(() => meterProvider.shutdown());
  /** Every point of every instrument that is collected at this moment. */
  async function points() {
    exporter.reset();
    await meterProvider.forceFlush();
    const [last] = exporter.getMetrics().slice(-1);
    return (last?.scopeMetrics ?? []).flatMap(({ metrics }) =>
      metrics.flatMap(({ descriptor, dataPoints, dataPointType }) =>
        dataPoints.map(({ attributes, value }) => ({
          ...descriptor,
          attributes,
          value,
          isGauge: dataPointType === DataPointType.GAUGE,
        })),
      ),
    );
  }
  return {
    meterProvider,
    points,
    counted: async () => (await points()).filter(({ isGauge }) => !isGauge),
    gauges: async () => (await points()).filter(({ isGauge }) => isGauge),
  };
}
