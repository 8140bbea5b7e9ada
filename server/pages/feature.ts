import type { IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import type { OidcSettings } from '../../contracts/oidc-sources.ts';
import { createIdentityWallets, type FetchStatusList } from '../identity-wallet/port.ts';
import { createVerificationProcedures } from '../people/admin.ts';
import type { SessionDependencies } from '../people/admin-sessions.ts';
import type { UserDependencies } from '../people/admin-users.ts';
import { createSnapshots } from '../people/enrollments/claims-snapshot.ts';
import { createEnrolling } from '../people/enrollments/enroll.ts';
import { createEnrolledUsers } from '../people/enrollments/find-enrolled.ts';
import {
  createFreshness,
  createHasFreshClaims,
  type Lifetimes,
  longestLifetime,
} from '../people/enrollments/freshness.ts';
import { createGrants } from '../people/enrollments/grants.ts';
import { createOutbox } from '../people/enrollments/outbox.ts';
import { createSnapshotInvalidation } from '../people/enrollments/snapshot-invalidation.ts';
import { createErasure, type ErasureDependencies } from '../people/erasure/erasure.ts';
import { createHolds, type HoldDependencies } from '../people/erasure/holds.ts';
import {
  createEndingOfAccesses,
  createWithdrawal,
  type EndingDependencies,
} from '../people/erasure/withdrawal.ts';
import { type Ceremony, type CeremonyOutcome, createPasskeys } from '../people/passkeys/passkeys.ts';
import type { VerificationStores } from '../people/store.ts';
import { createBlocking } from '../people/users/blocking.ts';
import { createForgetting } from '../people/users/forgetting.ts';
import { createKeepUser } from '../people/users/keep-user.ts';
import type { Imprint } from '../platform/config/imprint.ts';
import type { Publish, Sweep } from '../platform/database/event-draft.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createChallenges } from '../platform/webauthn/challenges.ts';
import { createRelyingParty } from '../platform/webauthn/relying-party.ts';
import { createSessionAccess } from '../sessions/session-access.ts';
import { expiredSnapshotRead } from '../sessions/session-store.ts';
import { createAuthorizationRequests } from '../sessions/sources/authorization-request.ts';
import { createIdentityWalletSource } from '../sessions/sources/identity-wallet/source.ts';
import { createOidcSource } from '../sessions/sources/oidc.ts';
import { createSourceOverview } from '../sessions/sources/overview.ts';
import { createSandbox } from '../sessions/sources/sandbox.ts';
import { createSessionSources } from '../sessions/sources/session-source.ts';
import { type AuthenticationDependencies, createAuthentication } from './flow/authenticate.ts';
import { createCompletion } from './flow/complete.ts';
import { createFlow } from './flow/flow.ts';
import { createSessionPasskeys } from './flow/session-passkeys.ts';
import { createStart, type StartDependencies } from './flow/start.ts';
import { createVerify } from './flow/verify.ts';
import { createPairing } from './hand-off/pairing.ts';
import { createIdentityWalletAnswers } from './identity-wallet/answers.ts';
import { pageRoutes } from './routes.ts';
import { createPages } from './views/pages.ts';
import { createYourDataPages } from './your-data/pages.ts';
import { createUserSignIn } from './your-data/sign-in.ts';
import { createYourData, type YourDataDependencies } from './your-data/your-data.ts';

interface Dependencies
  extends Pick<SessionDependencies, 'chargeOf' | 'chargedCodes' | 'partnerNames'>,
    Pick<UserDependencies, 'customerHash'>,
    Pick<StartDependencies, 'directory' | 'limit' | 'startsPerMinute' | 'hasIntegration'>,
    Pick<YourDataDependencies, 'sharedOf' | 'record'>,
    Pick<ErasureDependencies, 'eraseElsewhere'>,
    Pick<AuthenticationDependencies, 'onMethod'>,
    Pick<EndingDependencies, 'endAccesses'>,
    Pick<HoldDependencies, 'moveEvents'> {
  stores: VerificationStores;
  /** `trusted`: whether the clock may judge the validity of attestations. */
  clock: { now(): number; trusted?(): boolean };
  keyring: Pick<Keyring, 'code' | 'id' | 'pairwise'>;
  publish: Publish;
  logger: Logger;
  /** Root of all links and `iss`, without a trailing slash. */
  baseUrl: string;
  /** OpenID providers that authenticate users, besides the sandbox. */
  oidcSources: readonly OidcSettings[];
  identityWalletSources: readonly IdentityWalletSettings[];
  /** Gets the status list of an attestation, from public addresses only. */
  fetchStatusList: FetchStatusList;
  claimLifetimes: Lifetimes;
  /** The relying party id of users' passkeys, which is a host name. Undefined if passkeys are off. */
  passkeyRpId: string | undefined;
  onPasskey: (ceremony: Ceremony, outcome: CeremonyOutcome) => void;
  findLogo: (id: string) => Promise<Buffer | undefined>;
  /** The operator of this installation. */
  imprint: Imprint;
}

/** The hosted flow, the session query, and the grants of codes (interface 3.1, 4.1, 4.5). */
export function createVerification(dependencies: Dependencies) {
  const { stores, clock, keyring, logger, baseUrl, imprint, claimLifetimes, passkeyRpId } = dependencies;
  const { sessions, users, enrollments } = stores;
  const claimLifetime = longestLifetime(claimLifetimes);
  /** Most parts of this feature depend on some of these. */
  const base = { ...dependencies, sessions, users, enrollments, claimLifetime, issuer: baseUrl };
  const { origin, hostname } = new URL(baseUrl);

  const { verifiers, testIdentityWallet } = createIdentityWallets({
    ...dependencies,
    settings: dependencies.identityWalletSources,
    key: keyring.id,
    requestKeys: keyring.code,
  });
  const verifierOf = new Map(verifiers.map((verifier) => [verifier.name, verifier]));
  const allSources = [
    createSandbox(),
    ...dependencies.oidcSources.map((settings) => createOidcSource(settings, { baseUrl, clock, logger })),
    ...verifiers.map((verifier) =>
      createIdentityWalletSource(verifier, { logger, testIdentityWallet: `${baseUrl}/verify/test-wallet` }),
    ),
  ];
  const sources = new Map(allSources.map((source) => [source.name, source]));
  const overview = createSourceOverview({ ...base, sources, verifiers: verifierOf });

  const forgetting = createForgetting(base);
  const isFresh = createFreshness(claimLifetimes);
  const hasFreshClaims = createHasFreshClaims(isFresh, clock);
  const findSnapshot = createSnapshots(base);
  const endAccesses = createEndingOfAccesses(base);
  const invalidate = createSnapshotInvalidation({ ...base, endAccesses });
  const block = createBlocking({ ...base, invalidate });
  const enrolling = createEnrolling({ ...base, findSnapshot });

  const passkeysOn = passkeyRpId !== undefined;
  const passkeys = createPasskeys({
    store: stores.passkeys,
    users,
    keepUser: createKeepUser(base),
    key: keyring.id,
    challenges: createChallenges(keyring.id, clock),
    relyingParty: createRelyingParty({ id: passkeyRpId ?? hostname, name: 'SVC Identity', origin }),
    onCeremony: dependencies.onPasskey,
    clock,
  });
  const erasure = createErasure({ ...base, invalidate, removePasskeys: passkeys.removeAll });
  const holds = createHolds({ ...base, passkeys: stores.passkeys });

  const sessionAccess = createSessionAccess(base);
  const outbox = createOutbox({ ...base, enrolling });
  const authentication = createAuthentication({ ...base, enrolling, outbox, hasFreshClaims });
  const flow = createFlow({
    ...base,
    ...createSessionSources(sources),
    sessionAccess,
    authentication,
    authorizationRequests: createAuthorizationRequests(keyring.id),
    enrolling,
    passkeys: createSessionPasskeys({
      ...base,
      passkeysOn,
      passkeys,
      enrolling,
      findSnapshot,
      hasFreshClaims,
    }),
    verify: createVerify({ ...base, findSnapshot, enrolling, invalidate, block, hasFreshClaims }),
    completion: createCompletion({ ...base, findSnapshot }),
    outbox,
  });

  const pages = createPages(base);
  const withdraw = createWithdrawal({ ...base, invalidate });

  return {
    /** To be mounted at `/verify`, in a scope with cookies and form bodies. */
    routes: pageRoutes({
      ...base,
      starts: createStart({ ...base, sources }),
      flow,
      identityWallets: createIdentityWalletAnswers({
        ...base,
        verifiers: verifierOf,
        sessionAccess,
        authentication,
      }),
      testIdentityWallet,
      pairing: createPairing({ ...base, authentication }),
      pages,
      sessionAccess,
      passkeysOn,
      signIn: createUserSignIn({ ...base, passkeys, store: stores.passkeys }),
      yourData: createYourData({ ...base, passkeys, withdraw, erasure }),
      yourDataPages: createYourDataPages(pages.plain, imprint),
    }),
    previewConsent: pages.previewConsent,
    /** Sessions and claims of authorization codes, for their exchange. */
    grants: createGrants({ ...base, findSnapshot }),
    rememberCustomer: enrollments.rememberCustomer,
    enrolled: createEnrolledUsers({ ...base, isFresh }),
    /** Finishes changes of sessions and enrollments, and deletes what has expired. */
    sweep: {
      name: 'verification events',
      look: () => ({
        reads: [
          ...invalidate.reads(),
          holds.read(),
          forgetting.read(),
          expiredSnapshotRead(new Date(clock.now())),
          ...outbox.reads(),
        ],
      }),
      async sweep() {
        await invalidate.sweep();
        await holds.sweep();
        await forgetting.sweep();
        await sessions.forgetCodeSnapshots(new Date(clock.now()));
        await outbox.sweep();
      },
    } satisfies Sweep,
    erasureSweep: erasure.sweep,
    certificates: overview.certificates,
    procedures: createVerificationProcedures({
      ...base,
      sources: overview,
      block,
      passkeys,
      erasure,
      holds,
      isFresh,
    }),
  };
}
export type Verification = ReturnType<typeof createVerification>;
