import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { randomSecret } from '../../../server/platform/ids.ts';
import { attemptHeaders } from '../../../server/webhooks/egress/signature.ts';
import { certificate } from '../../../test/webhooks/certificate.ts';
import type { Job } from './events.ts';
import type { QueueSettings } from './program.ts';
import { isTls, receiverHost, receiverUrl } from './receivers.ts';

/** How many deliveries a queue of others sends at a time. */
export const concurrency = 100;

/** Attempts of a delivery, as ours. The receivers accept all, so the times between them play no role. */
export const attempts = 3;

/**
 * How the queues of others send: signed as ours, over connections that are kept. Unlike ours, URLs and secrets come from memory,
 * addresses are not checked, and answers are not stored.
 */
export function createSender({ origins, endpoints }: QueueSettings): (job: Job) => Promise<void> {
  const secret = randomSecret('webhookSecret');
  const common = { keepAlive: true, maxFreeSockets: concurrency };
  const http = new HttpAgent(common);
  const https = new HttpsAgent({ ...common, ca: certificate, servername: receiverHost });
  return ({ endpoint, eventId, body }) => {
    const url = receiverUrl(origins, endpoint, endpoints);
    const type = 'enrollment.created';
    const signed = { eventId, type, attempt: 1, body, secret, at: Date.now(), userAgent: 'bench' };
    const secure = isTls(endpoint, endpoints);
    const options: RequestOptions = {
      method: 'POST',
      host: '127.0.0.1',
      port: url.port,
      path: url.pathname,
      headers: { host: url.host, 'Content-Length': Buffer.byteLength(body), ...attemptHeaders(signed) },
      agent: secure ? https : http,
    };
    return new Promise((resolve, reject) => {
      const outgoing = (secure ? httpsRequest : httpRequest)(options, (response) => {
        const { statusCode = 0 } = response;
        response.resume().once('end', () => {
          if (statusCode >= 200 && statusCode < 300) resolve();
          else reject(new Error(`status ${statusCode}`));
        });
      });
      outgoing.once('error', reject).end(body);
    });
  };
}
