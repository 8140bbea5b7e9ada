import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceAuthorization, DeviceLogin, DeviceToken } from '../../contracts/device-login.ts';
import { createSend } from '../connection/http.ts';
import { CommandError, exits, type Failure, innermost } from '../errors/failure.ts';

/** The grant type (RFC 8628 3.4). It is not imported from the contract, which would load zod. */
const grantType = 'urn:ietf:params:oauth:grant-type:device_code';
/** The time limit of a response, in milliseconds. */
const timeoutMs = 20_000;
/** How much each `slow_down` adds to the interval, in seconds (RFC 8628 3.5). */
const slowerBySeconds = 5;
/** The longest time between two polls, however many responses were lost. */
const mostWaitSeconds = 60;

interface Service {
  url: string;
  ca?: string | undefined;
}

interface DeviceAnswer {
  status: number;
  retryAfter: number;
  body: Record<string, unknown>;
}

/** Returns the calls by which a program signs a member in (RFC 8628), shows the login and ends it. */
export function createDeviceEndpoints({ url, ca }: Service) {
  const send = createSend(ca);

  async function call(
    path: string,
    init: Omit<Parameters<typeof send>[1], 'timeoutMs'>,
  ): Promise<DeviceAnswer> {
    const { status, text, headers } = await send(`${url}/portal/device/${path}`, { ...init, timeoutMs });
    return { status, retryAfter: Number(headers.get('retry-after') ?? 0), body: parseBody(text) };
  }

  const post = (path: string, form: Record<string, string>) =>
    call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams(form)),
    });
  const withToken = (token: string, method: string) =>
    call('login', { method, headers: { authorization: `Bearer ${token}` } });

  /**
   * Returns the body of a success.
   * @param isOurs whether an answer is one of the portal. Another server may answer 200 to every request
   * @throws CommandError for any other response, and if there is none
   */
  async function requireSuccess(
    answer: Promise<DeviceAnswer>,
    isOurs: (answer: DeviceAnswer) => boolean,
  ): Promise<Record<string, unknown>> {
    const given = await answer.catch((error: unknown) => {
      throw unreachableError(url, error);
    });
    if (given.status < 300 && isOurs(given)) return given.body;
    throw new CommandError(failureOf(url, given));
  }

  return {
    start: async (clientName: string) =>
      (await requireSuccess(
        post('authorization', { client_name: clientName }),
        has('device_code', 'user_code', 'verification_uri', 'expires_in', 'interval'),
      )) as unknown as DeviceAuthorization,
    poll: (deviceCode: string) => post('token', { grant_type: grantType, device_code: deviceCode }),
    show: async (token: string) =>
      (await requireSuccess(
        withToken(token, 'GET'),
        has('memberId', 'environment', 'partnerId'),
      )) as unknown as DeviceLogin,
    /** Ends the login. @throws CommandError with the code `unauthorized` if the login has ended already */
    end: async (token: string): Promise<void> =>
      void (await requireSuccess(withToken(token, 'DELETE'), ({ status }) => status === 204)),
  };
}
export type DeviceEndpoints = ReturnType<typeof createDeviceEndpoints>;

/** Parses a response body. A proxy or another server may send no JSON: then only the status tells what happened. */
function parseBody(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Makes a check that the body of an answer has these members. */
const has =
  (...names: readonly string[]) =>
  ({ body }: DeviceAnswer): boolean =>
    names.every((name) => body[name] !== undefined);

const unreachableError = (url: string, error: unknown) =>
  new CommandError({
    code: 'unreachable',
    message: `Cannot reach the server at ${url}: ${innermost(error)}`,
  });

function failureOf(url: string, { status, body }: Pick<DeviceAnswer, 'status' | 'body'>): Failure {
  const message = String(body['error_description'] ?? `${url} answered ${status}`);
  if (status === 401) return { code: 'unauthorized', message };
  if (status === 429) return { code: 'rate_limited', message };
  // The portal sends an `error` with every refusal. So without one, the portal is off, or the address is of another server.
  if (status === 404 || body['error'] === undefined)
    return {
      code: 'not_the_admin_api',
      message: `${url} has no partner portal (answered ${status})`,
    };
  return { code: 'failure', message };
}

const expiredFailure: Failure = {
  code: 'expired_token',
  message: 'No member confirmed the code within its time',
  exit: exits.failure,
  hint: 'Start again with `svc login`.',
};

const deniedFailure: Failure = {
  code: 'device_login_denied',
  message: 'The login was refused in the portal',
  exit: exits.notAuthorised,
};

/** Errors after which the program stops polling. */
const finalErrors = new Map<string, Failure>([
  ['access_denied', deniedFailure],
  ['expired_token', expiredFailure],
  [
    'invalid_grant',
    { ...expiredFailure, code: 'invalid_grant', message: 'The login was used or ended elsewhere' },
  ],
]);

/** The time of the machine, which tests replace. */
interface Clock {
  wait?: (seconds: number) => Promise<unknown>;
  now?: () => number;
}

/**
 * Polls until a member has confirmed or refused the code (RFC 8628 3.5). After a lost response it polls again, each time later.
 * @returns the token
 * @throws CommandError if the code was refused or has expired
 */
export async function awaitToken(
  endpoints: Pick<DeviceEndpoints, 'poll'>,
  { device_code: code, interval, expires_in: lifetime }: DeviceAuthorization,
  { wait = (seconds) => sleep(seconds * 1000), now = () => performance.now() }: Clock = {},
): Promise<string> {
  const deadline = now() + lifetime * 1000;
  let intervalSeconds = interval;
  let lostResponses = 0;
  while (now() < deadline) {
    await wait(Math.min(mostWaitSeconds, intervalSeconds * 2 ** lostResponses));
    const answer = await endpoints.poll(code).catch(() => undefined);
    const token = answer?.status === 200 ? (answer.body as Partial<DeviceToken>).access_token : undefined;
    if (token !== undefined) return token;
    // A proxy may answer 200 for a service that it cannot reach.
    const isLost = !answer || answer.status === 200 || answer.status >= 500;
    lostResponses = isLost ? lostResponses + 1 : 0;
    if (isLost) continue;
    const error = String(answer.body['error']);
    const failure = finalErrors.get(error);
    if (failure) throw new CommandError(failure);
    // After any other error, such as `authorization_pending`, the program polls again.
    if (error === 'slow_down') intervalSeconds += slowerBySeconds;
    if (error === 'rate_limited') await wait(answer.retryAfter);
  }
  throw new CommandError(expiredFailure);
}
