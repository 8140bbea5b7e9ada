import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import type { OidcSettings } from '../../contracts/oidc-sources.ts';
import { createIdentityWallets, type FetchStatusList } from '../identity-wallet/port.ts';
import type { Imprint } from '../platform/config/imprint.ts';
import type { Publish, Sweep } from '../platform/database/event-draft.ts';
import type { PartnerNames } from '../platform/database/partner-names.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createChallenges } from '../platform/webauthn/challenges.ts';
import { createRelyingParty } from '../platform/webauthn/relying-party.ts';
import { createVerificationProcedures } from './admin.ts';
import { createSessionAccess } from './browser/session-access.ts';
import { createAuthentication } from './flow/authenticate.ts';
import { createCompletion } from './flow/complete.ts';
import { createFlow } from './flow/flow.ts';
import { createGrants, type Grants } from './flow/grants.ts';
import { type ClientDirectory, createStart } from './flow/start.ts';
import { createVerify } from './flow/verify.ts';
import { createPairing } from './handoff/pairing.ts';
import { createConsentPreview } from './pages/consent-preview.ts';
import { createPages } from './pages/pages.ts';
import { type Ceremony, type CeremonyOutcome, createPasskeys } from './passkeys/passkeys.ts';
import { createSessionPasskeys } from './passkeys/session-passkeys.ts';
import { createBlocking } from './people/blocking.ts';
import { createSnapshots } from './people/claims-snapshot.ts';
import { createEnrolling } from './people/enroll.ts';
import type { EnrollmentStore } from './people/enrollment-store.ts';
import { createErasure, type Erased, type Traces } from './people/erasure.ts';
import { createEnrolledUsers } from './people/find-enrolled.ts';
import { createForgetting } from './people/forgetting.ts';
import { createHasFreshClaims } from './people/fresh-claims.ts';
import { createFreshness, type Lifetimes, longestLifetime } from './people/freshness.ts';
import { createKeepUser } from './people/keep-user.ts';
import { createSnapshotInvalidation } from './people/snapshot-invalidation.ts';
import { createEndingOfAccesses } from './people/withdrawal.ts';
import { pageRoutes } from './routes.ts';
import type { MethodOutcome } from './session/methods.ts';
import { createOutbox } from './session/outbox.ts';
import { type KeyDirectory, sessionQueryRoutes } from './session/session-query.ts';
import type { CodeOfSession } from './session/session-store.ts';
import { createAuthorizationRequests } from './sources/authorization-request.ts';
import { createIdentityWalletAnswers } from './sources/identity-wallet/answers.ts';
import { createIdentityWalletSource } from './sources/identity-wallet/source.ts';
import { createOidcSource } from './sources/oidc.ts';
import { createSourceOverview } from './sources/overview.ts';
import { createSandbox } from './sources/sandbox.ts';
import { createAskedOf, createOfferedTo, createSourceOf } from './sources/session-source.ts';
import type { VerificationStores } from './store.ts';
import type { Charge } from './views.ts';
import { createYourDataFeature } from './your-data/feature.ts';

type YourDataSettings = Parameters<typeof createYourDataFeature>[0];

interface Dependencies {
  stores: VerificationStores;
  /** `trusted`: whether the clock may judge the validity of attestations. */
  clock: { now(): number; trusted?(): boolean };
  keyring: Pick<Keyring, 'code' | 'id' | 'pairwise'>;
  directory: ClientDirectory & KeyDirectory;
  partnerNames: PartnerNames;
  publish: Publish;
  logger: Logger;
  /** Root of all links and `iss`, without a trailing slash. */
  baseUrl: string;
  /** Counts one request against `max` a minute; `retryAfter` in seconds. */
  limit: (name: string, id: string, max: number) => Promise<{ allowed: boolean; retryAfter: number }>;
  /** Sessions that one address may start with one client in a minute; undefined for no limit. */
  startsPerMinute?: number | undefined;
  /** Whether the code with this SHA-256 has been exchanged. */
  isCodeUsed: (code: CodeOfSession) => Promise<boolean>;
  /** The charge that the exchange of a code made. */
  chargeOf: (code: CodeOfSession) => Promise<Charge | undefined>;
  /** Returns the hashes of the codes that were exchanged. */
  chargedCodes: (codes: readonly CodeOfSession[]) => Promise<Set<string>>;
  /** Whether some integration exchanges the codes of a storefront client. */
  hasIntegration?: (clientId: string) => Promise<boolean>;
  /** OpenID providers that authenticate users, besides the sandbox. */
  oidcSources?: readonly OidcSettings[];
  /** European identity wallets that authenticate users. */
  identityWalletSources?: readonly IdentityWalletSettings[];
  /** Gets the status list of an attestation, from public addresses only. */
  fetchStatusList?: FetchStatusList;
  /** The lifetime of each claim. */
  claimLifetimes?: Lifetimes;
  /** The relying party id of users' passkeys, which is a host name. Undefined if passkeys are off. */
  passkeyRpId?: string | undefined;
  /** Called when a ceremony of a passkey has ended. */
  onPasskey?: (ceremony: Ceremony, outcome: CeremonyOutcome) => void;
  /** Logos of partners, by their id. */
  findLogo?: (id: string) => Promise<Buffer | undefined>;
  /** The keyed hash of a shop's customer id. */
  customerHash: (customer: { clientId: string; shop: string; customerId: string }) => string;
  /** Called when a method of a session has ended, with its outcome. */
  onMethod?: (source: string, outcome: MethodOutcome) => void;
  /** The operator of this installation. */
  imprint?: Imprint;
  /** Ends the accesses to a user's claims that were charged up to a given time. Idempotent. */
  endAccesses: Parameters<typeof createEndingOfAccesses>[0]['endAccesses'];
  /** The charges for a user's claims that the ledger still holds, in any order. */
  sharedOf: YourDataSettings['sharedOf'];
  /** Adds entries to the audit log. Idempotent. */
  record: YourDataSettings['record'];
  /** Deletes a user's data that other features keep. */
  eraseElsewhere: (traces: Traces) => Promise<Pick<Erased, 'accesses' | 'events'>>;
}

export interface Verification {
  /** To be mounted at `/verify`, in a scope with cookies and form bodies. */
  routes: FastifyPluginAsyncZod;
  /** To be mounted at `/api/verify`. */
  sessionQueryRoutes: FastifyPluginAsyncZod;
  /** Renders the consent page of a client with the given settings. */
  previewConsent: ReturnType<typeof createConsentPreview>;
  /** Sessions and claims of authorization codes, for their exchange. */
  grants: Grants;
  rememberCustomer: EnrollmentStore['rememberCustomer'];
  /** Finds an enrolled user with the claims that are still fresh. */
  enrolled: ReturnType<typeof createEnrolledUsers>;
  /** Finishes changes of sessions and enrollments, and deletes what has expired. */
  sweep: Sweep;
  /** Finishes erasures. */
  erasureSweep: Sweep;
  procedures: ReturnType<typeof createVerificationProcedures>;
  /** Certificates that sources depend on. */
  certificates: ReturnType<typeof createSourceOverview>['certificates'];
}

/** The hosted flow, the session query, and the grants of codes (interface 3.1, 4.1, 4.5). */
export function createVerification(dependencies: Dependencies): Verification {
  const { stores, clock, keyring, directory, publish, logger, baseUrl } = dependencies;
  const { sessions, users, enrollments } = stores;
  const { limit, isCodeUsed, chargeOf, chargedCodes, hasIntegration = async () => true } = dependencies;
  const { oidcSources = [], startsPerMinute, imprint = {}, claimLifetimes } = dependencies;
  const claimLifetime = longestLifetime(claimLifetimes);
  const providers = oidcSources.map((settings) => createOidcSource(settings, { baseUrl, clock, logger }));
  const { verifiers, testIdentityWallet } = createIdentityWallets({
    settings: dependencies.identityWalletSources ?? [],
    baseUrl,
    key: keyring.id,
    clock,
    logger,
    fetchStatusList:
      dependencies.fetchStatusList ?? (() => Promise.reject(new Error('fetching is not configured'))),
  });
  const verifierOf = new Map(verifiers.map((verifier) => [verifier.name, verifier]));
  const identityWallets = verifiers.map((verifier) =>
    createIdentityWalletSource(verifier, { logger, testIdentityWallet: `${baseUrl}/verify/test-wallet` }),
  );
  const sources = new Map(
    [createSandbox(), ...providers, ...identityWallets].map((source) => [source.name, source]),
  );
  const overview = createSourceOverview({ sources, verifiers: verifierOf, sessions, clock });
  const forgetOldClaims = createForgetting({ users, claimLifetime, clock });
  const isFresh = createFreshness(claimLifetimes);
  const hasFreshClaims = createHasFreshClaims({ isFresh, clock });
  const findSnapshot = createSnapshots({ users, enrollments });
  const invalidate = createSnapshotInvalidation({
    ...{ sessions, users, enrollments, clock, logger },
    endAccesses: createEndingOfAccesses({ enrollments, sessions, endAccesses: dependencies.endAccesses }),
  });
  const block = createBlocking({ enrollments, invalidate, clock });
  const { eraseElsewhere, passkeyRpId, onPasskey = () => undefined } = dependencies;
  const { origin, hostname } = new URL(baseUrl);
  const passkeys = createPasskeys({
    store: stores.passkeys,
    users,
    keepUser: createKeepUser({ users, enrollments, claimLifetime, clock }),
    key: keyring.id,
    challenges: createChallenges(keyring.id, clock),
    relyingParty: createRelyingParty({ id: passkeyRpId ?? hostname, name: 'SVC Identity', origin }),
    onCeremony: onPasskey,
    clock,
  });
  const erasure = createErasure({
    ...{ users, enrollments, sessions, invalidate, eraseElsewhere, clock },
    removePasskeys: passkeys.removeAll,
  });
  const sessionAccess = createSessionAccess({ sessions, keyring });
  const enrolling = createEnrolling({ users, enrollments, sessions, findSnapshot, keyring, clock });
  const outbox = createOutbox({ sessions, enrolling, publish, clock, logger });
  const authentication = createAuthentication({
    sessions,
    enrolling,
    outbox,
    hasFreshClaims,
    onMethod: dependencies.onMethod ?? (() => undefined),
    clock,
  });
  const flow = createFlow({
    sessionAccess,
    authentication,
    authorizationRequests: createAuthorizationRequests(keyring.id),
    sourceOf: createSourceOf(sources),
    hasSite: (name) => sources.get(name)?.finish !== undefined,
    offeredTo: createOfferedTo(sources),
    askedOf: createAskedOf(sources),
    enrolling,
    passkeys: createSessionPasskeys({
      isOn: passkeyRpId !== undefined,
      ...{ passkeys, directory, enrolling, findSnapshot, hasFreshClaims },
    }),
    verify: createVerify({
      findSnapshot,
      enroll: enrolling.enroll,
      users,
      invalidate,
      block,
      hasFreshClaims,
      clock,
    }),
    completion: createCompletion({
      directory,
      keyring,
      findSnapshot,
      isCodeUsed,
      issuer: baseUrl,
      clock,
    }),
    outbox,
    keyring,
    clock,
  });

  const pages = createPages({ directory, baseUrl, clock, imprint, claimLifetime });

  return {
    routes: pageRoutes({
      start: createStart({ sessions, directory, hasIntegration, sources, limit, startsPerMinute, clock }),
      flow,
      identityWallets: createIdentityWalletAnswers({
        verifiers: verifierOf,
        sessions,
        requestLocks: stores.requestLocks,
        sessionAccess,
        authentication,
        clock,
        logger,
      }),
      testIdentityWallet: { ...testIdentityWallet, baseUrl, limit },
      pairing: createPairing({ sessions, authentication, keyring, clock }),
      pages,
      yourData: createYourDataFeature({
        ...{ stores, passkeys, directory, invalidate, erasure, imprint, limit, clock },
        isOn: passkeyRpId !== undefined,
        sharedOf: dependencies.sharedOf,
        record: dependencies.record,
        plain: pages.plain,
      }),
      findLogo: dependencies.findLogo ?? (async () => undefined),
      findSession: sessions.find,
      ownsSession: sessionAccess.owns,
      baseUrl,
    }),
    previewConsent: createConsentPreview({ baseUrl, imprint, claimLifetime }),
    sessionQueryRoutes: sessionQueryRoutes({ sessions, directory, limit, clock }),
    grants: createGrants({ sessions, findSnapshot }),
    rememberCustomer: enrollments.rememberCustomer,
    enrolled: createEnrolledUsers({ enrollments, users, isFresh, clock }),
    sweep: {
      name: 'verification events',
      async sweep() {
        await invalidate.sweep();
        await forgetOldClaims();
        await sessions.forgetCodeSnapshots(new Date(clock.now()));
        await outbox.sweep();
      },
    },
    erasureSweep: erasure.sweep,
    certificates: overview.certificates,
    procedures: createVerificationProcedures({
      sources: overview,
      sessions,
      enrollments,
      block,
      users,
      passkeys,
      erasure,
      isFresh,
      customerHash: dependencies.customerHash,
      chargeOf,
      chargedCodes,
      partnerNames: dependencies.partnerNames,
      clock,
    }),
  };
}
