import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';
import { z } from 'zod';
import { parseJson } from '../formats/json.ts';

const path = z.array(z.union([z.string(), z.null()]));
const Query = z.object({
  credentials: z.array(
    z.object({
      id: z.string(),
      format: z.enum(['mso_mdoc', 'dc+sd-jwt']),
      meta: z.object({ doctype_value: z.string().optional(), vct_values: z.array(z.string()).optional() }),
      claims: z.array(z.object({ id: z.string().optional(), path })).optional(),
      claim_sets: z.array(z.array(z.string())).optional(),
    }),
  ),
});

const Request = z.object({
  response_type: z.literal('vp_token'),
  response_mode: z.enum(['direct_post', 'direct_post.jwt']),
  client_id: z.string(),
  response_uri: z.string(),
  nonce: z.string(),
  wallet_nonce: z.string().optional(),
  dcql_query: Query,
  client_metadata: z
    .object({
      jwks: z.object({ keys: z.array(z.looseObject({ kid: z.string(), alg: z.string() })) }).optional(),
    })
    .optional(),
});

export type Asked = z.infer<typeof Request>;
export type AskedCredential = Asked['dcql_query']['credentials'][number];

/** Fetches a signed request, by POST if there is a nonce. @throws Error if this service has not signed the request */
export type FetchRequest = (uri: string, nonce: string | undefined) => Promise<string>;

/** Returns the parameters of a link to an identity wallet. The test identity wallet ignores the scheme. */
function parametersOf(link: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(link.slice(link.indexOf('?') + 1)));
}

/** Verifies a signed request as an identity wallet does: the client id must be the hash of the signer's certificate. */
async function readSigned(jwt: string, clientId: string): Promise<unknown> {
  const { x5c = [], typ } = decodeProtectedHeader(jwt);
  const chain = x5c.map((der) => new X509Certificate(Buffer.from(der, 'base64')));
  const [certificate] = chain;
  const isSelfSigned = (link: X509Certificate) => link.verify(link.publicKey);
  // An authority must have certified the signer, and its own certificate must not be sent (HAIP 1.0, 5).
  if (!certificate || chain.some(isSelfSigned))
    throw new Error('the request is signed by no certificate of an authority');
  const hash = createHash('sha256').update(certificate.raw).digest('base64url');
  if (clientId.startsWith('x509_hash:') && clientId !== `x509_hash:${hash}`)
    throw new Error('the request is not signed by the key that its client id names');
  if (typ !== 'oauth-authz-req+jwt') throw new Error('the request is of another type');
  const { payload } = await compactVerify(jwt, certificate.publicKey, { algorithms: ['ES256'] });
  return parseJson(Buffer.from(payload).toString());
}

/** Reads the request that a link leads to. @throws Error if the test identity wallet does not understand the request */
export async function readLink(link: string, fetchRequest: FetchRequest): Promise<Asked> {
  const { request_uri: uri, request_uri_method: method, ...parameters } = parametersOf(link);
  const { client_id: clientId = '' } = parameters;
  if (uri !== undefined) {
    const nonce = method === 'post' ? randomBytes(16).toString('base64url') : undefined;
    const asked = Request.parse(await readSigned(await fetchRequest(uri, nonce), clientId));
    if (asked.wallet_nonce !== nonce) throw new Error('the request is not for this wallet: another nonce');
    if (asked.client_id !== clientId) throw new Error('the request names another client id than its link');
    return asked;
  }
  return Request.parse({
    ...parameters,
    dcql_query: parseJson(parameters['dcql_query'] ?? ''),
    ...(parameters['client_metadata'] ? { client_metadata: parseJson(parameters['client_metadata']) } : {}),
  });
}

/** Returns the key to encrypt the answer with. Undefined if the answer is not to be encrypted. */
export async function encryptionKeyOf({ response_mode: mode, client_metadata: metadata }: Asked) {
  if (mode !== 'direct_post.jwt') return undefined;
  const jwk = metadata?.jwks?.keys[0];
  if (!jwk) throw new Error('the request has no key for its answer');
  const thumbprint = Buffer.from(await calculateJwkThumbprint(jwk as JWK), 'base64url');
  return { kid: jwk.kid, key: await importJWK(jwk as JWK, 'ECDH-ES'), thumbprint };
}

/** Returns the first set of claims that `has` completely. Without sets, returns all claims. */
export function pathsToShow(
  { claims = [], claim_sets: sets }: AskedCredential,
  has: (path: readonly (string | null)[]) => boolean,
): readonly (readonly (string | null)[])[] | undefined {
  const claimsIn = (ids: readonly string[]) => claims.filter(({ id = '' }) => ids.includes(id));
  const options = sets?.map(claimsIn) ?? [claims];
  return options.map((option) => option.map((claim) => claim.path)).find((paths) => paths.every(has));
}
