import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  event: string;
  body: Record<string, unknown>;
  /** Whether `X-SVC-Signature` is valid for the raw body (interface 5.5). */
  verified: boolean;
}

function isSignatureValid(raw: Buffer, header: string | undefined, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
  const sent = Buffer.from(header ?? '');
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/** Starts a partner's webhook receiver on localhost. It checks signatures, and remembers one delivery of each event. */
export async function startReceiver(port: number) {
  const eventsById = new Map<string, Received>();
  let secret = '';
  let onArrival: (() => void) | undefined;

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      const verified = isSignatureValid(
        raw,
        request.headers['x-svc-signature'] as string | undefined,
        secret,
      );
      const body = JSON.parse(raw.toString()) as Record<string, unknown>;
      eventsById.set(String(body['event_id']), { event: String(body['event']), body, verified });
      response.writeHead(204).end();
      onArrival?.();
    });
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => server.once('error', reject).listen(at, '127.0.0.1', resolve));
  await listen(port).catch(() => listen(0));

  return {
    port: (server.address() as AddressInfo).port,
    useSecret: (signingSecret: string) => {
      secret = signingSecret;
    },
    /** Waits for `count` events, or for `ms` milliseconds. @returns all received events */
    async wait(count: number, ms: number): Promise<Received[]> {
      const deadline = Date.now() + ms;
      while (eventsById.size < count && Date.now() < deadline) {
        await new Promise<void>((resolve) => {
          onArrival = resolve;
          setTimeout(resolve, deadline - Date.now());
        });
      }
      return [...eventsById.values()];
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
