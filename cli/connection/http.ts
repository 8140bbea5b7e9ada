import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { trustedAuthorities } from './certificates.ts';

/** The response to a request, read to its end. */
export interface Answer {
  status: number;
  /** Whether the status is 2xx. */
  ok: boolean;
  /** Returns a header by its name in lower case; null if the response has none. */
  headers: { get(name: string): string | null };
  text: string;
  /** Parses the text. tRPC calls this. @throws SyntaxError if the text is no JSON */
  json(): Promise<unknown>;
}

interface Request {
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
  /** The time limit of the whole response, in milliseconds. */
  timeoutMs: number;
}

/** Sends a request. Redirects are not followed, because a token must not go to another server. Rejects if no response came. */
export type Send = (url: string, request: Request) => Promise<Answer>;

async function readAnswer(message: IncomingMessage): Promise<Answer> {
  const { statusCode: status = 0, headers } = message;
  if (status >= 300 && status <= 399) {
    message.destroy();
    throw new Error('unexpected redirect');
  }
  const body = await text(message).catch((error: NodeJS.ErrnoException) => {
    // Node says only "aborted".
    if (error.code === 'ECONNRESET') throw new Error('the connection ended before the end of the response');
    throw error;
  });
  return {
    status,
    ok: status >= 200 && status <= 299,
    headers: { get: (name) => [headers[name] ?? null].flat()[0] ?? null },
    text: body,
    json: async () => JSON.parse(body) as unknown,
  };
}

/**
 * Returns the function that sends requests to the server. It uses Node's HTTP client and not `fetch`, because the first `fetch`
 * of a process compiles a parser. That takes longer than everything else that a short command does.
 * @param ca path of a file with a certificate authority to trust too
 * @throws CommandError if the file cannot be read, or contains no certificate
 */
export function createSend(ca: string | undefined): Send {
  const authorities = trustedAuthorities(ca);
  return async (url, { method = 'GET', headers, body, timeoutMs }) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const options = { method, headers: { accept: '*/*', 'user-agent': 'node', ...headers }, signal };
    const isTls = url.startsWith('https:');
    const sent = isTls ? httpsRequest(url, { ...options, ca: authorities }) : httpRequest(url, options);
    sent.end(body);
    // The listener of errors stays, because a request that ends during its response has an error too.
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).once('error', reject);
    });
    return readAnswer(message);
  };
}
