import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CommandStartedEvent, MongoClient } from 'mongodb';
import { failureOf } from '../http/answer-log.ts';
import { version } from '../version.ts';
import { answerAttributes, requestSpan } from './request-span.ts';
import { readTraceparent } from './trace-context.ts';

interface SpanSettings {
  name: string;
  kind?: SpanKind;
  /** The `traceparent`s that led to the span: the first is its parent, the others are linked. */
  causes: readonly (string | undefined)[];
  attributes?: Attributes;
}

/** The `traceparent` header for requests that a span causes. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The identity of a span in another process. */
function remoteSpan(traceparent: unknown): SpanContext | undefined {
  const parsed = readTraceparent(traceparent);
  if (!parsed) return undefined;
  const { traceId, parentId: spanId, flags } = parsed;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}

/** The context in which a span gets `remote` as its parent. */
const contextBelow = (remote: SpanContext | undefined): Context =>
  remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;

/** Ends a span. With a failure, the span counts as failed, for the reason in `message`. */
function end(span: Span, failure?: { message: string }): void {
  if (failure) span.setStatus({ code: SpanStatusCode.ERROR, message: failure.message });
  span.end();
}

/** Makes a span for each request. It ends when the response or its connection ends. */
function observeRequestsWith(tracer: Tracer, app: FastifyInstance): void {
  const contexts = new WeakMap<FastifyRequest, Context>();

  app.addHook('onRequest', (request, reply, done) => {
    const parent = remoteSpan(request.raw.headers['traceparent']);
    const { name, attributes } = requestSpan(request);
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, contextBelow(parent));
    // From here on the request is part of this span, in the log and for the requests that it causes.
    request.raw.headers['traceparent'] = traceparentOf(span);
    // With a parent, the logger has the trace's id already, from the header (`childLoggerFactory` of the server).
    if (!parent) request.log = request.log.child({ traceId: span.spanContext().traceId });
    reply.raw.once('close', () => {
      span.setAttributes(answerAttributes(request, reply));
      // A 4xx is a fault of the caller, so the span has succeeded.
      const hasFailed = reply.statusCode >= 500;
      end(span, hasFailed ? (failureOf(request) ?? { message: 'answered with 5xx' }) : undefined);
    });
    const current = trace.setSpan(ROOT_CONTEXT, span);
    contexts.set(request, current);
    context.with(current, done);
  });
  // The body's events run in the context of the connection, so the span's context is set again.
  app.addHook('preValidation', (request, _reply, done) => {
    context.with(contexts.get(request) ?? ROOT_CONTEXT, done);
  });
}

/** How many documents or statements a command carries. */
const sizeOf = ({ command }: CommandStartedEvent): number =>
  ['documents', 'updates', 'deletes'].map((name) => command[name]).find(Array.isArray)?.length ?? 1;

/** Makes a span for each command that a traced request causes. The client has to monitor its commands. */
function observeDatabaseWith(tracer: Tracer, client: MongoClient): void {
  const spans = new Map<number, Span>();
  client.on('commandStarted', (event) => {
    // Commands without a request, such as those of a sweep, are not traced.
    if (!trace.getSpan(context.active())) return;
    const { commandName, command, requestId } = event;
    const collection = String(command[commandName]);
    const attributes = {
      'db.system.name': 'mongodb',
      'db.operation.name': commandName,
      'db.collection.name': collection,
      'db.operation.batch.size': sizeOf(event),
    };
    spans.set(
      requestId,
      tracer.startSpan(`${commandName} ${collection}`, { kind: SpanKind.CLIENT, attributes }),
    );
  });
  const finish = (requestId: number, failure?: Error) => {
    const span = spans.get(requestId);
    spans.delete(requestId);
    if (span) end(span, failure);
  };
  client.on('commandSucceeded', ({ requestId }) => finish(requestId));
  client.on('commandFailed', ({ requestId, failure }) => finish(requestId, failure));
}

/** Sends spans to `endpoint` by OTLP over HTTP. Loads the SDK only here, because most installations do not need it. */
export async function startTracing({ endpoint, roles }: { endpoint: string; roles: Iterable<string> }) {
  const [{ BasicTracerProvider, BatchSpanProcessor }, exporter, { resourceFromAttributes }, hooks] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/context-async-hooks'),
    ]);
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'svc-gateway',
      'service.version': version,
      'svc.role': [...roles].join(','),
    }),
    spanProcessors: [new BatchSpanProcessor(new exporter.OTLPTraceExporter({ url }))],
  });
  context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
  const tracer = provider.getTracer('svc-gateway', version);

  return {
    /** Call this before the routes of a listener are registered. */
    observeRequests: (app: FastifyInstance): void => observeRequestsWith(tracer, app),
    observeDatabase: (client: MongoClient): void => observeDatabaseWith(tracer, client),

    async span<T>(settings: SpanSettings, work: (span: Span) => Promise<T>): Promise<T> {
      const { name, kind = SpanKind.INTERNAL, causes, attributes = {} } = settings;
      const [parent, ...linked] = causes.flatMap((cause) => remoteSpan(cause) ?? []);
      const links = linked.map((remote) => ({ context: remote }));
      const span = tracer.startSpan(name, { kind, attributes, links }, contextBelow(parent));
      try {
        const result = await context.with(trace.setSpan(ROOT_CONTEXT, span), () => work(span));
        end(span);
        return result;
      } catch (error) {
        end(span, { message: String(error) });
        throw error;
      }
    },

    /** Sends the remaining spans. */
    async stop(): Promise<void> {
      await provider.shutdown();
      context.disable();
    },
  };
}
export type Tracing = Awaited<ReturnType<typeof startTracing>>;
