import { createBrowser, passFlow } from '../journey/browser.ts';
import { newStart, startUrl } from '../journey/pkce.ts';
import { createPartner, exchangeCode, type Server, type TestPartner } from './partner.ts';

type Changes = Record<string, string | undefined>;

/** Creates a partner whose client speaks OpenID Connect. */
export const createOpenidPartner = (
  server: Pick<Server, 'admin'>,
  client: NonNullable<Parameters<typeof createPartner>[1]>['client'] = {},
) => createPartner(server, { client: { openid: true, tokenRequestsPerMinute: 100_000, ...client } });

/** Returns the address of a start with the scope `openid`. A change of undefined leaves a parameter out. */
export function openidStart({ baseUrl }: Pick<Server, 'baseUrl'>, by: TestPartner, changes: Changes = {}) {
  const { codeVerifier, codeChallenge, state } = newStart();
  const { clientId, redirectUri } = by;
  const scope = 'openid age_18_plus country';
  const url = new URL(startUrl({ baseUrl, clientId, redirectUri, scope, state, codeChallenge }));
  const parameters: Changes = { response_type: 'code', ...changes };
  for (const [name, value] of Object.entries(parameters))
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  return { url: url.href, codeVerifier, state };
}

/** Verifies a user from a start with the scope `openid` to the exchange. @returns the body of the token response */
export async function openidTokens(
  server: Pick<Server, 'baseUrl'>,
  by: TestPartner,
  { person = 'adult', ...changes }: Changes = {},
) {
  const { url, codeVerifier } = openidStart(server, by, changes);
  const end = await passFlow(createBrowser(server.baseUrl), url, person);
  const code = end.searchParams.get('code') ?? '';
  const answer = await exchangeCode(server, by, { code, codeVerifier });
  const body = (await answer.json()) as Record<'access_token' | 'scope' | 'id_token', string>;
  return { status: answer.status, body, sessionId: end.searchParams.get('session_id') ?? '' };
}
