import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../harness/time-limits.ts';
import { tokenForm } from '../../journey/pkce.ts';
import type { Code } from './codes.ts';
import { type Partner, redirectUri } from './partner.ts';

/** What one client got in the end, that retries until it has a final answer. */
export interface Outcome {
  code: Code;
  token?: string;
  /** A refusal that is final by the contract: 4xx. */
  refusal?: { status: number; description: string };
  /** Requests without an answer, or with a 5xx. */
  unanswered: number;
  /** What should not have been answered at all. */
  faults: string[];
}

interface Exchange {
  /** One for each server: a client that got no answer goes to the next. */
  publicUrls: readonly string[];
  partner: Partner;
  code: Code;
  /** Which server it asks first. */
  first?: number;
  /** A client that got no answer waits for this before it asks again. */
  mayRetry?: Promise<void>;
  /** Milliseconds before the first request. */
  delay?: number;
}

/** No answer within this is a fault of its own: a 503 is due within 5 s, on a machine that is not busy. */
const answerWithin = within(15_000);
const retryAfter = 30;
/** Of time spent asking: a wait for `mayRetry`, or a machine that stands still, does not count. */
const givesUpAfter = within(60_000);

const formOf = (partner: Partner, code: Code) =>
  new URLSearchParams(tokenForm({ ...partner, ...code, redirectUri }));

type Answer = { status: number; body: Record<string, string> } | 'broken' | 'silent';

async function ask(url: string, body: URLSearchParams): Promise<Answer> {
  try {
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(answerWithin) });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 'silent' : 'broken';
  }
}

/** Exchanges a code, again after each failure, until there is a token or a refusal that is final. */
export async function exchange(settings: Exchange): Promise<Outcome> {
  const { publicUrls, partner, code, first = 0, mayRetry, delay = 0 } = settings;
  const outcome: Outcome = { code, unanswered: 0, faults: [] };
  const body = formOf(partner, code);
  await sleep(delay);
  let left = givesUpAfter;
  for (let tries = first; left > 0; tries += 1) {
    const since = performance.now();
    const answer = await ask(`${publicUrls[tries % publicUrls.length]}/api/oauth/token`, body);
    if (typeof answer === 'object' && answer.status === 200) {
      return { ...outcome, token: answer.body['access_token'] ?? '' };
    }
    if (typeof answer === 'object' && answer.status < 500) {
      const description = answer.body['error_description'] ?? '';
      return { ...outcome, refusal: { status: answer.status, description } };
    }
    left -= Math.min(performance.now() - since, answerWithin) + retryAfter;
    outcome.unanswered += 1;
    if (answer === 'silent') outcome.faults.push(`no answer within ${answerWithin} ms`);
    if (typeof answer === 'object' && answer.status !== 503) {
      outcome.faults.push(`answered ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    await mayRetry;
    await sleep(retryAfter);
  }
  outcome.faults.push('neither a token nor a final refusal');
  return outcome;
}

/** Codes whose clients race on different servers; those of the others share one, so that each server writes some. */
const racing = 4;

/** Several clients for each code, spread over all servers, all at about the same time. */
export function exchangeAll(
  settings: Omit<Exchange, 'code' | 'delay' | 'first'>,
  codes: readonly Code[],
  { clients, spread }: { clients: number; spread: number },
): Promise<Outcome[]> {
  const exchanges = codes.flatMap((code, index) =>
    Array.from({ length: clients }, (_, client) => ({
      ...settings,
      code,
      first: Math.floor(index / 2) + (index < racing ? client : 0),
      delay: Math.random() * spread,
    })),
  );
  return Promise.all(exchanges.map(exchange));
}
