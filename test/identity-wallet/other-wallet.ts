import { createHash, createPublicKey, type JsonWebKey, X509Certificate } from 'node:crypto';
import { setGlobalConfig } from '@openid4vc/oauth2';
import { Openid4vpClient, type ResolvedOpenid4vpAuthorizationRequest } from '@openid4vc/openid4vp';
import { CompactEncrypt, calculateJwkThumbprint, compactVerify, importJWK, type JWK } from 'jose';
import { z } from 'zod';
import type { Handover } from '../../server/identity-wallet/formats/transcript.ts';
import { issueMdoc, issueSdJwt } from '../../server/identity-wallet/test-wallet/attestations.ts';
import { issuer } from './attested.ts';
import { presentMdoc, presentSdJwt } from './library-holder.ts';

// The library replaces zod's error messages for the whole process. The service uses zod's own messages.
z.config({ customError: undefined });
// The service under test listens on http://localhost.
setGlobalConfig({ allowInsecureUrls: true });

const supported = {
  authorization_signing_alg_values_supported: [],
  authorization_encryption_alg_values_supported: ['ECDH-ES'],
  authorization_encryption_enc_values_supported: ['A256GCM', 'A128GCM'],
};
const claims = {
  family_name: 'Mustermann',
  nationalities: ['DE'],
  issuing_country: 'DE',
  age_equal_or_over: { '18': true, '21': true },
};
const elements = { family_name: 'Mustermann', nationality: 'DE', issuing_country: 'DE', age_over_18: true };

const client = new Openid4vpClient({
  callbacks: {
    hash: (data, algorithm) => new Uint8Array(createHash(algorithm.replace('-', '')).update(data).digest()),
    signJwt() {
      throw new Error('this wallet signs no answer');
    },
    decryptJwe() {
      throw new Error('this wallet decrypts no request');
    },
    async encryptJwe({ publicJwk, alg, enc, apu, apv }, data) {
      const bytes = (text = '') => Buffer.from(text, 'base64url');
      const jwe = await new CompactEncrypt(Buffer.from(data))
        .setProtectedHeader({ alg, enc, kid: publicJwk.kid ?? '' })
        .setKeyManagementParameters({ apu: bytes(apu), apv: bytes(apv) })
        .encrypt(await importJWK(publicJwk as JWK, alg));
      return { jwe, encryptionJwk: publicJwk };
    },
    async verifyJwt(signer, { compact }) {
      if (signer.method !== 'x5c') return { verified: false };
      const { publicKey } = new X509Certificate(Buffer.from(signer.x5c[0] ?? '', 'base64'));
      await compactVerify(compact, publicKey, { algorithms: ['ES256'] });
      const signerJwk = publicKey.export({ format: 'jwk' }) as JWK & { kty: string };
      return { verified: true, signerJwk: signerJwk as never };
    },
    getX509CertificateMetadata: (certificate) => {
      const { subjectAltName = '' } = new X509Certificate(Buffer.from(certificate, 'base64'));
      return {
        sanDnsNames: [...subjectAltName.matchAll(/DNS:([^,]+)/g)].map(([, name = '']) => name),
        sanUriNames: [],
      };
    },
  },
});

interface Credential {
  id: string;
  format: string;
  meta: { doctype_value?: string; vct_values?: string[] };
  claims?: { id?: string; path: (string | null)[] }[];
  claim_sets?: string[][];
}

/** Returns the claims of the first claim set of the request. This wallet has all of them. */
function pathsOf({ claims: all = [], claim_sets: [set] = [] }: Credential) {
  return set
    ? all.filter(({ id = '' }) => set.includes(id)).map(({ path }) => path)
    : all.map(({ path }) => path);
}

async function present(credential: Credential, handover: Handover): Promise<string> {
  const now = Date.now();
  const { signer, holderKey } = issuer;
  const day = 86_400_000;
  const validity = { signed: now - day, validFrom: now - day, validUntil: now + day };
  const paths = pathsOf(credential);
  if (credential.format === 'mso_mdoc') {
    const docType = credential.meta.doctype_value ?? '';
    const issuerSigned = issueMdoc({ docType, elements, signer, holderKey, ...validity });
    const names = paths.map(([, name]) => name ?? '');
    return presentMdoc({ issuerSigned, key: holderKey, docType, elements: names, handover });
  }
  const type = credential.meta.vct_values?.[0] ?? '';
  const issued = issueSdJwt({ type, claims, signer, holderKey, ...validity });
  return presentSdJwt({ credential: issued, claims, key: holderKey, paths, handover, now });
}

/** Returns the thumbprint (RFC 7638) of the key for the encrypted answer. */
async function thumbprintOf(jwk: object): Promise<Uint8Array> {
  const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }).export({ format: 'jwk' });
  return Buffer.from(await calculateJwkThumbprint(key as JWK), 'base64url');
}

interface Asked extends ResolvedOpenid4vpAuthorizationRequest {
  jwk: object | undefined;
}

function credentialsOf({ dcql }: Asked): Credential[] {
  if (!dcql) throw new Error('the request has no query');
  return (dcql.query as { credentials: Credential[] }).credentials;
}

async function resolve(payload: object, origin?: string): Promise<Asked> {
  const resolved = await client.resolveOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: payload as never,
    ...(origin === undefined ? {} : { origin }),
  });
  const metadata = resolved.authorizationRequestPayload.client_metadata as
    | { jwks?: { keys: object[] } }
    | undefined;
  return { ...resolved, jwk: metadata?.jwks?.keys[0] };
}

async function respond(asked: Asked, handover: Handover, origin?: string) {
  const [credential] = credentialsOf(asked);
  if (!credential) throw new Error('no credential is asked for');
  return client.createOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: asked.authorizationRequestPayload,
    authorizationResponsePayload: { vp_token: { [credential.id]: [await present(credential, handover)] } },
    ...(origin === undefined ? {} : { origin }),
    ...(asked.jwk
      ? { jarm: { encryption: { nonce: 'nonce-of-the-wallet' }, serverMetadata: supported } }
      : {}),
  });
}

/**
 * An identity wallet of other libraries: `@openid4vc/openid4vp` reads requests and makes answers, `@sd-jwt` and
 * `@owf/mdoc` make presentations. It has attestations from these tests' issuer.
 */
export const otherIdentityWallet = {
  /** Follows a link that opens a wallet. @returns the request, and the address for the browser */
  async open(link: string) {
    const parsed = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest: link });
    const asked = await resolve(parsed.params);
    const { nonce, response_uri: responseUri } = asked.authorizationRequestPayload as Record<string, string>;
    const thumbprint = asked.jwk ? await thumbprintOf(asked.jwk) : undefined;
    const handover = {
      kind: 'redirect' as const,
      clientId: asked.client.effective,
      nonce: nonce ?? '',
      responseUri: responseUri ?? '',
      thumbprint,
    };
    const answer = await respond(asked, handover);
    const { response } = await client.submitOpenid4vpAuthorizationResponse({
      authorizationRequestPayload: asked.authorizationRequestPayload as never,
      authorizationResponsePayload: answer.authorizationResponsePayload,
      ...(answer.jarm ? { jarm: { responseJwt: answer.jarm.responseJwt } } : {}),
    });
    const { redirect_uri: back } = (await response.json()) as { redirect_uri: string };
    return { asked, status: response.status, back };
  },

  /**
   * Answers a page's request by the Digital Credentials API at `origin`.
   * @returns the `data` of the credential
   */
  async pick({ data }: { data: object }, origin: string, proven = origin): Promise<object> {
    const asked = await resolve(data, origin);
    const { nonce } = asked.authorizationRequestPayload;
    const thumbprint = asked.jwk ? await thumbprintOf(asked.jwk) : undefined;
    const answer = await respond(asked, { kind: 'dc-api', nonce, thumbprint, origin: proven }, origin);
    return answer.jarm
      ? { response: answer.jarm.responseJwt }
      : { vp_token: answer.authorizationResponsePayload.vp_token };
  },
};
