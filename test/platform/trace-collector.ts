import { expect } from 'vitest';
import { startReceiver } from '../harness/receiver.ts';
import { within } from '../harness/time-limits.ts';

/** The part of OTLP's JSON that this collector reads. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: { stringValue?: string; intValue?: number | string } }[];
  status: { code?: number };
}

/** A collector: OTLP over HTTP, as JSON. */
export async function startCollector() {
  const receiver = await startReceiver((_count, _request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  );
  const resources = () =>
    receiver.received.flatMap(({ path, body }) => {
      expect(path).toBe('/v1/traces');
      const { resourceSpans } = JSON.parse(body) as {
        resourceSpans: { resource: { attributes: unknown }; scopeSpans: { spans: ReceivedSpan[] }[] }[];
      };
      return resourceSpans;
    });
  return {
    endpoint: `http://127.0.0.1:${receiver.port}`,
    /** The received spans, with the resource that sent them. */
    resources,
    spans: () => resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    close: receiver.close,
  };
}
export type Collector = Awaited<ReturnType<typeof startCollector>>;

/** The attributes of a span; integers as numbers. */
export const attributesOf = ({ attributes }: ReceivedSpan): Record<string, string | number | undefined> =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? undefined : Number(intValue)),
    ]),
  );

/** Spans are batched before they are sent. */
export const sentSoon = { timeout: within(20_000), interval: 100 };
