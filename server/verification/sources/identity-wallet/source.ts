import type { Claims } from '../../../../contracts/claims.ts';
import type { Mode } from '../../../../contracts/identifiers.ts';
import type { IdentityWalletSettings, TrustAnchors } from '../../../../contracts/identity-wallet-sources.ts';
import { accessOf } from '../../../identity-wallet/access.ts';
import type { Certificate } from '../../../identity-wallet/certificates.ts';
import type { AskedSession } from '../../../identity-wallet/digital-request.ts';
import { createHandles, type Handle } from '../../../identity-wallet/handles.ts';
import type { PresentationCheck } from '../../../identity-wallet/presentation.ts';
import { type Channel, createRequests } from '../../../identity-wallet/request.ts';
import {
  type IdentityWalletAnswer,
  type IdentityWalletResponse,
  type Presented,
  readResponse,
} from '../../../identity-wallet/response.ts';
import { createTrust, keyIdentifiersOf } from '../../../identity-wallet/trust.ts';
import { hmac } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/telemetry/logging.ts';
import { type Authenticated, type VerificationSource, verifyCarried } from '../source.ts';
import { pendingIn } from './pending.ts';

export interface Dependencies {
  baseUrl: string;
  /** Key from which requests and subjects are derived. */
  key: Uint8Array;
  clock: { now(): number };
  logger: Pick<Logger, 'error' | 'info' | 'warn'>;
  check: PresentationCheck;
  /** Trusted besides, for sessions in test mode: issues what the test wallet holds. */
  testAnchors: () => readonly Certificate[];
  /** Address of the test wallet. */
  testWallet: string;
}

/** What a presentation proves: the claims, and the user where the attestation has a number for them. */
export interface Proof {
  claims: Claims;
  subject: string | undefined;
}

/** An identity wallet source, with its endpoints for identity wallets. */
export interface IdentityWalletSource extends VerificationSource {
  profile: IdentityWalletSettings['profile'];
  tokenMatches(handle: Handle, token: string): boolean;
  /** Undefined where requests of this source are not fetched. */
  signedRequest(handle: Handle, session: AskedSession, walletNonce?: string): Promise<string | undefined>;
  /** @throws ApiError `invalid_request` for what is no answer to this request */
  read(handle: Handle, answer: IdentityWalletAnswer): Promise<IdentityWalletResponse>;
  /** @throws PresentationRefused */
  verifyPresentation(
    handle: Handle,
    session: AskedSession,
    answer: { channel: Channel; presented: Presented },
  ): Promise<Proof>;
  /** Certificates that the source depends on. */
  certificates(): { use: 'trust anchor' | 'access'; certificate: Certificate }[];
  /** Why it cannot work; undefined where it can. */
  fault(now: number): string | undefined;
}

/** European identity wallets as a verification source, by configuration alone. */
export function createIdentityWalletSource(
  settings: IdentityWalletSettings,
  dependencies: Dependencies,
  own: { trustAnchors: TrustAnchors | undefined } = settings,
): IdentityWalletSource {
  const { name, label, modes, profile } = settings;
  const { baseUrl, key, clock, logger, check, testAnchors, testWallet } = dependencies;
  const trust = createTrust({
    given: own.trustAnchors,
    docType: settings.docType,
    source: name,
    logger,
    clock,
  });
  const access = settings.access && accessOf(settings.access, baseUrl);
  const handles = createHandles(key);

  const anchorsFor = (mode: Mode) => [...trust.anchors(), ...(mode === 'test' ? testAnchors() : [])];
  const authorities = (mode: Mode) => keyIdentifiersOf(anchorsFor(mode));
  const requests = createRequests({ settings, access, handles, authorities, baseUrl });

  const fault = (now: number) => (own.trustAnchors === undefined ? undefined : trust.fault(now));

  return {
    name,
    modes,
    method: { kind: 'wallet', label },
    answers: requests.answers,
    asksNumber: settings.stableIdentifier,
    isDown: (now) => fault(now) !== undefined,
    profile,

    async begin({ id, mode, carried, claims, language }, { device, binding }) {
      if (!requests.suits(claims)) {
        logger.warn({ source: name, claims }, 'the credential of this source supports none of these claims');
        return { kind: 'down' };
      }
      const { number, notice } = pendingIn(carried);
      const handle = { source: name, sessionId: id, device, binding, number };
      const url = requests.linkOf(handle, { mode, claims });
      const query = new URLSearchParams({ request: url, ...(language ? { ui_locales: language } : {}) });
      const test = mode === 'test' ? `${testWallet}?${query}` : undefined;
      const digital = {
        token: handles.tokenOf(handle),
        requests: await requests.digital(handle, { mode, claims }),
      };
      return { kind: 'wallet', label, profile, url, digital, notice, testWallet: test };
    },

    verify: verifyCarried,

    tokenMatches: handles.isTokenOf,
    signedRequest: requests.signed,

    async read(handle, answer) {
      if (answer.channel !== 'annex-c')
        return readResponse(answer, access && handles.decryptionKeyOf(handle));
      return { kind: 'presented', presented: await requests.openAnnexC(handle, String(answer.body)) };
    },

    async verifyPresentation(handle, { mode, claims }, { channel, presented }) {
      const { claims: proven, person } = await check(presented, {
        settings,
        claims,
        handover: await requests.handoverOf(handle, channel),
        anchors: anchorsFor(mode),
        now: clock.now(),
      });
      // Derived here, so that the number itself is never stored.
      const subject = person && hmac(key, JSON.stringify(['wallet', person.issuer, person.identifier]));
      return { claims: proven, subject };
    },

    certificates: () => [
      ...trust.anchors().map((certificate) => ({ use: 'trust anchor' as const, certificate })),
      ...(access?.certificates ?? []).map((certificate) => ({ use: 'access' as const, certificate })),
    ],
    fault,
  };
}

/** The user that a proof is about: without a number of their own, a new one each time. */
export function authenticatedBy(
  { claims, subject }: Pick<Proof, 'claims'> & Partial<Proof>,
  presentation: string,
): Authenticated {
  return subject === undefined
    ? { kind: 'authenticated', subject: presentation, carry: { claims }, oneTime: true }
    : { kind: 'authenticated', subject, carry: { claims } };
}
