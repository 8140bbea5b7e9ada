import { setTimeout as sleep } from 'node:timers/promises';
import type { Code } from './codes.ts';
import { type Partner, redirectUri } from './partner.ts';

/** How it ended for one client that would not give up. */
export interface Outcome {
  code: Code;
  token?: string;
  /** A refusal that is final by the contract: 4xx. */
  refusal?: string;
  /** Requests whose fate the client was not told: no answer, or a 5xx. */
  unanswered: number;
  /** What should not have been answered at all. */
  faults: string[];
}

interface Wish {
  publicUrl: string;
  partner: Partner;
  code: Code;
  /** A client that was not answered waits for this before it asks again. */
  mayRetry?: Promise<void>;
  /** Milliseconds before the first request. */
  delay?: number;
}

/** No answer within this is a fault of its own: a 503 is due within 5 s, on a machine that is not busy. */
const patience = 15_000;
const retryAfter = 30;
const givesUpAfter = 60_000;

const formOf = ({ clientId, clientSecret }: Partner, { code, codeVerifier }: Code) =>
  new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  });

type Answer = { status: number; body: Record<string, string> } | 'broken' | 'silent';

async function ask(url: string, body: URLSearchParams): Promise<Answer> {
  try {
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(patience) });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 'silent' : 'broken';
  }
}

/** Exchanges a code, through whatever happens, until there is a token or a refusal that is final. */
export async function buy({ publicUrl, partner, code, mayRetry, delay = 0 }: Wish): Promise<Outcome> {
  const outcome: Outcome = { code, unanswered: 0, faults: [] };
  const body = formOf(partner, code);
  await sleep(delay);
  for (const deadline = performance.now() + givesUpAfter; performance.now() < deadline; ) {
    const answer = await ask(`${publicUrl}/api/oauth/token`, body);
    if (typeof answer === 'object' && answer.status === 200) {
      return { ...outcome, token: answer.body['access_token'] ?? '' };
    }
    if (typeof answer === 'object' && answer.status < 500) {
      return { ...outcome, refusal: `${answer.status} ${answer.body['error_description']}` };
    }
    outcome.unanswered += 1;
    if (answer === 'silent') outcome.faults.push(`no answer within ${patience} ms`);
    if (typeof answer === 'object' && answer.status !== 503) {
      outcome.faults.push(`answered ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    await mayRetry;
    await sleep(retryAfter);
  }
  outcome.faults.push('neither a token nor a final refusal');
  return outcome;
}

/** Several clients for each code, all at about the same time. */
export function buyAll(
  wish: Omit<Wish, 'code' | 'delay'>,
  codes: readonly Code[],
  { clients, spread }: { clients: number; spread: number },
): Promise<Outcome[]> {
  const wishes = codes.flatMap((code) =>
    Array.from({ length: clients }, () => ({ ...wish, code, delay: Math.random() * spread })),
  );
  return Promise.all(wishes.map(buy));
}
