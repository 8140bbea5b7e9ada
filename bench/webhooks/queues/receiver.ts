import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { certificate, certificateKey } from '../../../test/webhooks/certificate.ts';
import { answerCalls } from '../../remote.ts';
import type { Arrivals } from './receivers.ts';
import { receiverHost } from './receivers.ts';

/** A program: the endpoints as paths of two servers, one of them with TLS. They accept all, and measure the lateness. */
let seen = new Set<string>();
let arrivals: Arrivals = empty();

function empty(): Arrivals {
  return { events: 0, duplicates: 0, lateness: [], lastAt: 0 };
}

async function note(request: IncomingMessage): Promise<void> {
  const at = Date.now();
  const { event_id, created_at } = JSON.parse(await text(request)) as {
    event_id: string;
    created_at: string;
  };
  if (typeof request.headers['x-svc-signature'] !== 'string')
    throw new Error('a request without a signature');
  if (seen.has(event_id)) {
    arrivals.duplicates += 1;
    return;
  }
  seen.add(event_id);
  arrivals.events += 1;
  arrivals.lateness.push(at - Date.parse(created_at));
  arrivals.lastAt = at;
}

const listener: RequestListener = (request, response) => {
  void note(request).then(() => response.writeHead(204).end());
};

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

answerCalls({
  async start() {
    const http = await listen(createServer(listener));
    const https = await listen(createTlsServer({ cert: certificate, key: certificateKey }, listener));
    return { http: `http://localhost:${http}`, https: `https://${receiverHost}:${https}` };
  },
  count: () => arrivals.events,
  take() {
    const taken = arrivals;
    arrivals = empty();
    seen = new Set();
    return taken;
  },
});
