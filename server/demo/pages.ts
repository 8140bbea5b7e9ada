import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { Account } from './account.ts';
import type { Received } from './receiver.ts';
import { problems, type ShopError } from './shop-error.ts';
import type { Verification } from './verification-client.ts';

/** The directory of the templates, which is next to this file in the sources and in the build. */
const views = fileURLToPath(new URL('./pages', import.meta.url));

export const assets = {
  'style.css': { type: 'text/css; charset=utf-8', content: readFileSync(`${views}/style.css`) },
  'live.js': { type: 'text/javascript; charset=utf-8', content: readFileSync(`${views}/live.js`) },
} as const;

/** Sources of the service that the test identity wallet answers (docs/testing.md). */
export const identityWallets = [
  { name: 'test-wallet-age', label: 'EU age verification' },
  { name: 'test-wallet-pid', label: 'EUDI Wallet' },
  { name: 'test-wallet-mdl', label: 'Driving licence' },
] as const;

/** The shop is like any partner's, so it has code of its own for amounts. */
const dollars = (cents: number) => `${(cents / 100).toFixed(2)} USD`;

/** Returns the claims of an access token, to show them. The signature is not checked, because nothing depends on the claims. */
function decodePayload(token: unknown): unknown {
  if (typeof token !== 'string') return undefined;
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}

/** The longest text that is shown whole, in characters. It is enough for ids and addresses. */
const mostShownCharacters = 96;

/** Shortens long texts, such as tokens, to their beginning. */
function shorten(value: unknown): unknown {
  if (typeof value === 'string' && value.length > mostShownCharacters) return `${value.slice(0, 60)}…`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shorten(part)]));
}

const json = (value: unknown) => JSON.stringify(shorten(value), null, 2);

/** Returns the result of a verification, which chooses the headline of its page. */
function verdictOf({
  redirectParameters,
  userinfoCall,
  tokenCall,
}: Verification): 'adult' | 'minor' | 'unknown' | 'refused' | 'failed' {
  // The user came back without a code.
  if (!redirectParameters?.['code']) return 'failed';
  // The service has refused the exchange of the code.
  if (tokenCall?.status !== 200) return 'refused';
  const claims = userinfoCall?.body?.['claims'] as Record<string, unknown> | undefined;
  if (claims?.['age_18_plus'] === true) return 'adult';
  return claims?.['age_18_plus'] === false ? 'minor' : 'unknown';
}

/** Makes the functions that render the pages of the shop. Templates escape all values by default. */
export function createPages(baseUrl: string) {
  const eta = new Eta({ views, cache: true });

  return {
    renderHome: () => eta.render('./home', { identityWallets, baseUrl }),

    renderResult(
      verification: Verification,
      { events, account }: { events: readonly Received[]; account: Account },
    ): string {
      // Before the redirect is handled, nothing has been charged.
      const { balanceBefore, balanceAfter = balanceBefore } = verification;
      return eta.render('./result', {
        verification,
        events,
        account,
        json,
        verdict: verdictOf(verification),
        claims: decodePayload(verification.tokenCall?.body?.['access_token']),
        balanceBefore: dollars(balanceBefore),
        balanceAfter: dollars(balanceAfter),
        balanceChange: dollars(balanceAfter - balanceBefore),
        eventCount: events.length,
      });
    },

    /** Renders an error page. `home` is an absolute URL, because the site may have been opened under another host name. */
    renderProblem: (error: ShopError, home: string) =>
      eta.render('./problem', { ...problems[error.code], error, home }),
  };
}
