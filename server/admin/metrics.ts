import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
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
  /** Counts a request that was refused because too many were in flight. */
  shed(): void;
  /** Notes how many billable and OAuth requests are in flight in this process. */
  inFlight(count: number): void;
  /** Counts a webhook attempt that goes out, `lag` seconds after it was due. */
  sending(attempt: { lane: 'first' | 'retry'; lag: number }): void;
  /** The page that Prometheus reads. */
  render(overview: Overview): Promise<string>;
}

const tokenRoute = '/api/oauth/token';

/** Seconds: from a first attempt that goes out at once to one that waited for as long as a whole retry. */
const lagBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

interface Dependencies {
  /** Seconds since this process last looked for due jobs; undefined where it runs none. */
  tickAge: () => number | undefined;
  /** Those that verification sources depend on. */
  certificates?: () => readonly { source: string; use: string; notAfter: string; expiring: boolean }[];
}

/** Metrics of this process, with what the database says at the moment of the scrape. */
export function createMetrics({ tickAge, certificates = () => [] }: Dependencies): Metrics {
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
  const shedRequests = new Counter({
    name: 'svc_shed_requests_total',
    help: 'Requests refused with 503 because too many were in flight in this process',
    registers,
  });
  const requestsInFlight = new Gauge({
    name: 'svc_requests_in_flight',
    help: 'Billable and OAuth requests that this process is answering; 256 is the most',
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
  const sendLag = new Histogram({
    name: 'svc_delivery_send_lag_seconds',
    help: 'From when a webhook attempt was due to when this process sent it, by lane: first or retry',
    labelNames: ['lane'],
    buckets: lagBuckets,
    registers,
  });
  const unpublishedPage = gauge(
    'svc_oldest_unpublished_page_seconds',
    'Age of the oldest ledger page whose events are still to be published',
  );
  const schedulerLag = gauge(
    'svc_scheduler_lag_seconds',
    'How long the longest due job has waited to be taken up',
  );

  const schedulerTick = gauge(
    'svc_scheduler_tick_age_seconds',
    'Since this process last looked for due jobs; absent where it has no worker role',
  );

  const certificateLife = new Gauge({
    name: 'svc_source_certificate_expiry_seconds',
    help: 'Until the next certificate of a verification source expires; negative once it has',
    labelNames: ['source', 'use'],
    registers,
  });
  const expiringCertificates = gauge(
    'svc_source_certificates_expiring',
    'Certificates of verification sources that expire within 30 days, or have expired',
  );

  function renderCertificates(at: Date): void {
    const all = certificates();
    certificateLife.reset();
    // The latest first: the one that expires next is what is left.
    for (const { source, use, notAfter } of all.toSorted((a, b) => (a.notAfter < b.notAfter ? 1 : -1))) {
      certificateLife.set({ source, use }, (Date.parse(notAfter) - at.getTime()) / 1000);
    }
    expiringCertificates.set(all.filter(({ expiring }) => expiring).length);
  }

  return {
    contentType: registry.contentType,

    answered({ route, status, error, description = '' }) {
      if (route === tokenRoute) tokenResults.inc({ code: error ?? (status < 400 ? 'ok' : 'other') });
      const [, bucket] = /^Spend limit exceeded: (minute|hour) bucket/.exec(description) ?? [];
      if (bucket) capRefusals.inc({ bucket });
    },

    shed: () => shedRequests.inc(),
    inFlight: (count) => requestsInFlight.set(count),

    sending({ lane, lag }) {
      sendLag.observe({ lane }, lag);
    },

    async render({ at, deliveries: { byStatus, oldestDueAt }, jobs, oldestUnpublishedAt }) {
      const age = (since: Date | undefined): number =>
        since ? Math.max(0, (at.getTime() - since.getTime()) / 1000) : 0;
      deliveries.reset();
      for (const [status, count] of Object.entries(byStatus)) deliveries.set({ status }, count);
      deliveryLag.set(age(oldestDueAt));
      unpublishedPage.set(age(oldestUnpublishedAt));
      schedulerLag.set(age(jobs.oldestDueAt));
      renderCertificates(at);
      const tick = tickAge();
      if (tick === undefined) schedulerTick.remove();
      else schedulerTick.set(tick);
      return registry.metrics();
    },
  };
}
