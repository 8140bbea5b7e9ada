import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Client } from 'undici';
import type { Mode } from '../../contracts/identifiers.ts';
import { type AttemptError, attemptBudget } from '../../contracts/webhooks.ts';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';
import type { PostResult } from './attempt.ts';
import {
  BlockedAddressError,
  createDial,
  createResolve,
  type Dial,
  type Route,
  resolveLocalhost,
} from './egress.ts';
import { checkWebhookUrl, isLocalhost, type UrlRules } from './url.ts';

export interface PostRequest {
  url: string;
  mode: Mode;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Sends one request and says how it went; never rejects, and never takes longer than its budget. */
export type Post = (request: PostRequest) => Promise<PostResult>;

interface Settings {
  rules: UrlRules;
  /** The way to the Internet; the way to localhost is fixed. */
  route?: Partial<Route>;
  /** Milliseconds for name, connection, TLS, headers and the part of the body that is read, together. */
  budget?: number;
  /** Certificate authority to trust instead of the system's. */
  ca?: string;
}

const longestBody = 16 * 1024;
const keptOfAnswer = 512;
const localRoute: Route = { resolve: resolveLocalhost, allowed: isLoopbackAddress };

const decoders: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Reads until the body ends or 16 KiB have come, as decompressed; what came is in `chunks` whatever happens. */
async function readStart(body: Readable, encoding: unknown, chunks: Buffer[]): Promise<void> {
  const decoder = typeof encoding === 'string' ? decoders[encoding.trim().toLowerCase()]?.() : undefined;
  if (decoder) body.once('error', (error) => decoder.destroy(error)).pipe(decoder);
  let length = 0;
  for await (const chunk of (decoder ?? body) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= longestBody) return;
  }
}

/** The first bytes as text that is safe to show: control characters would reach a terminal. */
function printable(chunks: readonly Buffer[]): string {
  const start = Buffer.concat(chunks).subarray(0, keptOfAnswer).toString('utf8');
  return start.replace(/(?![\n\t])\p{Cc}/gu, '\uFFFD');
}

const timedOut = new Error('no complete answer within the time allowed');

function classify(
  error: unknown,
  dial: Dial,
): Pick<PostResult, 'error' | 'detail'> & { error: AttemptError } {
  const { code, message } = error as NodeJS.ErrnoException;
  const detail = code ?? message;
  if (error instanceof BlockedAddressError) return { error: 'blocked_address', detail: message };
  if (error === timedOut) return { error: 'timeout', detail: `still at: ${dial.phase()}` };
  if (code === 'ETIMEDOUT') return { error: 'timeout', detail };
  switch (dial.phase()) {
    case 'dns':
      return { error: 'dns', detail };
    case 'connect':
      return { error: 'refused', detail };
    case 'tls':
      return { error: 'tls', detail };
    case 'response':
      return { error: /^(HPE_|UND_ERR_HEADERS)/.test(code ?? '') ? 'http' : 'reset', detail };
  }
}

/**
 * The one way out for webhooks: delivery, resend and test alike. A new connection for every request; redirects
 * are not followed; an answer's status decides, and its body is only kept for support to read.
 */
export function createPost({ rules, route = {}, budget = attemptBudget, ca }: Settings): Post {
  const publicRoute: Route = { resolve: createResolve(), allowed: isPublicAddress, ...route };

  async function send(request: PostRequest, dial: Dial): Promise<Omit<PostResult, 'durationMs'>> {
    const url = new URL(request.url);
    const client = new Client(url.origin, { connect: dial.connect, headersTimeout: 0, bodyTimeout: 0 });
    let timer: NodeJS.Timeout | undefined;
    const expiry = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(timedOut), budget);
    });
    const asked = client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: { ...request.headers },
      body: Buffer.from(request.body),
      reset: true,
    });
    const chunks: Buffer[] = [];
    let status: number | undefined;
    try {
      const { statusCode, headers, body } = await Promise.race([asked, expiry]);
      status = statusCode;
      // The status is the answer: what goes wrong with the body after it changes nothing.
      await Promise.race([readStart(body, headers['content-encoding'], chunks), expiry]).catch(
        () => undefined,
      );
      return {
        ...(status >= 200 && status < 300 ? {} : { error: 'http' as const }),
        ...answered(url, status, chunks),
      };
    } catch (error) {
      return classify(error, dial);
    } finally {
      clearTimeout(timer);
      asked.catch(() => undefined);
      dial.close();
      void client.destroy();
    }
  }

  return async (request) => {
    const started = performance.now();
    const elapsed = () => Math.round(performance.now() - started);
    const wrong = checkWebhookUrl(request.url, request.mode, rules);
    if (wrong !== undefined) return { error: 'blocked_address', detail: wrong, durationMs: elapsed() };
    const dial = createDial(
      isLocalhost(new URL(request.url)) ? localRoute : publicRoute,
      ca === undefined ? {} : { ca },
    );
    const result = await send(request, dial);
    const address = dial.address();
    return { ...result, ...(address === undefined ? {} : { address }), durationMs: elapsed() };
  };
}

/** What comes from localhost may be a developer's own page with anything on it: it is not kept. */
function answered(
  url: URL,
  status: number,
  chunks: readonly Buffer[],
): Pick<PostResult, 'status' | 'answer'> {
  return isLocalhost(url) || chunks.length === 0 ? { status } : { status, answer: printable(chunks) };
}
