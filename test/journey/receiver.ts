import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  event: string;
  body: Record<string, unknown>;
  /** Whether `X-SVC-Signature` is valid for the raw body (interface 5.5). */
  verified: boolean;
}

function verify(raw: Buffer, header: string | undefined, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
  const sent = Buffer.from(header ?? '');
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/** A partner's webhook receiver on localhost; an event delivered twice counts once. */
export async function startReceiver(port: number) {
  const seen = new Map<string, Received>();
  let secret = '';
  let arrived: (() => void) | undefined;

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      const verified = verify(raw, request.headers['x-svc-signature'] as string | undefined, secret);
      const body = JSON.parse(raw.toString()) as Record<string, unknown>;
      seen.set(String(body['event_id']), { event: String(body['event']), body, verified });
      response.writeHead(204).end();
      arrived?.();
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
    /** Resolves to all received events, after `count` events or `ms` milliseconds. */
    async wait(count: number, ms: number): Promise<Received[]> {
      const deadline = Date.now() + ms;
      while (seen.size < count && Date.now() < deadline) {
        await new Promise<void>((resolve) => {
          arrived = resolve;
          setTimeout(resolve, deadline - Date.now());
        });
      }
      return [...seen.values()];
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
