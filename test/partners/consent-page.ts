import type { TestPartner } from '../harness/partner.ts';
import type { TestServer } from '../harness/server.ts';
import { newStart, startUrl } from '../journey/pkce.ts';

/** Starts a session at a partner's client, and returns its first page. */
export async function consentPageOf(
  { baseUrl }: Pick<TestServer, 'baseUrl'>,
  { clientId, redirectUri }: Pick<TestPartner, 'clientId' | 'redirectUri'>,
): Promise<string> {
  const { codeChallenge, state } = newStart();
  const scope = 'age_18_plus';
  const start = await fetch(startUrl({ baseUrl, clientId, redirectUri, scope, state, codeChallenge }), {
    redirect: 'manual',
  });
  const cookie = start.headers.getSetCookie().map((each) => each.split(';')[0]);
  const page = await fetch(start.headers.get('location') ?? '', {
    headers: { cookie: cookie.join('; '), accept: 'text/html' },
  });
  return page.text();
}
