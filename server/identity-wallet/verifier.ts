import type { Claims } from '../../contracts/claims.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { IdentityWalletSettings, TrustAnchors } from '../../contracts/identity-wallet-sources.ts';
import { hmac } from '../platform/ids.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { RelyingPartyAccess } from './access.ts';
import type { AskedSession } from './protocol/digital-request.ts';
import { createHandles, type Handle, type RequestKeys } from './protocol/handles.ts';
import type { PresentationCheck } from './protocol/presentation.ts';
import { type Channel, createRequests } from './protocol/request.ts';
import {
  type IdentityWalletAnswer,
  type IdentityWalletResponse,
  type RawPresentation,
  readResponse,
} from './protocol/response.ts';
import type { Certificate } from './trust/certificates.ts';
import { createTrust, keyIdentifiersOf } from './trust/trust.ts';

export interface VerifierDependencies {
  baseUrl: string;
  /** Key from which subjects and the keys of the test issuer are derived. It never rotates. */
  key: Uint8Array;
  /** Keys that rotate, from which requests are derived. */
  requestKeys: RequestKeys;
  clock: { now(): number };
  logger: Pick<Logger, 'error' | 'info' | 'warn'>;
  check: PresentationCheck;
  /** Returns the additional anchors of sessions in test mode, for attestations of the test identity wallet. */
  testAnchors: () => readonly Certificate[];
}

/** Whom a verifier trusts, and how it identifies itself. */
interface VerifierIdentity {
  trustAnchors?: TrustAnchors;
  /** Returns its access. A function, because the one of the built-in sources is made when it is first used. */
  access?: (() => RelyingPartyAccess) | undefined;
}

/** The result of a valid presentation. `subject` is undefined if the attestation has no number for the person. */
export interface Proof {
  claims: Claims;
  subject: string | undefined;
}

/**
 * Makes the OpenID4VP verifier of one source from its configuration. It requests credentials from identity wallets, and checks
 * presentations.
 * @param identity `trustAnchors` is absent for the built-in sources, which trust only the test issuer; `access` is absent for a
 *   profile that does not identify relying parties
 */
export function createVerifier(
  settings: IdentityWalletSettings,
  { trustAnchors, access }: VerifierIdentity,
  dependencies: VerifierDependencies,
) {
  const { name, label, modes } = settings;
  const { baseUrl, key, requestKeys, clock, logger, check, testAnchors } = dependencies;
  const trust = createTrust({
    given: trustAnchors,
    docType: settings.docType,
    source: name,
    logger,
    clock,
  });
  const handles = createHandles(requestKeys);

  const anchorsFor = (mode: Mode) => [...trust.anchors(), ...(mode === 'test' ? testAnchors() : [])];
  const authorities = (mode: Mode) => keyIdentifiersOf(anchorsFor(mode));
  const requests = createRequests({ settings, access, handles, authorities, baseUrl });

  return {
    name,
    label,
    modes,
    /** Whether the verifier asks for a personal number, by which it recognises the user. */
    asksNumber: settings.stableIdentifier,
    answers: requests.answers,
    tokenMatches: handles.isTokenOf,
    signedRequest: requests.signed,

    /** Returns the link that opens the identity wallet, and the requests for the Digital Credentials API. */
    async request(begun: Omit<Handle, 'keyId'>, session: AskedSession) {
      const handle = handles.begin(begun);
      const digital = await requests.digital(handle, session);
      return {
        url: requests.linkOf(handle, session),
        digital: { token: handles.tokenOf(handle), requests: digital },
      };
    },

    /** Reads an answer. @throws ApiError `invalid_request` if it is not an answer to this request */
    async read(handle: Handle, answer: IdentityWalletAnswer): Promise<IdentityWalletResponse> {
      if (answer.channel === 'annex-c') {
        const deviceResponse = await requests.openAnnexC(handle, String(answer.body));
        return { kind: 'presented', presented: deviceResponse };
      }
      // A source without an access certificate does not ask for an encrypted answer.
      const decryptionKey = access && handles.decryptionKeyOf(handle);
      return readResponse(answer, decryptionKey);
    },

    /** @throws PresentationRefused */
    async verifyPresentation(
      handle: Handle,
      { mode, claims }: AskedSession,
      { channel, presented }: { channel: Channel; presented: RawPresentation },
    ): Promise<Proof> {
      const { claims: proven, person } = await check(presented, {
        settings,
        claims,
        handover: await requests.handoverOf(handle, channel),
        anchors: anchorsFor(mode),
        now: clock.now(),
      });
      // The subject is a keyed hash, so that the number itself is never stored.
      const subject = person && hmac(key, JSON.stringify(['wallet', person.issuer, person.identifier]));
      return { claims: proven, subject };
    },

    certificates: () => [
      ...trust.anchors().map((certificate) => ({ use: 'trust anchor' as const, certificate })),
      ...(access?.().certificates ?? []).map((certificate) => ({ use: 'access' as const, certificate })),
    ],
    /** Returns why the verifier cannot work; undefined if it can. Built-in sources have no trust anchors with a fault. */
    fault: (now: number) => (trustAnchors === undefined ? undefined : trust.fault(now)),
  };
}
export type Verifier = ReturnType<typeof createVerifier>;
