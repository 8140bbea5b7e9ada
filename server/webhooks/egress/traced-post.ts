import { SpanKind } from '@opentelemetry/api';
import { type Tracing, traceparentOf } from '../../platform/telemetry/tracing.ts';
import type { Post } from './post.ts';

/** Adds a span to each webhook attempt. It belongs to the trace of the request that caused the event. */
export function tracedPost(post: Post, tracing: Tracing): Post {
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
