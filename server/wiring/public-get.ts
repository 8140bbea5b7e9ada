import { Client } from 'undici';
import { createDial, createResolve } from '../webhooks/egress/connector.ts';
import { isPublicAddress } from '../webhooks/egress/destination.ts';

/** Milliseconds for name, connection, TLS and body, together. */
const timeoutMs = 5_000;
const largestBody = 2 * 1024 * 1024;

/**
 * Fetches an https address: public addresses only, no redirects, at most 2 MiB, within 5 s.
 * @throws the error of the request
 */
export function createPublicGet(resolve = createResolve()) {
  return async function get(address: string, accept: string): Promise<{ type: string; body: Uint8Array }> {
    const url = new URL(address);
    if (url.protocol !== 'https:' || url.username || url.password) throw new Error('not an https address');
    const dial = createDial({ resolve, allowed: isPublicAddress });
    const client = new Client(url.origin, { connect: dial.connect });
    try {
      const { statusCode, headers, body } = await client.request({
        method: 'GET',
        path: url.pathname + url.search,
        headers: { accept },
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (statusCode !== 200) throw new Error(`status ${statusCode}`);
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of body) {
        length += (chunk as Buffer).length;
        if (length > largestBody) throw new Error('too long');
        chunks.push(chunk as Buffer);
      }
      return { type: String(headers['content-type'] ?? ''), body: Buffer.concat(chunks) };
    } finally {
      await client.destroy();
      dial.close();
    }
  };
}
