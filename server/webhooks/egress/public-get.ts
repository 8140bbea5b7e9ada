import { type IncomingMessage, request } from 'node:http';
import { createDial, createResolve, type Route, trusting } from './connector.ts';
import { bareHost, checkWebhookUrl, isPublicAddress } from './destination.ts';

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

/** How long a request and its response may take by default, in milliseconds. */
export const answerWithinMs = 5_000;

const onlyHttps = { localhostAllowed: false, ownPorts: () => [] };

/** A repeated header gives a list, which is no media type. */
const typeOf = ({ headersDistinct }: IncomingMessage): string =>
  headersDistinct['content-type']?.join() ?? '';

/** Returns why the body of a response is not read, from its status and headers; undefined if the body is read. */
function headFault(response: IncomingMessage, accept: readonly string[], mostBodyBytes: number) {
  const { statusCode: status, headers } = response;
  if (status !== 200) return `status ${status}`;
  const [type = ''] = typeOf(response).toLowerCase().split(';');
  if (!accept.includes(type.trim())) return 'another content type';
  return Number(headers['content-length'] ?? 0) > mostBodyBytes ? 'too long' : undefined;
}

/**
 * Returns a function that fetches https URLs of unknown origin: only from public addresses, without redirects, at most 2 MiB,
 * within 5 s, and only the accepted media types.
 */
export function createPublicGet(settings: Settings = {}) {
  const { route, ca, timeoutMs = answerWithinMs, mostBodyBytes = 2 * 1024 * 1024 } = settings;
  const publicRoute: Route = { resolve: createResolve(), allowed: isPublicAddress, ...route };
  const secureContext = trusting(ca);

  /** @throws Error with the fault of the address, of the response or of the connection */
  return async function get(address: string, accept: readonly string[]): Promise<Fetched> {
    const urlFault = checkWebhookUrl(address, 'live', onlyHttps);
    if (urlFault !== undefined) throw new Error(urlFault);
    const url = new URL(address);
    const dial = createDial(publicRoute, secureContext);
    const target = { hostname: bareHost(url), port: url.port, protocol: url.protocol };
    const chunks: Buffer[] = [];
    let length = 0;
    let timer: NodeJS.Timeout | undefined;
    // Without an agent, the connection serves one request.
    const outgoing = request({
      path: url.pathname + url.search,
      headers: { host: url.host, accept: accept.join(', ') },
      createConnection(_options, give) {
        const opened = dial.resolve(target.hostname).then((addresses) => dial.open(addresses, target));
        opened.then(
          (socket) => give(null, socket),
          (error: Error) => outgoing.emit('error', error),
        );
        return undefined;
      },
    });
    try {
      return await new Promise<Fetched>((done, fail) => {
        timer = setTimeout(() => fail(new Error('no answer within the time allowed')), timeoutMs);
        outgoing.on('error', fail);
        // The status 101: the server speaks another protocol from now on.
        outgoing.on('upgrade', () => fail(new Error('status 101')));
        outgoing.on('response', (response) => {
          const fault = headFault(response, accept, mostBodyBytes);
          if (fault) fail(new Error(fault));
          response.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            length += chunk.length;
            if (length > mostBodyBytes) fail(new Error('too long'));
          });
          response.on('end', () => done({ type: typeOf(response), body: Buffer.concat(chunks) }));
          response.on('error', fail);
        });
        outgoing.end();
      });
    } finally {
      clearTimeout(timer);
      outgoing.destroy();
      dial.close();
    }
  };
}
