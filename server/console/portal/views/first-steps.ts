import { isAllowed } from '../calls/scope.ts';
import type { PageContext, Section } from './kit/page.ts';
import { link, linkIfAny, text, toned } from './kit/text.ts';

/** One record is enough to know that a step is done. */
const one = { limit: 1 } as const;

/** The variables that an integration needs. An API key is shown only when it is made, so it is left empty. */
export const envOf = (
  { baseUrl }: Pick<PageContext['about'], 'baseUrl'>,
  client: { id: string; redirectUris: readonly string[]; clientSecret?: string } | undefined,
): string =>
  [
    `SVC_BASE_URL=${baseUrl}`,
    `SVC_CLIENT_ID=${client?.id ?? ''}`,
    `SVC_CLIENT_SECRET=${client?.clientSecret ?? ''}`,
    'SVC_API_KEY=',
    `SVC_REDIRECT_URI=${client?.redirectUris[0] ?? ''}`,
  ].join('\n');

/**
 * The steps from a new account to the first claim, with the variables that an integration needs. Secrets are shown only when they
 * are made, so they are left empty.
 */
export async function firstSteps(context: PageContext): Promise<Section | undefined> {
  const { api, m, role, partnerId, about } = context;
  // Only roles that make keys and clients take these steps.
  if (!isAllowed(role, 'clients.create')) return undefined;
  const [keys, [client], { rows }] = await Promise.all([
    api.keys.list({ partnerId, status: 'active' }),
    api.clients.list({ partnerId, status: 'active', ...one }),
    api.sessions.list({ partnerId, status: 'complete', ...one }),
  ]);
  const endpoint = keys.find(({ webhookUrl }) => webhookUrl !== null);
  const [session] = rows;
  return {
    title: m.firstSteps,
    facts: [
      [m.key, linkIfAny(keys[0]?.id, '/keys')],
      [m.client, linkIfAny(client?.id, '/clients')],
      [m.webhooks, endpoint ? link(endpoint.id, `/webhooks/${endpoint.id}`) : text(null)],
      [m.firstClaim, session ? link(session.id, `/sessions/${session.id}`) : toned('–', 'bad')],
    ],
    raw: envOf(about, client),
  };
}
