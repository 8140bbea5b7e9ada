import { createPublicKey } from 'node:crypto';
import { CompactSign, calculateJwkThumbprint, type JWK } from 'jose';
import type { ClaimName } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { IdentityWalletSettings } from '../../../contracts/identity-wallet-sources.ts';
import type { RelyingPartyAccess } from '../access.ts';
import { es256 } from '../formats/cbor.ts';
import type { Handover } from '../formats/transcript.ts';
import { createAnnexC } from './annex-c.ts';
import type { AskedSession, DigitalRequest } from './digital-request.ts';
import type { Handle, Handles } from './handles.ts';
import { attests, issuerAlgorithmsOf, queryFor, toDcql } from './query.ts';

interface Dependencies {
  settings: IdentityWalletSettings;
  /** Undefined if the profile does not identify relying parties. Then requests are not signed, and answers not encrypted. */
  access: (() => RelyingPartyAccess) | undefined;
  handles: Handles;
  /** Returns the key identifiers of the authorities that are trusted in a mode. */
  authorities: (mode: Mode) => readonly string[];
  /** Root of all links, without a trailing slash. */
  baseUrl: string;
}

/** How an answer arrives: posted by the identity wallet, or by the page that used the Digital Credentials API. */
export type Channel = 'response-uri' | 'digital-credentials' | 'annex-c';

/** Media type of a signed request (RFC 9101 10.6). */
export const requestObjectType = 'application/oauth-authz-req+jwt';

/** The audience of a request to identity wallets whose issuer identifier is not known (OpenID4VP 1.0, 5.8). */
const anyIdentityWallet = 'https://self-issued.me/v2';

/** The algorithms that holders may sign with, by format. */
const formats = {
  mso_mdoc: { deviceauth_alg_values: [es256] },
  'dc+sd-jwt': { 'sd-jwt_alg_values': ['ES256'], 'kb-jwt_alg_values': ['ES256'] },
};

/** Makes the requests of one source (OpenID4VP 1.0, section 5). */
export function createRequests({ settings, access, handles, authorities, baseUrl }: Dependencies) {
  const { name, scheme } = settings;
  const { origin } = new URL(baseUrl);
  const supported = {
    ...formats,
    mso_mdoc: { ...formats.mso_mdoc, issuerauth_alg_values: issuerAlgorithmsOf(settings) },
  };
  const annexC = createAnnexC({ settings, access, handles, origin });
  const responseUriOf = (handle: Handle) => `${baseUrl}/verify/wallet/${name}/${handles.tokenOf(handle)}`;

  /** Returns the public key for which the answer to a request must be encrypted. */
  async function encryptionKey(handle: Handle): Promise<JWK & { kid: string }> {
    const jwk = createPublicKey(handles.decryptionKeyOf(handle)).export({ format: 'jwk' }) as JWK;
    return { ...jwk, use: 'enc', alg: 'ECDH-ES', kid: await calculateJwkThumbprint(jwk) };
  }

  /** Returns a link to an identity wallet. Spaces become `%20`. `URLSearchParams` would write `+`, which is only for forms. */
  function link(parameters: Record<string, string>): string {
    const fields = Object.entries(parameters).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
    return `${scheme}://?${fields.join('&')}`;
  }

  const clientIdOf = (handle: Handle) => access?.().clientId ?? `redirect_uri:${responseUriOf(handle)}`;

  const queryParameters = (handle: Handle, { mode, claims }: AskedSession) => ({
    response_type: 'vp_token',
    nonce: handles.nonceOf(handle),
    dcql_query: toDcql(queryFor(settings, claims), authorities(mode)),
  });
  const postedParameters = (handle: Handle, session: AskedSession) => ({
    ...queryParameters(handle, session),
    client_id: clientIdOf(handle),
    response_uri: responseUriOf(handle),
  });
  /** Metadata of a request without a key for the answer. */
  const metadata = {
    vp_formats_supported: Object.fromEntries(settings.formats.map((format) => [format, supported[format]])),
  };
  const encryptionMetadata = async (handle: Handle) => ({
    ...metadata,
    jwks: { keys: [await encryptionKey(handle)] },
    encrypted_response_enc_values_supported: ['A128GCM', 'A256GCM'],
  });

  function sign({ key, certificates }: RelyingPartyAccess, payload: object): Promise<string> {
    const x5c = certificates.map(({ x509 }) => x509.raw.toString('base64'));
    return new CompactSign(Buffer.from(JSON.stringify(payload)))
      .setProtectedHeader({ alg: 'ES256', typ: 'oauth-authz-req+jwt', x5c })
      .sign(key);
  }

  /** Returns the OpenID4VP request for the Digital Credentials API. It has no `response_uri`: the browser returns the answer. */
  async function openIdRequest(handle: Handle, session: AskedSession): Promise<DigitalRequest> {
    if (!access) {
      // An unsigned request has no client id. The identity wallet learns the origin of the page from the browser (A.2).
      const data = {
        ...queryParameters(handle, session),
        response_mode: 'dc_api',
        client_metadata: metadata,
      };
      return { protocol: 'openid4vp-v1-unsigned', data };
    }
    const request = await sign(access(), {
      ...queryParameters(handle, session),
      client_id: clientIdOf(handle),
      expected_origins: [origin],
      response_mode: 'dc_api.jwt',
      aud: anyIdentityWallet,
      client_metadata: await encryptionMetadata(handle),
    });
    return { protocol: 'openid4vp-v1-signed', data: { request } };
  }

  return {
    openAnnexC: annexC.open,

    /** Returns those of the claims that the credential attests. */
    answers: (claims: readonly ClaimName[]) => claims.filter((claim) => attests(settings, claim)),

    /** Returns the link that opens the identity wallet. It contains the whole request, or the address of the signed request. */
    linkOf(handle: Handle, session: AskedSession): string {
      if (access) {
        return link({
          client_id: clientIdOf(handle),
          request_uri: `${responseUriOf(handle)}/request`,
          // With `post`, identity wallets can send a nonce and their metadata (5.1).
          request_uri_method: 'post',
          client_metadata: JSON.stringify(metadata),
        });
      }
      const { dcql_query: query, ...parameters } = postedParameters(handle, session);
      return link({
        ...parameters,
        response_mode: 'direct_post',
        dcql_query: JSON.stringify(query),
        client_metadata: JSON.stringify(metadata),
      });
    },

    /** Returns the signed request (RFC 9101; HAIP 5.1). Undefined if the source does not sign requests. */
    async signed(handle: Handle, session: AskedSession, walletNonce?: string) {
      if (!access) return undefined;
      return sign(access(), {
        ...postedParameters(handle, session),
        response_mode: 'direct_post.jwt',
        aud: anyIdentityWallet,
        client_metadata: await encryptionMetadata(handle),
        wallet_nonce: walletNonce,
      });
    },

    /** Returns the requests for the Digital Credentials API, one for each protocol, the preferred one first. */
    async digital(handle: Handle, session: AskedSession): Promise<DigitalRequest[]> {
      const openId = await openIdRequest(handle, session);
      const deviceRequest = annexC.request(handle, session);
      if (!deviceRequest) return [openId];
      // A PID is presented by OpenID4VP (HAIP). The other credentials are ISO documents, with a protocol of their own.
      return settings.profile === 'eudi-pid' ? [openId, deviceRequest] : [deviceRequest, openId];
    },

    /** Returns what the holder must have signed in an answer to this request that arrives by `channel`. */
    async handoverOf(handle: Handle, channel: Channel): Promise<Handover> {
      if (channel === 'annex-c') return annexC.handoverOf(handle);
      const nonce = handles.nonceOf(handle);
      const key = access && (await encryptionKey(handle));
      // The id of the key is its thumbprint.
      const thumbprint = key && Buffer.from(key.kid, 'base64url');
      if (channel === 'digital-credentials') return { kind: 'dc-api', origin, nonce, thumbprint };
      const clientId = clientIdOf(handle);
      return { kind: 'redirect', clientId, nonce, responseUri: responseUriOf(handle), thumbprint };
    },
  };
}
