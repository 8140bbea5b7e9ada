import { claimsIn } from '../kit/forms.ts';
import type { Given, PageContext, Question } from '../kit/page.ts';
import { text, time } from '../kit/text.ts';

export const clientReference = ({ params }: PageContext) => ({ clientId: params['client'] ?? '' });

/** The client, if it is live: name, id, last use of a secret, and the key. */
export async function liveClient(context: PageContext) {
  const { api, m } = context;
  const client = await api.clients.show(clientReference(context));
  const [secret] = client.secrets;
  const facts: Question['facts'] = [
    [m.client, text(`${client.name} · ${client.id}`)],
    [m.secret, text(secret?.last4 && `…${secret.last4}`)],
    [m.lastUsed, time(secret?.lastUsedAt)],
    [m.key, text(client.keyId)],
  ];
  return client.mode === 'live' ? { client, facts } : undefined;
}

/** Asks before users of a live client cannot start, or cannot return to an address. */
export const askToEnd =
  (text: 'endsClient' | 'endsUri') =>
  async (context: PageContext, { uri }: Given): Promise<Question | undefined> => {
    const { m } = context;
    const live = await liveClient(context);
    if (!live) return undefined;
    const ofUri = uri ? [[m.redirectUri, { text: uri }] as const] : [];
    return { text: m[text], facts: [...live.facts, ...ofUri] };
  };

/** Asks before a live client loses a claim, or moves to another key. */
export const askToChange = async (context: PageContext, given: Given): Promise<Question | undefined> => {
  const { m } = context;
  const live = await liveClient(context);
  if (!live) return undefined;
  const claims = claimsIn(given);
  const { client, facts } = live;
  const isSmaller = client.claims.some((claim) => !claims.includes(claim));
  if (!isSmaller && given['keyId'] === client.keyId) return undefined;
  return { text: m.changesClient, facts: [...facts, [m.claims, text(claims.join(' '))]] };
};

/** Asks before a live client gets no ID tokens any more, or tokens that are signed in another way. */
export const askToEndOpenid = async (
  context: PageContext,
  { openid, idTokenAlg }: Given,
): Promise<Question | undefined> => {
  const { m } = context;
  const { client, facts } = (await liveClient(context)) ?? {};
  if (!client?.openid) return undefined;
  if (openid === 'on' && idTokenAlg === client.idTokenAlg) return undefined;
  return {
    text: m.changesClient,
    facts: [...(facts ?? []), ['OpenID Connect', text(`${openid} · ${idTokenAlg}`)]],
  };
};
