// Names and meanings of all metrics that API and worker serve, for their documentation and for the checks of alerts.
import { createMetrics, watchProcess } from './metrics.js';

const away = () => Promise.reject(new Error('This process has no engines.'));

/** Without the metrics of the Temporal SDK, which the worker adds. */
export function everyMetric(): { name: string; help: string; labels: readonly string[] }[] {
  const metrics = createMetrics();
  watchProcess(metrics);
  metrics.watch({
    readEvents: away,
    readDeliveries: away,
    countStaleDevices: away,
    readLastBackup: away,
    pingMongodb: away,
    temporalAvailable: () => false,
    certificatesEndAt: () => undefined,
  });
  metrics.watchPolls(() => 0);
  return metrics.registry.getMetricsAsArray().map((metric) => ({
    name: metric.name,
    help: metric.help,
    labels: 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : [],
  }));
}
