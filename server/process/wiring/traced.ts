import { SpanKind } from '@opentelemetry/api';
import type { LedgerStore } from '../../billing/ledger/ledger-store.ts';
import type { BillingStores } from '../../billing/store.ts';
import { type Tracing, traceparentOf } from '../../platform/telemetry/tracing.ts';
import type { Post } from '../../webhooks/egress/post.ts';
import type { Parts, WebhookSettings } from '../../webhooks/webhooks.ts';

/**
 * Adds a span to each insert of ledger pages. One insert writes the entries of several requests, because a group commit collects
 * them. The span is a child of the first request's span, and is linked to the others.
 */
function tracedLedger(ledger: LedgerStore, tracing: Tracing): LedgerStore {
  return {
    ...ledger,
    insert: (pages) =>
      tracing.span(
        {
          name: 'ledger page insert',
          causes: pages.flatMap(({ entries }) => entries.map(({ traceparent }) => traceparent)),
          attributes: {
            'svc.pages': pages.length,
            'svc.entries': pages.reduce((sum, { entries }) => sum + entries.length, 0),
          },
        },
        () => ledger.insert(pages),
      ),
  };
}

/** Returns the stores of billing, with spans if tracing is on. */
export const tracedStores = (stores: BillingStores, tracing: Tracing | undefined): BillingStores =>
  tracing ? { ...stores, ledger: tracedLedger(stores.ledger, tracing) } : stores;

/** Adds a span to each webhook attempt. It belongs to the trace of the request that caused the event. */
function tracedPost(post: Post, tracing: Tracing): Post {
  return (request) =>
    tracing.span(
      {
        name: 'webhook attempt',
        kind: SpanKind.CLIENT,
        causes: [request.headers['traceparent']],
        attributes: {
          'http.request.method': 'POST',
          'server.address': new URL(request.url).hostname,
          'svc.event': request.headers['X-SVC-Event'] ?? '',
          'svc.event_id': request.headers['X-SVC-Event-Id'] ?? '',
          'svc.attempt': Number(request.headers['X-SVC-Attempt'] ?? 1),
        },
      },
      async (span) => {
        const headers = { ...request.headers, traceparent: traceparentOf(span) };
        const result = await post({ ...request, headers });
        if (result.status !== undefined) span.setAttribute('http.response.status_code', result.status);
        if (result.error) span.setAttribute('error.type', result.error);
        return result;
      },
    );
}

/** The settings of webhooks that tests and fault runs set. `wrap` replaces parts, such as the function that sends a POST. */
type Replaced = Pick<WebhookSettings, 'wrap' | 'budget' | 'leaseTime'> | undefined;

/** Returns the settings. If tracing is on, the function that sends a POST adds a span to each attempt. */
export function tracedWebhooks(replaced: Replaced, tracing: Tracing | undefined): Replaced {
  if (!tracing) return replaced;
  const { wrap = (parts: Parts) => parts, ...others } = replaced ?? {};
  return {
    ...others,
    wrap: (parts) => {
      const wrapped = wrap(parts);
      return { ...wrapped, post: tracedPost(wrapped.post, tracing) };
    },
  };
}
