import { Counter, Gauge, Histogram } from 'prom-client';
import type { CallerKind } from '../../platform/http/limits/in-flight.ts';
import type { ProcessMetrics } from '../../platform/telemetry/process-metrics.ts';
import type { RequestRecord } from '../requests/request-store.ts';
import { createBacklogMetrics, type SourceCertificate } from './backlog-metrics.ts';
import type { Backlog } from './backlog-store.ts';

type Answer = Pick<RequestRecord, 'route' | 'status' | 'error' | 'description'>;

export type Metrics = ReturnType<typeof createMetrics>;

const tokenRoute = '/api/oauth/token';

/** Buckets of the send lag in seconds, from an immediate first attempt to the delay of a retry. */
const lagBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Buckets of the batch size, up to the largest ledger page. */
const batchBuckets = [1, 2, 4, 8, 16, 32, 64, 128];

/**
 * Makes the metrics of the service: those of this process, and those of the whole installation.
 * @param tickAge returns the seconds since this process last looked for due jobs; undefined if it runs no jobs
 */
export function createMetrics(
  { registry }: Pick<ProcessMetrics, 'registry'>,
  tickAge: () => number | undefined,
  certificates: () => readonly SourceCertificate[],
) {
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const backlogMetrics = createBacklogMetrics(certificates);
  const tokenResults = counter(
    'svc_token_results_total',
    'Answers of the token endpoint by OAuth error code; ok for tokens issued',
    'code',
  );
  const capRefusals = counter('svc_cap_refusals_total', 'Billable requests refused by a spend cap', 'bucket');
  const shedRequests = counter(
    'svc_shed_requests_total',
    'Requests refused with 503 because too many were in flight in this process, by who sent them',
    'caller',
  );
  const requestsInFlight = new Gauge({
    name: 'svc_requests_in_flight',
    help: 'Requests that this process is answering: at most 256 authenticated and 512 unauthenticated ones of the API, 256 of users and 512 of returning users',
    labelNames: ['caller'],
    registers,
  });
  const batches = new Histogram({
    name: 'svc_batch_size',
    help: 'How many went together: entries of one ledger page, events of one publication, postings of one hand-over',
    labelNames: ['kind'],
    buckets: batchBuckets,
    registers,
  });
  const pageConflicts = counter(
    'svc_ledger_page_conflicts_total',
    'Ledger pages that this process computed again because another process was first',
  );
  const postings = counter(
    'svc_ledger_postings_total',
    'Charges and manual entries: own are of wallets that this process writes, the others say how a hand-over went',
    'way',
  );
  const peers = new Gauge({
    name: 'svc_peers',
    help: 'Other processes with a private listener: those that answer this one, and silent ones',
    labelNames: ['state'],
    registers,
  });
  const sendLag = new Histogram({
    name: 'svc_delivery_send_lag_seconds',
    help: 'From when a webhook attempt was due to when this process sent it, by lane: first or retry',
    labelNames: ['lane'],
    buckets: lagBuckets,
    registers,
  });
  const attempts = counter(
    'svc_webhook_attempts_total',
    'Webhook attempts that ended, by outcome: delivered, or the class of the error',
    'outcome',
  );
  const methods = counter(
    'svc_methods_total',
    'Verification sources that sessions were done with, by outcome: authenticated, left for another one, or the failure',
    'source',
    'outcome',
  );
  const passkeys = counter(
    'svc_passkeys_total',
    'Ceremonies of passkeys of users, by ceremony (save, return, sign_in) and outcome',
    'ceremony',
    'outcome',
  );
  const schedulerTick = new Gauge({
    name: 'svc_scheduler_tick_age_seconds',
    help: 'Since this process last looked for due jobs; absent where it has no worker role',
    registers,
    collect() {
      const age = tickAge();
      if (age === undefined) this.remove();
      else this.set(age);
    },
  });
  // A new gauge has the value 0, as if the process had looked for jobs just now.
  schedulerTick.remove();

  return {
    contentType: registry.contentType,

    /** Counts a response of the public listener. */
    answered({ route, status, error, description = '' }: Answer): void {
      if (route === tokenRoute) tokenResults.inc({ code: error ?? (status < 400 ? 'ok' : 'other') });
      // All limits have the error code `rate_limited`. Only the description tells which spend cap was reached.
      const { bucket } =
        /^Spend limit exceeded: (?<bucket>minute|hour) bucket/.exec(description)?.groups ?? {};
      if (bucket) capRefusals.inc({ bucket });
    },

    /** Counts a request that was refused because too many were in flight. */
    shed: (caller: CallerKind) => shedRequests.inc({ caller }),
    inFlight: (caller: CallerKind, count: number) => requestsInFlight.set({ caller }, count),
    /** Adds the size of a batch that was written, published or handed over together. */
    batch: (kind: 'ledger_page' | 'events' | 'hand_over', size: number) => batches.observe({ kind }, size),
    /** Counts a ledger page that another process wrote before this process could. */
    pageConflict: () => pageConflicts.inc(),
    /** Counts a posting: `own` was written by this process, the others say how the hand-over to another process ended. */
    posting: (way: 'own' | 'answered' | 'not_sent' | 'lost') => postings.inc({ way }),
    /** Counts the outcome of a verification source for a session. */
    method: (source: string, outcome: string) => methods.inc({ source, outcome }),
    passkey: (ceremony: string, outcome: string) => passkeys.inc({ ceremony, outcome }),
    /** Sets how many other processes take postings from this process, and how many should but do not answer. */
    peers({ answering, silent }: { answering: number; silent: number }): void {
      peers.set({ state: 'answering' }, answering);
      peers.set({ state: 'silent' }, silent);
    },
    /** Counts a webhook attempt when it is sent, `lag` seconds after it was due. */
    sending: ({ lane, lag }: { lane: 'first' | 'retry'; lag: number }) => sendLag.observe({ lane }, lag),
    /** Counts a webhook attempt when it has ended. The outcome is `delivered` or the reason of the failure. */
    sent: (outcome: string) => attempts.inc({ outcome }),
    renderProcess: () => registry.metrics(),

    /** Returns the metrics of this process and of the whole installation. @param now milliseconds since the epoch */
    async render(backlog: Backlog, now: number): Promise<string> {
      const [ofProcess, ofInstallation] = await Promise.all([
        registry.metrics(),
        backlogMetrics.render(backlog, now),
      ]);
      return `${ofProcess}\n${ofInstallation}`;
    },
  };
}
