import { TokenResponse, UserinfoResponse } from '../../contracts/oauth.ts';
import { SessionResponse } from '../../contracts/verification.ts';
import type { Account } from './account.ts';
import { type Browser, passFlow } from './browser.ts';
import { newStart, startUrl, tokenForm } from './pkce.ts';
import { expectThat } from './report.ts';
import { passWalletFlow } from './wallet.ts';

/** The data of a partner's server when the user returns to its callback. */
export interface Visit {
  code: string;
  codeVerifier: string;
  sessionId: string;
}

interface Walk {
  baseUrl: string;
  account: Account;
  browser: Browser;
  /** A source for users of the test identity wallet; by default the sandbox. */
  source: string | undefined;
}

const scope = 'age_18_plus identity_verified';

/** Acts as the user, from the partner's link to the callback, as the sandbox user `adult` or with the test identity wallet. */
export async function walkHostedPages({ baseUrl, account, browser, source }: Walk): Promise<Visit> {
  const { clientId, redirectUri } = account;
  const { codeVerifier, codeChallenge, state } = newStart();
  const start = startUrl({ baseUrl, clientId, redirectUri, scope, state, codeChallenge });
  const end = source ? await passWalletFlow(browser, start) : await passFlow(browser, start, 'adult');

  expectThat(end.href.startsWith(redirectUri), `the browser ended at ${end.href}`);
  expectThat(end.searchParams.get('state') === state, 'the state came back changed');
  expectThat(end.searchParams.get('iss') === baseUrl, 'the redirect does not name the issuer');
  const code = end.searchParams.get('code');
  if (!code) throw new Error(`no code came back: ${end.search}`);
  const [sessionId = ''] = /ses_[0-9A-Za-z]+/.exec([...browser.cookies.keys()].join(' ')) ?? [];
  return { code, codeVerifier, sessionId };
}

/** Acts as the partner's server (interface 4.2). */
export async function exchange({
  baseUrl,
  account,
  verified,
}: {
  baseUrl: string;
  account: Account;
  verified: Visit;
}): Promise<TokenResponse> {
  const response = await fetch(`${baseUrl}/api/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(tokenForm({ ...account, ...verified })),
  });
  const body: unknown = await response.json();
  expectThat(
    response.status === 200,
    `the token endpoint answers ${response.status} ${JSON.stringify(body)}`,
  );
  return TokenResponse.parse(body);
}

/** Interface 4.3. `body` is checked for a success. */
export async function readUserinfo(
  baseUrl: string,
  token: string,
): Promise<{ status: number; body: UserinfoResponse }> {
  const response = await fetch(`${baseUrl}/api/oauth/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const body = (await response.json()) as UserinfoResponse;
  return { status: response.status, body: response.ok ? UserinfoResponse.parse(body) : body };
}

/** Interface 4.4. */
export async function revoke({
  baseUrl,
  account,
  token,
}: {
  baseUrl: string;
  account: Account;
  token: string;
}): Promise<void> {
  const { clientId, clientSecret } = account;
  const body = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret });
  const response = await fetch(`${baseUrl}/api/oauth/revoke`, { method: 'POST', body });
  expectThat(response.status === 200, `revoke answers ${response.status}`);
  expectThat((await response.text()) === '', 'revoke answers with a body');
}

/** Interface 4.5. */
export async function querySession({
  baseUrl,
  account,
  sessionId,
}: {
  baseUrl: string;
  account: Account;
  sessionId: string;
}) {
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const response = await fetch(`${baseUrl}/api/verify/hvf-session/${sessionId}`, { headers });
  return SessionResponse.parse(await response.json()).session;
}
