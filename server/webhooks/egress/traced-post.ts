import { SpanKind } from '@opentelemetry/api';
import { type Tracing, traceparentOf } from '../../platform/telemetry/tracing.ts';
import type { Parts, WebhookSettings } from '../webhooks.ts';
import type { Post } from './post.ts';

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
