// Names and meanings of the metrics of API and worker, for their documentation and for the checks of alerts.
import { createMetrics } from './metrics.js';

const away = () => Promise.reject(new Error('This process has no engines.'));

/** Without those of Node and of the Temporal SDK. */
export function everyMetric(): { name: string; help: string; labels: readonly string[] }[] {
  const metrics = createMetrics();
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
