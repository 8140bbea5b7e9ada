import { type buildConnector, Client, type Dispatcher } from 'undici';
import { createDial, createResolve, type Dial, type Route } from './connector.ts';
import { checkWebhookUrl, isPublicAddress } from './destination.ts';

interface Settings {
  /** Tests pass another name resolution, or another rule which addresses are allowed. */
  route?: Partial<Route>;
  /** The certificate authority to trust instead of those of the system. */
  ca?: string;
  /** How long everything may take, in milliseconds: name resolution, connection, TLS, headers and body. */
  timeoutMs?: number;
  /** The response fails if its body is larger than this. */
  mostBodyBytes?: number;
}

export interface Fetched {
  /** The content type as it was sent, with parameters. */
  type: string;
  body: Buffer;
}

interface Wanted {
  url: URL;
  /** The accepted media types. */
  accept: readonly string[];
}

/** How long a request and its response may take by default, in milliseconds. */
export const answerWithinMs = 5_000;

const onlyHttps = { localhostAllowed: false, ownPorts: () => [] };

type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** Returns why the body of a response is not read, from its status and headers; undefined if the body is read. */
function headFault(
  status: number,
  headers: ResponseHeaders,
  { accept, mostBodyBytes }: Pick<Wanted, 'accept'> & { mostBodyBytes: number },
): string | undefined {
  if (status !== 200) return `status ${status}`;
  const [type = ''] = typeOf(headers).toLowerCase().split(';');
  if (!accept.includes(type.trim())) return 'another content type';
  return Number(headers['content-length'] ?? 0) > mostBodyBytes ? 'too long' : undefined;
}

/** A connector for undici that connects only to checked addresses. */
const connectorOf =
  (dial: Dial): buildConnector.connector =>
  (options, callback) => {
    dial
      .resolve(options.hostname)
      .then((addresses) => dial.open(addresses, options))
      .then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
  };

const typeOf = (headers: ResponseHeaders): string => String(headers['content-type'] ?? '');

/**
 * Returns a function that fetches https URLs of unknown origin: only from public addresses, without redirects, at most 2 MiB,
 * within 5 s, and only the accepted media types.
 */
export function createPublicGet(settings: Settings = {}) {
  const { route, ca, timeoutMs = answerWithinMs, mostBodyBytes = 2 * 1024 * 1024 } = settings;
  const publicRoute: Route = { resolve: createResolve(), allowed: isPublicAddress, ...route };

  /**
   * Sends a request. After a fault, the caller closes the connection. The handler does not pause the response, because undici 7
   * throws an uncaught error if a paused connection ends.
   */
  function sendRequest(client: Client, { url, accept }: Wanted): Promise<Fetched> {
    return new Promise((done, fail) => {
      const chunks: Buffer[] = [];
      let length = 0;
      let type = '';
      const handler: Dispatcher.DispatchHandler = {
        // undici recognises its newer handler interface by this method.
        onRequestStart: () => undefined,
        onResponseStart(_controller, status, headers) {
          if (status < 200) return; // an interim response, such as 103
          type = typeOf(headers);
          const fault = headFault(status, headers, { accept, mostBodyBytes });
          if (fault) fail(new Error(fault));
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
          length += chunk.length;
          if (length > mostBodyBytes) fail(new Error('too long'));
        },
        onResponseEnd: () => done({ type, body: Buffer.concat(chunks) }),
        onResponseError: (_controller, error) => fail(error),
      };
      const headers = { accept: accept.join(', ') };
      // `reset` closes the connection after the response, because there is one request for each connection.
      client.dispatch({ method: 'GET', path: url.pathname + url.search, headers, reset: true }, handler);
    });
  }

  /** @throws Error with the fault of the address, of the response or of the connection */
  return async function get(address: string, accept: readonly string[]): Promise<Fetched> {
    const urlFault = checkWebhookUrl(address, 'live', onlyHttps);
    if (urlFault !== undefined) throw new Error(urlFault);
    const url = new URL(address);
    const dial = createDial(publicRoute, ca === undefined ? {} : { ca });
    // The timeouts of undici are off, because one timer limits the whole request.
    const client = new Client(url.origin, { connect: connectorOf(dial), headersTimeout: 0, bodyTimeout: 0 });
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('no answer within the time allowed')), timeoutMs);
    });
    try {
      return await Promise.race([sendRequest(client, { url, accept }), tooLate]);
    } finally {
      clearTimeout(timer);
      dial.close();
      client.destroy(new Error('the request is over')).catch(() => undefined);
    }
  };
}
