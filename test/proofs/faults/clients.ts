import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../harness/time-limits.ts';
import { tokenForm } from '../../journey/pkce.ts';
import type { Code } from './codes.ts';
import { type Partner, redirectUri } from './partner.ts';

/** The outcome of one client, which retries until it gets a final answer. */
export interface Outcome {
  code: Code;
  token?: string;
  /** A final refusal: a 4xx of the contract. */
  refusal?: { status: number; description: string };
  /** The number of requests without an answer, or with a 5xx. */
  unanswered: number;
  /** Answers that should not occur. */
  faults: string[];
}

interface Exchange {
  /** One URL for each server. A client without an answer asks the next one. */
  publicUrls: readonly string[];
  partner: Partner;
  code: Code;
  /** The index of the server that the client asks first. */
  first?: number;
  /** Called before a client without an answer repeats its request. */
  mayRetry?: Promise<void>;
  /** The time before the first request, in milliseconds. */
  delay?: number;
}

/** The time limit for an answer. It is longer than the 5 s of the contract, because the machine may be busy. */
const answerWithinMs = within(15_000);
const retryAfterMs = 30;
/** The time after which a client gives up. Only requests count, not a wait for `mayRetry` or a stopped machine. */
const givesUpAfterMs = within(60_000);

const formOf = (partner: Partner, code: Code) =>
  new URLSearchParams(tokenForm({ ...partner, ...code, redirectUri }));

type Answer = { status: number; body: Record<string, string> } | 'broken' | 'silent';

async function ask(url: string, body: URLSearchParams): Promise<Answer> {
  try {
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(answerWithinMs) });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 'silent' : 'broken';
  }
}

/** Exchanges a code, and repeats after each failure until there is a token or a final refusal. */
export async function exchange(settings: Exchange): Promise<Outcome> {
  const { publicUrls, partner, code, first = 0, mayRetry, delay = 0 } = settings;
  const outcome: Outcome = { code, unanswered: 0, faults: [] };
  const body = formOf(partner, code);
  await sleep(delay);
  let left = givesUpAfterMs;
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
    left -= Math.min(performance.now() - since, answerWithinMs) + retryAfterMs;
    outcome.unanswered += 1;
    if (answer === 'silent') outcome.faults.push(`no answer within ${answerWithinMs} ms`);
    if (typeof answer === 'object' && answer.status !== 503) {
      outcome.faults.push(`answered ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    await mayRetry;
    await sleep(retryAfterMs);
  }
  outcome.faults.push('neither a token nor a final refusal');
  return outcome;
}

/**
 * The number of codes whose clients start at different servers. The clients of any other code start at one server, so that
 * each server writes some charges.
 */
const codesAtSeveralServers = 4;

/** Exchanges each code by several clients almost simultaneously. The clients are spread over all servers. */
export function exchangeAll(
  settings: Omit<Exchange, 'code' | 'delay' | 'first'>,
  codes: readonly Code[],
  { clients, spread }: { clients: number; spread: number },
): Promise<Outcome[]> {
  const exchanges = codes.flatMap((code, index) =>
    Array.from({ length: clients }, (_, client) => ({
      ...settings,
      code,
      first: Math.floor(index / 2) + (index < codesAtSeveralServers ? client : 0),
      delay: Math.random() * spread,
    })),
  );
  return Promise.all(exchanges.map(exchange));
}
