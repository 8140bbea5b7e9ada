import type { Mode } from '../../../contracts/identifiers.ts';
import { mayRefuseSignature } from '../../../contracts/receiver-advice.ts';
import { type AttemptError, attemptTimeoutMs } from '../../../contracts/webhooks.ts';
import { maskedAddress } from '../../platform/telemetry/masked-address.ts';
import { MalformedAnswer } from './answer-reader.ts';
import { answerText, readBytes } from './answer-text.ts';
import { createConnections } from './connections.ts';
import {
  BlockedAddressError,
  createDial,
  createResolve,
  type Dial,
  type Route,
  resolveLocalhost,
  trusting,
} from './connector.ts';
import {
  checkWebhookUrl,
  isLocalhost,
  isLoopbackAddress,
  isPublicAddress,
  type UrlRules,
} from './destination.ts';
import { firstBytes, sendRequest, timedOut } from './request.ts';

export interface PostRequest {
  /** The API key. Connections are kept for its next requests. */
  keyId: string;
  url: string;
  mode: Mode;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The result of a POST. Without `error`, the receiver has acknowledged it. */
export interface PostResult {
  status?: number;
  error?: AttemptError;
  detail?: string;
  /** The address and port of the connection; undefined if there was none. */
  address?: string;
  /** The beginning of the response's body, and two of its headers. */
  answer?: string;
  location?: string;
  retryAfter?: string;
  /** The time of the `Date` header of a refusal of the signature, in milliseconds since 1970. */
  receiverTime?: number;
  durationMs: number;
}

/** Sends one request and returns its result. Never rejects, and never takes longer than its budget. */
export type Post = (request: PostRequest) => Promise<PostResult>;

export interface PostSettings {
  rules: UrlRules;
  /** Replaces parts of the route to the Internet. The route to localhost is fixed. */
  route?: Partial<Route>;
  /** Time limit for the whole attempt, from name resolution to the body, in milliseconds; default 10,000. */
  budget?: number;
  /** Milliseconds for which a connection waits for the next request; default 4,000. */
  kept?: number;
  /** The certificate authority to trust instead of those of the system. */
  ca?: string;
}

type SendResult = Omit<PostResult, 'durationMs'>;

const localRoute: Route = { resolve: resolveLocalhost, allowed: isLoopbackAddress };

/** A valid `Retry-After` is a number or a date, and so shorter than this. */
const longestRetryAfter = 64;

/** Classifies a failed request by its error, or else by the phase that its connection had reached. */
function classify(
  error: unknown,
  dial: Dial,
): Pick<PostResult, 'error' | 'detail'> & { error: AttemptError } {
  const { code, message } = error as NodeJS.ErrnoException;
  const detail = code ?? message;
  if (error instanceof BlockedAddressError) return { error: 'blocked_address', detail: message };
  if (error === timedOut) return { error: 'timeout', detail: `still at: ${dial.phase()}` };
  if (error instanceof MalformedAnswer) return { error: 'http', detail: message };
  if (code === 'ETIMEDOUT') return { error: 'timeout', detail };
  switch (dial.phase()) {
    case 'dns':
      return { error: 'dns', detail };
    case 'connect':
      return { error: 'refused', detail };
    case 'tls':
      return { error: 'tls', detail };
    case 'response':
      return { error: 'reset', detail };
  }
}

/**
 * Sends all webhooks: deliveries, resends and tests. Connections to an endpoint live some seconds. Redirects are
 * not followed.
 * Only the status of the response decides; its body is kept for support.
 */
export function createPost({
  rules,
  route: replacements,
  budget = attemptTimeoutMs,
  kept,
  ca,
}: PostSettings): Post {
  const publicRoute: Route = { resolve: createResolve(), allowed: isPublicAddress, ...replacements };

  const secureContext = trusting(ca);
  const connections = createConnections(kept);

  /** Makes one request. A failure is a result too, so it does not throw. */
  async function send(request: PostRequest, dial: Dial): Promise<SendResult> {
    const url = new URL(request.url);
    try {
      const answer = await sendRequest(
        { ...request, url, owner: `${request.mode} ${request.keyId}` },
        { dial, budget, connections },
      );
      const { status, location, retryAfter, date } = answer;
      // A response from localhost is not kept, because it may be any page of a developer's machine.
      const bodyText = isLocalhost(url) ? '' : answerText(await firstBytes(answer, readBytes));
      const result: SendResult = { status };
      if (status < 200 || status > 299) result.error = 'http';
      if (bodyText !== '') result.answer = bodyText;
      // Operators see these two headers. The receiver can write anything in them, so secrets are masked in both.
      if (location !== undefined) result.location = maskedAddress(location);
      if (retryAfter !== undefined) result.retryAfter = maskedAddress(retryAfter).slice(0, longestRetryAfter);
      // The receiver may have found the signature too old, so its clock is of interest.
      const receiverTime = mayRefuseSignature(status) ? Date.parse(date ?? '') : Number.NaN;
      if (!Number.isNaN(receiverTime)) result.receiverTime = receiverTime;
      return result;
    } catch (error) {
      return classify(error, dial);
    }
  }

  return async (request) => {
    const started = performance.now();
    const elapsed = () => Math.round(performance.now() - started);
    const fault = checkWebhookUrl(request.url, request.mode, rules);
    if (fault !== undefined) return { error: 'blocked_address', detail: fault, durationMs: elapsed() };
    const route = isLocalhost(new URL(request.url)) ? localRoute : publicRoute;
    // Reports how far this request came, so each request has its own.
    const dial = createDial(route, secureContext);
    const result = await send(request, dial);
    const address = dial.address();
    return { ...result, ...(address === undefined ? {} : { address }), durationMs: elapsed() };
  };
}
