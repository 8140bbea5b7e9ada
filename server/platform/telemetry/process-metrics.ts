import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { MongoClient } from 'mongodb';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DatabaseClock } from '../clock.ts';
import { routeOf } from '../http/answer-log.ts';
import { obstacles, type Readiness } from '../http/endpoints/readiness.ts';
import { version } from '../version.ts';
import { observeEventLoop } from './event-loop.ts';

/** Gauges of prom-client whose suffix `_total` is reserved for counters. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** The longest interval of a timer. `observeEventLoop` samples in place of prom-client. */
const neverMs = 2 ** 31 - 1;

/** Upper bounds in seconds. An exchange takes some milliseconds; after 4.5 s it gets a 503. */
const answerBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const databaseBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

export function createProcessMetrics({ roles }: { roles: Iterable<string> }) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  for (const name of misnamed) registry.removeSingleMetric(name);
  observeEventLoop(registry);

  new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; the labels say which version runs here, on which Node.js, in which roles',
    labelNames: ['version', 'node', 'role'],
    registers,
  }).set({ version, node: process.versions.node, role: [...roles].join(',') }, 1);

  const requests = new Counter({
    name: 'svc_http_requests_total',
    help: 'Requests that were answered, by route template and status; probes are not counted',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer, by route template',
    labelNames: ['method', 'route'],
    buckets: answerBuckets,
    registers,
  });
  const databaseDurations = new Histogram({
    name: 'svc_database_operation_seconds',
    help: 'How long an operation held a connection to the database: sending it, and waiting for its answer',
    buckets: databaseBuckets,
    registers,
  });
  const poolWaits = new Histogram({
    name: 'svc_database_pool_wait_seconds',
    help: 'How long an operation waited for a connection of the pool',
    buckets: databaseBuckets,
    registers,
  });
  const poolFailures = new Counter({
    name: 'svc_database_pool_failures_total',
    help: 'Operations that got no connection to the database',
    registers,
  });
  const databaseUp = new Gauge({
    name: 'svc_database_up',
    help: 'Whether this process knows a member of the database that takes writes',
    registers,
  });
  const connections = new Gauge({
    name: 'svc_database_connections',
    help: 'Connections to the database: open ones, and those of them in use',
    labelNames: ['state'],
    registers,
  });

  function count(request: FastifyRequest, reply: FastifyReply): void {
    const { method } = request;
    const route = routeOf(request);
    requests.inc({ method, route, status: reply.statusCode });
    durations.observe({ method, route }, reply.elapsedTime / 1000);
  }

  return {
    registry,

    /** Counts and times the responses of a listener. Call it before the routes are registered. */
    observeAnswers(app: FastifyInstance): void {
      app.addHook('onResponse', (request, reply, done) => {
        // Probes are frequent and would distort the metrics of callers.
        const isProbe = request.routeOptions.logLevel === 'silent';
        if (!isProbe) count(request, reply);
        done();
      });
    },

    /** Measures the client's connection pool and operations. Call it before the client connects. */
    observeDatabase(client: MongoClient): void {
      /** When each connection was taken from the pool, by `performance.now()`. A monitoring connection has no number. */
      const inUse = new Map<number | '<monitor>', number>();
      let open = 0;
      const setGauge = () => {
        connections.set({ state: 'open' }, open);
        connections.set({ state: 'in_use' }, inUse.size);
      };
      setGauge();
      client.on('connectionCreated', () => {
        open += 1;
        setGauge();
      });
      client.on('connectionClosed', ({ connectionId }) => {
        open -= 1;
        inUse.delete(connectionId);
        setGauge();
      });
      client.on('connectionCheckedOut', ({ connectionId, durationMS }) => {
        poolWaits.observe(durationMS / 1000);
        inUse.set(connectionId, performance.now());
        setGauge();
      });
      client.on('connectionCheckedIn', ({ connectionId }) => {
        const takenAt = inUse.get(connectionId);
        inUse.delete(connectionId);
        if (takenAt !== undefined) databaseDurations.observe((performance.now() - takenAt) / 1000);
        setGauge();
      });
      client.on('connectionCheckOutFailed', () => poolFailures.inc());
      client.on('topologyDescriptionChanged', ({ newDescription: { servers } }) => {
        databaseUp.set([...servers.values()].some(({ isWritable }) => isWritable) ? 1 : 0);
      });
    },

    /** Exposes the readiness and the clock's offset. Call it once. */
    observeReadiness(readiness: Pick<Readiness, 'reasons'>, clock: Pick<DatabaseClock, 'offset'>): void {
      new Gauge({
        name: 'svc_ready',
        help: 'Whether this process can serve as far as this reason goes: 0 where it is a reason against',
        labelNames: ['reason'],
        registers,
        collect() {
          const found = readiness.reasons().map(({ obstacle }) => obstacle);
          for (const obstacle of obstacles) this.set({ reason: obstacle }, found.includes(obstacle) ? 0 : 1);
        },
      });
      new Gauge({
        name: 'svc_clock_offset_seconds',
        help: "The database's time minus that of this machine, when it was last measured",
        registers,
        collect() {
          this.set(clock.offset() / 1000);
        },
      });
    },
  };
}
export type ProcessMetrics = ReturnType<typeof createProcessMetrics>;
