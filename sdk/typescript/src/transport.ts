import { type Answer, ConnectionError, errorOf, retryAfterOf } from './errors.ts';

/** Attempts in all, and seconds before the second one; they double (interface 7.6). */
const mostAttempts = 3;
const firstDelaySeconds = 1;

export interface Transport {
  /** Without a slash at its end. */
  baseUrl: string;
  fetch: typeof fetch;
  /** Milliseconds that one attempt may take. */
  timeoutMs: number;
  /** A longer `Retry-After` is not waited for: the error says it instead. Seconds. */
  maxRetryAfterSeconds: number;
  /** Resolves after some milliseconds. */
  sleep: (ms: number) => Promise<void>;
}

/** One call. `init` is made for each attempt, as a signed call gets a new timestamp. */
export interface Call {
  path: string;
  init: () => RequestInit | Promise<RequestInit>;
}

/** The last answer, and whether an attempt before it may have been carried out without this caller knowing. */
export interface Outcome extends Answer {
  uncertain: boolean;
}

async function attempt({ baseUrl, fetch, timeoutMs }: Transport, { path, init }: Call): Promise<Answer> {
  const response = await fetch(`${baseUrl}${path}`, {
    ...(await init()),
    // Credentials do not follow a redirect to another place.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** Seconds to wait before the next attempt; undefined if there is none. */
function delayOf(answer: Answer | undefined, attempts: number, { maxRetryAfterSeconds }: Transport) {
  if (attempts >= mostAttempts || (answer && answer.status < 500)) return undefined;
  const backoff = firstDelaySeconds * 2 ** (attempts - 1);
  const told = answer?.status === 503 ? retryAfterOf(answer.headers, Date.now()) : undefined;
  if (told !== undefined && told > maxRetryAfterSeconds) return undefined;
  return told ?? backoff;
}

/**
 * Sends a call until it is answered by less than 500, by interface 7.6: three attempts in all. A 503 is repeated after
 * its `Retry-After`; another 5xx, and no answer, after 1 s, then 2 s. A 4xx is never repeated.
 * @throws ConnectionError where the last attempt had no answer
 */
export async function send(transport: Transport, call: Call): Promise<Outcome> {
  let uncertain = false;
  for (let attempts = 1; ; attempts += 1) {
    let answer: Answer | undefined;
    let cause: unknown;
    try {
      answer = await attempt(transport, call);
    } catch (error) {
      cause = error;
    }
    const delay = delayOf(answer, attempts, transport);
    if (delay === undefined) {
      if (answer) return { ...answer, uncertain };
      throw new ConnectionError({
        code: 'no_answer',
        message: `no_answer: ${transport.baseUrl} did not answer in ${attempts} attempts`,
        retryable: true,
        docUrl: `${transport.baseUrl}/docs/limits-and-billing#retry`,
        cause,
      });
    }
    uncertain = true;
    await transport.sleep(delay * 1000);
  }
}

/** The parsed body of a success. @throws ApiError of the answer */
export function parseSuccess<T>(answer: Answer, baseUrl: string): T {
  if (answer.status === 200) {
    try {
      return JSON.parse(answer.body) as T;
    } catch (cause) {
      throw new ConnectionError({
        code: 'malformed_answer',
        message: 'malformed_answer: the body of the 200 is no JSON',
        retryable: false,
        docUrl: `${baseUrl}/docs/errors`,
        cause,
      });
    }
  }
  throw errorOf(answer, baseUrl);
}
