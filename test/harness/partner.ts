import type { TRPCClient } from '@trpc/client';
import type { Mode } from '../../contracts/identifiers.ts';
import type { AdminRouter } from '../../server/operations/admin-router.ts';
import { createBrowser, passFlow } from '../journey/browser.ts';
import { tokenForm as formOf, newStart, startUrl } from '../journey/pkce.ts';
import { type QuickResponse, quickFetch } from './quick-fetch.ts';

export const redirectUri = 'http://localhost:9999/callback';
const everyClaim = ['age_18_plus', 'identity_verified', 'country'] as const;

/** The fields of a server that these functions use. */
export interface Server {
  admin: TRPCClient<AdminRouter>;
  baseUrl: string;
}
type CreateClient = Parameters<Server['admin']['clients']['create']['mutate']>[0];

interface Wanted {
  name?: string;
  mode?: Mode;
  /** Cents in the wallet of the mode; at least 5000, or 0 for none. */
  funds?: number;
  client?: Partial<CreateClient>;
}

/** Creates an active partner with a key, a client and money in its wallet, by the calls of `svcadmin`. */
export async function createPartner(
  { admin }: Pick<Server, 'admin'>,
  { name = 'Acme Cinema', mode = 'test', funds = 10_000, client = {} }: Wanted = {},
) {
  const { id: partnerId } = await admin.partners.create.mutate({ name });
  const funded = admin.partners.activate.mutate({ partnerId }).then(async () => {
    if (funds > 0) await admin.wallets.fund.mutate({ partnerId, mode, amount: funds, reference: 'opening' });
  });
  const key = await admin.keys.create.mutate({ partnerId, mode });
  const made = await admin.clients.create.mutate({
    partnerId,
    keyId: key.id,
    name: 'Box office',
    redirectUris: [redirectUri],
    claims: [...everyClaim],
    kind: 'oauth',
    ...client,
  });
  await funded;
  return {
    partnerId,
    keyId: key.id,
    apiKey: key.apiKey,
    clientId: made.id,
    clientSecret: made.clientSecret,
    redirectUri: made.redirectUris[0] ?? redirectUri,
  };
}
export type TestPartner = Awaited<ReturnType<typeof createPartner>>;

/** Partners that tests of a server share, by the server's admin API and the wanted fields. */
const shared = new WeakMap<Server['admin'], Map<string, Promise<TestPartner>>>();

/**
 * Returns a partner that other tests of the server use too. The first call with these fields creates it. A test that changes
 * the partner, or counts what it has, creates its own.
 */
export function sharedPartner({ admin }: Pick<Server, 'admin'>, wanted: Wanted = {}): Promise<TestPartner> {
  const partners = shared.get(admin) ?? new Map<string, Promise<TestPartner>>();
  shared.set(admin, partners);
  const key = JSON.stringify(wanted);
  const partner = partners.get(key) ?? createPartner({ admin }, wanted);
  partners.set(key, partner);
  // The next test tries again.
  partner.catch(() => partners.delete(key));
  return partner;
}

/** Verifies a sandbox user, from `/verify/start` to the partner's redirect. @returns the redirect and its code */
export async function verifyUser(
  { baseUrl }: Pick<Server, 'baseUrl'>,
  partner: TestPartner,
  person = 'adult',
  scope = 'age_18_plus identity_verified',
) {
  const { codeVerifier, codeChallenge, state } = newStart();
  const start = startUrl({ baseUrl, clientId: partner.clientId, redirectUri, scope, state, codeChallenge });
  const end = await passFlow(createBrowser(baseUrl, quickFetch), start, person);
  return { end, code: end.searchParams.get('code') ?? '', codeVerifier, state };
}
export type Verified = Awaited<ReturnType<typeof verifyUser>>;

export type Code = Pick<Verified, 'code' | 'codeVerifier'>;
type Payer = Pick<TestPartner, 'clientId' | 'clientSecret' | 'redirectUri'>;

/** Returns the form by which a partner exchanges a code. */
export const tokenForm = (partner: Payer, code: Code) => formOf({ ...partner, ...code });

/** Exchanges a code, as a partner's server does. */
export const exchangeCode = ({ baseUrl }: Pick<Server, 'baseUrl'>, partner: Payer, code: Code) =>
  post(`${baseUrl}/api/oauth/token`, tokenForm(partner, code));

/** Posts fields as a form, or as JSON with `as` = `json`. */
export function post(
  url: string,
  fields: Record<string, unknown>,
  as: 'form' | 'json' = 'form',
): Promise<QuickResponse> {
  return as === 'form'
    ? quickFetch(url, { method: 'POST', body: new URLSearchParams(fields as Record<string, string>) })
    : quickFetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fields),
      });
}
