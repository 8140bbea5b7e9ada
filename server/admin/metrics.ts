import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Overview } from './overview-store.ts';

interface Answer {
  route: string;
  status: number;
  error?: string;
  description?: string;
}

export interface Metrics {
  contentType: string;
  /** Counts an answer of the public listener. */
  answered(answer: Answer): void;
  /** The page that Prometheus reads. */
  render(overview: Overview): Promise<string>;
}

const tokenRoute = '/api/oauth/token';

/** Metrics of this process, with what the database says at the moment of the scrape. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const tokenResults = new Counter({
    name: 'svc_token_results_total',
    help: 'Answers of the token endpoint by OAuth error code; ok for tokens issued',
    labelNames: ['code'],
    registers,
  });
  const capRefusals = new Counter({
    name: 'svc_cap_refusals_total',
    help: 'Billable requests refused by a spend cap',
    labelNames: ['bucket'],
    registers,
  });
  const deliveries = new Gauge({
    name: 'svc_deliveries',
    help: 'Webhook deliveries of the last 30 days by status',
    labelNames: ['status'],
    registers,
  });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const deliveryLag = gauge(
    'svc_delivery_lag_seconds',
    'How long the longest due delivery has waited to be sent',
  );
  const pendingCharge = gauge(
    'svc_oldest_pending_charge_seconds',
    'Age of the oldest hold that is not settled',
  );
  const schedulerLag = gauge(
    'svc_scheduler_lag_seconds',
    'How long the longest due job has waited to be taken up',
  );

  return {
    contentType: registry.contentType,

    answered({ route, status, error, description = '' }) {
      if (route === tokenRoute) tokenResults.inc({ code: error ?? (status < 400 ? 'ok' : 'other') });
      const [, bucket] = /^Spend limit exceeded: (minute|hour) bucket/.exec(description) ?? [];
      if (bucket) capRefusals.inc({ bucket });
    },

    async render({ at, deliveries: { byStatus, oldestDueAt }, jobs, oldestHoldAt }) {
      const age = (since: Date | undefined): number =>
        since ? Math.max(0, (at.getTime() - since.getTime()) / 1000) : 0;
      deliveries.reset();
      for (const [status, count] of Object.entries(byStatus)) deliveries.set({ status }, count);
      deliveryLag.set(age(oldestDueAt));
      pendingCharge.set(age(oldestHoldAt));
      schedulerLag.set(age(jobs.oldestDueAt));
      return registry.metrics();
    },
  };
}
