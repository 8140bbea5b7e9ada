import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { recordingLogger } from '../../harness/log-lines.ts';
import { createPartner, type TestPartner, tokenForm, verifyUser } from '../../harness/partner.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import {
  attributesOf,
  type Collector,
  type ReceivedSpan,
  sentSoon,
  startCollector,
} from '../trace-collector.ts';

let collector: Collector;
const spans = () => collector.spans();
const log = recordingLogger();
const traceId = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${callerSpan}-01`;
let server: TestServer;
let partner: TestPartner;

beforeAll(async () => {
  collector = await startCollector();
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '100');
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  server = await startTestServer({ env, logger: log.logger });
  partner = await createPartner(server);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
  collector.close();
});

const attributeOf = (span: ReceivedSpan, key: string) => attributesOf(span)[key];

describe('a trace', () => {
  it("contains the request, its page insert, its database batch and its webhook, below the caller's span", async () => {
    const receiver = await createReceiver();
    await verifyUser(server, partner, 'teen');
    await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: receiver.url });
    const returning = await verifyUser(server, partner, 'teen');
    const answer = await fetch(`${server.baseUrl}/api/oauth/token`, {
      ...{ method: 'POST', headers: { traceparent } },
      body: new URLSearchParams(tokenForm(partner, returning)),
    });
    expect(answer.status).toBe(200);
    const own = () => spans().filter((span) => span.traceId === traceId);
    const named = (name: string) => own().find((span) => span.name === name);
    await expect.poll(() => named('webhook attempt'), sentSoon).toBeDefined();
    await expect.poll(() => named('POST /api/oauth/token'), sentSoon).toBeDefined();

    const request = named('POST /api/oauth/token');
    expect(request).toMatchObject({ parentSpanId: callerSpan, kind: 2 });
    expect(request && attributeOf(request, 'http.response.status_code')).toBe(200);
    expect(request && attributeOf(request, 'svc.request_id')).toBe(answer.headers.get('x-request-id'));
    const page = named('ledger page insert');
    expect(page).toMatchObject({ parentSpanId: request?.spanId });
    expect(page && attributeOf(page, 'svc.entries')).toBe(1);
    expect(named('insert ledger')).toMatchObject({ parentSpanId: page?.spanId, kind: 3 });
    // One command reads the session and the status of the API key.
    expect(named('aggregate apiKeys') ?? named('aggregate sessions')).toMatchObject({
      parentSpanId: request?.spanId,
    });
    const attempt = named('webhook attempt');
    expect(attempt).toMatchObject({ parentSpanId: request?.spanId });
    expect(attempt && attributeOf(attempt, 'http.response.status_code')).toBe(204);
    // The receiver's own spans are children of the attempt.
    const sent = receiver.received.map(({ headers }) => headers['traceparent']);
    expect(sent).toContain(`00-${traceId}-${attempt?.spanId}-01`);
    expect(JSON.stringify(collector.resources()[0]?.resource.attributes)).toContain('svc-gateway');
  });

  it('begins with the request if the caller sent no traceparent, and the log line has the same trace id', async () => {
    const answer = await fetch(`${server.baseUrl}/api/oauth/userinfo`);
    const requestId = answer.headers.get('x-request-id');
    const of = () => spans().find((span) => attributeOf(span, 'svc.request_id') === requestId);
    await expect.poll(of, sentSoon).toBeDefined();
    expect(of()).toMatchObject({ name: 'GET /api/oauth/userinfo' });
    expect(of()?.parentSpanId ?? '').toBe('');
    expect(of() && attributeOf(of() as ReceivedSpan, 'svc.error')).toBe('invalid_token');
    expect(log.of(requestId)[0]).toMatchObject({ traceId: of()?.traceId });
  });

  it('contains no secret', () => {
    const text = JSON.stringify(spans());
    expect(spans().length).toBeGreaterThan(10);
    expect(text).not.toMatch(/svc_(code|secret|test|live|admin)_|whsec_|eyJ/);
  });
});

it('the telemetry SDK is not loaded without a collector', () => {
  const start = new URL('../../../dist/server/process/start.js', import.meta.url).href;
  const loadedBy = (modules: readonly string[]): string => {
    const program = `
      import { createRequire } from 'node:module';
      for (const one of ${JSON.stringify(modules)}) await import(one);
      const loaded = Object.keys(createRequire(import.meta.url).cache);
      console.log([...new Set(loaded.flatMap((path) => /@opentelemetry\\/([^/]+)/.exec(path)?.[1] ?? []))].join());`;
    return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    }).trim();
  };
  expect(loadedBy([start])).toBe('api');
  // A control: the same check finds the SDK when it is loaded.
  expect(loadedBy([import.meta.resolve('@opentelemetry/sdk-trace-base')])).toContain('sdk-trace-base');
});
