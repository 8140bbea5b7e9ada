import { Gauge, Registry } from 'prom-client';
import type { Backlog } from './backlog-store.ts';

/** A certificate that a verification source depends on. */
export interface SourceCertificate {
  source: string;
  use: string;
  notAfter: string;
  expiring: boolean;
}

const mostEndpoints = 10;

/** Makes the gauges of the whole installation. Every process that offers them reports the same values. */
export function createBacklogMetrics(certificates: () => readonly SourceCertificate[]) {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });

  const deliveries = gauge(
    'svc_deliveries',
    'Webhook deliveries of the last 30 days by status, each up to 100000; delivered is an estimate',
    'status',
  );
  const lateDeliveries = gauge('svc_deliveries_late', 'Webhook deliveries that have been due for over 5 s');
  const withoutWorker = gauge(
    'svc_deliveries_without_worker',
    'Webhook deliveries that have been due for over 5 s while no process with the worker role is running',
  );
  const deliveryLag = gauge(
    'svc_delivery_lag_seconds',
    'How long the longest due delivery has waited to be sent',
  );
  const endpointGauge = (name: string, help: string) =>
    gauge(name, `${help}, of the ${mostEndpoints} worst`, 'key', 'mode');
  const failingSeconds = endpointGauge(
    'svc_endpoint_failing_seconds',
    'Since the first failed attempt after the last success of a webhook endpoint; 0 where the last one succeeded',
  );
  const successRatio = endpointGauge(
    'svc_endpoint_success_ratio',
    'Share of the last attempts of a webhook endpoint that succeeded, within a day',
  );
  const endpointQueue = endpointGauge('svc_endpoint_queue', 'Deliveries of a webhook endpoint that are due');
  const unpublishedPages = gauge(
    'svc_unpublished_pages',
    'Ledger pages whose events are still to be published',
  );
  const unpublishedPage = gauge(
    'svc_oldest_unpublished_page_seconds',
    'Age of the oldest ledger page whose events are still to be published',
  );
  const faultyLedgers = gauge(
    'svc_ledger_faults',
    'Wallets whose last audit has findings that no adjustment acknowledges',
  );
  const auditAge = gauge(
    'svc_ledger_audit_age_seconds',
    'Since the last nightly audit of all wallets ended; absent before the first one',
  );
  const jobs = gauge(
    'svc_jobs',
    'Jobs of the scheduler by state: waiting, late by over 5 s, failed',
    'state',
  );
  const schedulerLag = gauge(
    'svc_scheduler_lag_seconds',
    'How long the longest due job has waited to be taken up',
  );
  const backlogAge = gauge(
    'svc_backlog_age_seconds',
    'How old the figures of deliveries, jobs and pages are; they are read at most every 15 s',
  );
  const certificateLife = gauge(
    'svc_source_certificate_expiry_seconds',
    'Until the next certificate of a verification source expires; negative once it has',
    'source',
    'use',
  );
  const expiringCertificates = gauge(
    'svc_source_certificates_expiring',
    'Certificates of verification sources that expire within 30 days, or have expired',
  );

  /** Sets the gauges of the worst endpoints only, because each key is a time series of its own. */
  function setEndpoints({ at, endpoints = [] }: Backlog): void {
    for (const metric of [failingSeconds, successRatio, endpointQueue]) metric.reset();
    for (const endpoint of endpoints.slice(0, mostEndpoints)) {
      const { keyId: key, mode, failingSince, pausedUntil, successShare, queued } = endpoint;
      // A paused endpoint does not count as failing, because operators paused it on purpose.
      const isFailing = pausedUntil === null && failingSince !== null;
      const since = isFailing ? Date.parse(failingSince) : at.getTime();
      failingSeconds.set({ key, mode }, Math.max(0, (at.getTime() - since) / 1000));
      if (successShare !== null) successRatio.set({ key, mode }, successShare);
      endpointQueue.set({ key, mode }, queued);
    }
  }

  function setCertificates(now: number): void {
    const all = certificates();
    certificateLife.reset();
    // The certificate that expires first is set last, and so decides the value of the gauge.
    for (const { source, use, notAfter } of all.toSorted((a, b) => (a.notAfter < b.notAfter ? 1 : -1))) {
      certificateLife.set({ source, use }, (Date.parse(notAfter) - now) / 1000);
    }
    expiringCertificates.set(all.filter(({ expiring }) => expiring).length);
  }

  return {
    /** Returns the metrics in the format of Prometheus. @param now milliseconds since the epoch */
    render(backlog: Backlog, now: number): Promise<string> {
      const { at, deliveries: queue, jobs: scheduled, pages, audit, missingRoles = [] } = backlog;
      const age = (since: Date | undefined): number =>
        since ? Math.max(0, (at.getTime() - since.getTime()) / 1000) : 0;
      deliveries.reset();
      for (const [status, count] of Object.entries(queue.byStatus)) deliveries.set({ status }, count);
      lateDeliveries.set(queue.late);
      withoutWorker.set(missingRoles.some(({ role }) => role === 'worker') ? queue.late : 0);
      deliveryLag.set(age(queue.oldestDueAt));
      unpublishedPages.set(pages.unpublished);
      unpublishedPage.set(age(pages.oldestAt));
      faultyLedgers.set(audit.faulty);
      auditAge.reset();
      if (audit.endedAt) auditAge.set(age(audit.endedAt));
      else auditAge.remove();
      jobs.set({ state: 'waiting' }, scheduled.waiting);
      jobs.set({ state: 'late' }, scheduled.late);
      jobs.set({ state: 'failed' }, scheduled.failed);
      schedulerLag.set(age(scheduled.oldestDueAt));
      backlogAge.set(Math.max(0, (now - at.getTime()) / 1000));
      setEndpoints(backlog);
      setCertificates(now);
      return registry.metrics();
    },
  };
}
