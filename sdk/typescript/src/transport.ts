import { type Answer, ConnectionError, errorOf, retryAfterOf } from './errors.ts';

/** The number of attempts of one call (interface 7.6). */
const mostAttempts = 3;
/** The delay before the second attempt. It doubles before the third one (interface 7.6). */
const firstDelaySeconds = 1;

export interface Transport {
  /** Without a slash at its end. */
  baseUrl: string;
  fetch: typeof fetch;
  /** Milliseconds that one attempt may take. */
  timeoutMs: number;
  /**
   * If a 503 asks the caller to wait longer than this, it is not repeated. The error then has `retryAfterSeconds`, so that the
   * caller can decide.
   */
  maxRetryAfterSeconds: number;
  /** Resolves after some milliseconds. */
  sleep: (ms: number) => Promise<void>;
}

/** One call. `init` is called for each attempt, because a signed call needs a new timestamp and signature. */
export interface Call {
  path: string;
  init: () => RequestInit | Promise<RequestInit>;
}

/** The answer of the last attempt. */
export interface Outcome extends Answer {
  /** Whether there was an earlier attempt. The service may have carried it out, although the caller does not know. */
  wasRepeated: boolean;
}

/** Some frameworks keep answers of `fetch` unless told otherwise. The type of `RequestInit` in Node.js lacks the field. */
export const notCached: object = { cache: 'no-store' };

/** Sends a request once, and reads the whole answer. */
async function attempt(transport: Transport, path: string, init: RequestInit): Promise<Answer> {
  const { baseUrl, fetch, timeoutMs } = transport;
  const response = await fetch(`${baseUrl}${path}`, {
    ...init,
    ...notCached,
    // A redirect is not followed, because the request has credentials. They must not be sent to another server.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** Returns the seconds to wait before the next attempt. Undefined if the call is not to be repeated. */
function delayOf(answer: Answer | undefined, attempts: number, { maxRetryAfterSeconds }: Transport) {
  if (attempts >= mostAttempts) return undefined;
  // Interface 7.6 allows a repetition only after a 5xx or a missing answer.
  if (answer && answer.status < 500) return undefined;
  const retryAfter = answer?.status === 503 ? retryAfterOf(answer.headers, Date.now()) : undefined;
  if (retryAfter === undefined) return firstDelaySeconds * 2 ** (attempts - 1);
  return retryAfter <= maxRetryAfterSeconds ? retryAfter : undefined;
}

/**
 * Sends a call, with at most three attempts (interface 7.6). A 503 is repeated after its `Retry-After`. Another 5xx, or a missing
 * answer, is repeated after 1 s, then after 2 s. A 4xx is never repeated.
 * @throws ConnectionError if the last attempt had no answer, and every error of `init`
 */
export async function send(transport: Transport, { path, init }: Call): Promise<Outcome> {
  for (let attempts = 1; ; attempts += 1) {
    // Not in the `try`, because a missing setting is no lost answer.
    const request = await init();
    let answer: Answer | undefined;
    let cause: unknown;
    try {
      answer = await attempt(transport, path, request);
    } catch (error) {
      cause = error;
    }
    const delay = delayOf(answer, attempts, transport);
    if (delay === undefined) {
      if (answer) return { ...answer, wasRepeated: attempts > 1 };
      throw new ConnectionError({
        code: 'no_answer',
        message: `no_answer: ${transport.baseUrl} did not answer in ${attempts} attempts`,
        retryable: true,
        docUrl: `${transport.baseUrl}/docs/limits-and-billing#retry`,
        cause,
      });
    }
    await transport.sleep(delay * 1000);
  }
}

/** Returns the error of a success whose body is not as the interface has it. */
export const malformedAnswer = (baseUrl: string, cause?: unknown) =>
  new ConnectionError({
    code: 'malformed_answer',
    message: 'malformed_answer: the body of the 200 is not the one of the interface',
    retryable: false,
    docUrl: `${baseUrl}/docs/errors`,
    cause,
  });

/** The members that a caller relies on, each with the `typeof` of its value. */
export type Members = Readonly<Record<string, 'string' | 'object' | 'boolean'>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the parsed body of a success.
 * @throws ApiError for any other answer, ConnectionError for a body that is no object with these members
 */
export function parseSuccess<T>(answer: Answer, baseUrl: string, members: Members): T {
  if (answer.status !== 200) throw errorOf(answer, baseUrl);
  let parsed: unknown;
  try {
    parsed = JSON.parse(answer.body);
  } catch (cause) {
    throw malformedAnswer(baseUrl, cause);
  }
  const isWhole =
    isObject(parsed) &&
    Object.entries(members).every(([name, type]) =>
      type === 'object' ? isObject(parsed[name]) : typeof parsed[name] === type,
    );
  // A proxy may answer 200 for a service that it cannot reach.
  if (!isWhole) throw malformedAnswer(baseUrl);
  return parsed as T;
}
