/** The use of a metric in an expression, with the labels that it is filtered by. */
export interface MetricUse {
  metric: string;
  labels: string[];
}

/** Labels that Prometheus adds to every series. */
const ADDED = ['job', 'instance'];

/** Returns the metrics of this library in an expression of PromQL, with the labels by which they are filtered or grouped. */
export function metricsOf(expression: string): MetricUse[] {
  const grouped = [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/));
  const plain = expression.replace(/\b(?:by|on) \([^)]*\)/g, '');
  return [...plain.matchAll(/\b(webhook_\w+)(?:\{([^}]*)\})?/g)]
    .filter(({ index }) => !/["|]$/.test(plain.slice(0, index)) && !isInBraces(plain, index))
    .map(([, metric = '', matchers = '']) => ({
      metric,
      labels: [...grouped, ...[...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, name = '']) => name)].filter(
        (name) => !ADDED.includes(name),
      ),
    }));
}

function isInBraces(text: string, index: number): boolean {
  return text.lastIndexOf('{', index) > text.lastIndexOf('}', index);
}

/** A metric of a text that Prometheus scrapes: its type, and the labels of its series. */
export interface ScrapedMetric {
  type: string;
  labels: Set<string>;
}

/** Returns the metrics of a text that Prometheus scrapes, also `_bucket`, `_count` and `_sum` of a histogram. */
export function scrapedMetrics(text: string): Map<string, ScrapedMetric> {
  const types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  const metrics = new Map<string, ScrapedMetric>();
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const type = types.get(name) ?? types.get(name.replace(/_(bucket|count|sum)$/, '')) ?? 'unknown';
    const metric = metrics.get(name) ?? { type, labels: new Set<string>() };
    for (const [, label = ''] of labels.matchAll(/(?:^|,)(\w+)="/g)) metric.labels.add(label);
    metrics.set(name, metric);
  }
  return metrics;
}
