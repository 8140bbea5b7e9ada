import { Client, type Dispatcher } from 'undici';
import { createDial, createResolve, type Route } from '../webhooks/egress/connector.ts';
import { checkWebhookUrl, isPublicAddress } from '../webhooks/egress/destination.ts';

interface Settings {
  route?: Partial<Route>;
  /** Certificate authority to trust instead of the system's. */
  ca?: string;
  /** Milliseconds for name, connection, TLS, headers and body, together. */
  timeoutMs?: number;
  /** Bytes. */
  largestBody?: number;
}

export interface Fetched {
  /** As it was sent, with parameters. */
  type: string;
  body: Buffer;
}

interface Wanted {
  url: URL;
  /** Media types. */
  accept: readonly string[];
}

/** Milliseconds. */
export const answerWithinMs = 5_000;

const onlyHttps = { localhostAllowed: false, ownPorts: () => [] };

type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** Why an answer is not read, by its head alone. */
function headFault(
  status: number,
  headers: ResponseHeaders,
  { accept, largestBody }: Pick<Wanted, 'accept'> & { largestBody: number },
): string | undefined {
  if (status !== 200) return `status ${status}`;
  const [type = ''] = typeOf(headers).toLowerCase().split(';');
  if (!accept.includes(type.trim())) return 'another content type';
  return Number(headers['content-length'] ?? 0) > largestBody ? 'too long' : undefined;
}

const typeOf = (headers: ResponseHeaders): string => String(headers['content-type'] ?? '');

/**
 * Fetches https addresses of unknown origin: public addresses only, no redirects, at most 2 MiB, within 5 s, and one of
 * the media types that were asked for.
 */
export function createPublicGet(settings: Settings = {}) {
  const { route, ca, timeoutMs = answerWithinMs, largestBody = 2 * 1024 * 1024 } = settings;
  const publicRoute: Route = { resolve: createResolve(), allowed: isPublicAddress, ...route };

  /** The answer is never paused: undici 7 throws in an event handler where a paused connection ends. */
  function exchange(client: Client, { url, accept }: Wanted): Promise<Fetched> {
    return new Promise((done, fail) => {
      const chunks: Buffer[] = [];
      let length = 0;
      let type = '';
      const handler: Dispatcher.DispatchHandler = {
        // undici recognises its newer handler interface by this method.
        onRequestStart: () => undefined,
        onResponseStart(_controller, status, headers) {
          if (status < 200) return;
          type = typeOf(headers);
          const fault = headFault(status, headers, { accept, largestBody });
          if (fault) fail(new Error(fault));
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
          length += chunk.length;
          if (length > largestBody) fail(new Error('too long'));
        },
        onResponseEnd: () => done({ type, body: Buffer.concat(chunks) }),
        onResponseError: (_controller, error) => fail(error),
      };
      const headers = { accept: accept.join(', ') };
      client.dispatch({ method: 'GET', path: url.pathname + url.search, headers, reset: true }, handler);
    });
  }

  /** @throws Error that says what is wrong with the address or the answer, or that of the connection */
  return async function get(address: string, accept: readonly string[]): Promise<Fetched> {
    const wrong = checkWebhookUrl(address, 'live', onlyHttps);
    if (wrong !== undefined) throw new Error(wrong);
    const url = new URL(address);
    const dial = createDial(publicRoute, ca === undefined ? {} : { ca });
    const client = new Client(url.origin, { connect: dial.connect, headersTimeout: 0, bodyTimeout: 0 });
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_done, fail) => {
      timer = setTimeout(fail, timeoutMs, new Error('no answer within the time allowed'));
    });
    try {
      return await Promise.race([exchange(client, { url, accept }), tooLate]);
    } finally {
      clearTimeout(timer);
      dial.close();
      client.destroy(new Error('the exchange is over')).catch(() => undefined);
    }
  };
}
