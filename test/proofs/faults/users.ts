import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../../server/platform/ids.ts';
import { within } from '../../harness/time-limits.ts';
import { createBrowser, passFlow } from '../../journey/browser.ts';
import { type Partner, redirectUri } from './partner.ts';

/** The result of a user who completes the pages, and repeats each request without an answer. */
export interface FlowResult {
  person: string;
  codeVerifier: string;
  code?: string;
  /** The number of requests without an answer, or with a 5xx. */
  unanswered: number;
  /** Answers that should not occur, or another end of the flow. */
  faults: string[];
}

interface Settings {
  publicUrl: string;
  /** The servers behind the public address, which get requests in turn. The default is the public address. */
  servers?: readonly string[];
  partner: Partner;
  /** The name of the sandbox person. */
  person: string;
  /** The time before the first request, in milliseconds. */
  delay: number;
}

const answerWithinMs = within(15_000);
const retryAfter = 30;
const givesUpAfter = within(60_000);

/** Returns a `fetch` that repeats a request until it gets a complete answer below 500. */
function fetchWithRetry(
  flowResult: FlowResult,
  { publicUrl, servers = [publicUrl] }: Pick<Settings, 'publicUrl' | 'servers'>,
): typeof fetch {
  let requests = 0;
  return async (input, init) => {
    for (const deadline = performance.now() + givesUpAfter; performance.now() < deadline; ) {
      const server = servers[requests % servers.length] ?? publicUrl;
      requests += 1;
      try {
        const response = await fetch(String(input).replace(publicUrl, server), {
          ...init,
          signal: AbortSignal.timeout(answerWithinMs),
        });
        const { status, headers } = response;
        const body = await response.text();
        if (status < 500) return new Response(body, { status, headers });
        if (status !== 503) flowResult.faults.push(`${input} answered ${status}: ${body}`);
      } catch (error) {
        if (error instanceof DOMException && error.name === 'TimeoutError') {
          flowResult.faults.push(`no answer within ${answerWithinMs} ms`);
        }
      }
      flowResult.unanswered += 1;
      await sleep(retryAfter);
    }
    throw new Error(`${input} was not answered within ${givesUpAfter} ms`);
  };
}

/** Completes the flow of one user, from the start to the redirect with the code. */
export async function completeFlow({
  publicUrl,
  servers,
  partner,
  person,
  delay,
}: Settings): Promise<FlowResult> {
  const codeVerifier = randomBytes(32).toString('base64url');
  const flowResult: FlowResult = { person, codeVerifier, unanswered: 0, faults: [] };
  const query = new URLSearchParams({
    client_id: partner.clientId,
    redirect_uri: redirectUri,
    state: randomBytes(16).toString('hex'),
    scope: 'age_18_plus',
    code_challenge: sha256(codeVerifier),
    code_challenge_method: 'S256',
  });
  await sleep(delay);
  try {
    const browser = createBrowser(
      publicUrl,
      fetchWithRetry(flowResult, { publicUrl, ...(servers && { servers }) }),
    );
    const { searchParams: end } = await passFlow(browser, `${publicUrl}/verify/start?${query}`, person);
    const code = end.get('code');
    if (code !== null) return { ...flowResult, code };
    flowResult.faults.push(`the flow of ${person} ended with ${end}`);
  } catch (error) {
    flowResult.faults.push(`the flow of ${person}: ${error instanceof Error ? error.message : error}`);
  }
  return flowResult;
}
