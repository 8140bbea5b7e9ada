import type { IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import type { OidcSettings } from '../../contracts/oidc-sources.ts';
import { createIdentityWallets, type FetchStatusList } from '../identity-wallet/port.ts';
import { createVerificationProcedures } from '../people/admin.ts';
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
import { createErasure } from '../people/erasure/erasure.ts';
import { createHolds } from '../people/erasure/holds.ts';
import { createEndingOfAccesses, createWithdrawal } from '../people/erasure/withdrawal.ts';
import { type Ceremony, type CeremonyOutcome, createPasskeys } from '../people/passkeys/passkeys.ts';
import type { VerificationStores } from '../people/store.ts';
import { createBlocking } from '../people/users/blocking.ts';
import { createForgetting } from '../people/users/forgetting.ts';
import type { Sweep } from '../platform/database/event-draft.ts';
import { createRelyingParty } from '../platform/webauthn/relying-party.ts';
import { createSessionAccess } from '../sessions/session-access.ts';
import { expiredSnapshotRead } from '../sessions/session-store.ts';
import { createAuthorizationRequests } from '../sessions/sources/authorization-request.ts';
import { createIdentityWalletSource } from '../sessions/sources/identity-wallet/source.ts';
import { createOidcSource } from '../sessions/sources/oidc.ts';
import { createSourceOverview } from '../sessions/sources/overview.ts';
import { createSandbox } from '../sessions/sources/sandbox.ts';
import { createSessionSources } from '../sessions/sources/session-source.ts';
import type { PagesContext } from './context.ts';
import { createAuthentication } from './flow/authenticate.ts';
import { createCompletion } from './flow/complete.ts';
import { createFlow } from './flow/flow.ts';
import { createSessionPasskeys } from './flow/session-passkeys.ts';
import { createStart } from './flow/start.ts';
import { createVerify } from './flow/verify.ts';
import { createPairing } from './hand-off/pairing.ts';
import { createIdentityWalletAnswers } from './identity-wallet/answers.ts';
import { pageRoutes } from './routes.ts';
import { createPages } from './views/pages.ts';
import { createYourDataPages } from './your-data/pages.ts';
import { createUserSignIn } from './your-data/sign-in.ts';
import { createYourData } from './your-data/your-data.ts';

interface Dependencies
  extends Omit<
    PagesContext,
    | keyof VerificationStores
    | 'passkeyStore'
    | 'claimLifetime'
    | 'isFresh'
    | 'hasFreshClaims'
    | 'findSnapshot'
  > {
  stores: VerificationStores;
  /** OpenID providers that authenticate users, besides the sandbox. */
  oidcSources: readonly OidcSettings[];
  identityWalletSources: readonly IdentityWalletSettings[];
  /** Gets the status list of an attestation, from public addresses only. */
  fetchStatusList: FetchStatusList;
  claimLifetimes: Lifetimes;
  onPasskey: (ceremony: Ceremony, outcome: CeremonyOutcome) => void;
  findLogo: (id: string) => Promise<Buffer | undefined>;
}

/** The hosted flow, the session query, and the grants of codes (interface 3.1, 4.1, 4.5). */
export function createVerification(dependencies: Dependencies) {
  const { stores, clock, keyring, logger, baseUrl, imprint, claimLifetimes, passkeyRpId } = dependencies;
  const { passkeys: passkeyStore, ...records } = stores;
  const { sessions } = records;
  const isFresh = createFreshness(claimLifetimes);
  const context: PagesContext = {
    ...{ ...dependencies, ...records, passkeyStore, isFresh },
    claimLifetime: longestLifetime(claimLifetimes),
    hasFreshClaims: createHasFreshClaims(isFresh, clock),
    findSnapshot: createSnapshots(stores),
  };
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
  const overview = createSourceOverview({ ...records, clock, sources, verifiers: verifierOf });

  const forgetting = createForgetting(context);
  const invalidate = createSnapshotInvalidation(context, createEndingOfAccesses(context));
  const block = createBlocking(context, invalidate);
  const enrolling = createEnrolling(context);

  const relyingParty = createRelyingParty({ id: passkeyRpId ?? hostname, name: 'SVC Identity', origin });
  const passkeys = createPasskeys(context, relyingParty, dependencies.onPasskey);
  const erasure = createErasure(context, invalidate);
  const holds = createHolds(context);

  const sessionAccess = createSessionAccess(context);
  const outbox = createOutbox(context, enrolling);
  const authentication = createAuthentication(context, { enrolling, outbox });
  const flow = createFlow({
    ...{ keyring, clock },
    ...createSessionSources(sources),
    sessionAccess,
    authentication,
    authorizationRequests: createAuthorizationRequests(keyring.id),
    enrolling,
    passkeys: createSessionPasskeys(context, { passkeys, enrolling }),
    verify: createVerify(context, { enrolling, invalidate, block }),
    completion: createCompletion(context),
    outbox,
  });

  const pages = createPages(context);
  const withdraw = createWithdrawal(context, invalidate);

  return {
    /** To be mounted at `/verify`, in a scope with cookies and form bodies. */
    routes: pageRoutes({
      ...dependencies,
      sessions,
      starts: createStart(context, sources),
      flow,
      identityWallets: createIdentityWalletAnswers(context, {
        verifiers: verifierOf,
        sessionAccess,
        authentication,
      }),
      testIdentityWallet,
      pairing: createPairing(context, authentication),
      pages,
      sessionAccess,
      passkeysOn: passkeyRpId !== undefined,
      signIn: createUserSignIn(context, passkeys),
      yourData: createYourData(context, { passkeys, withdraw, erasure }),
      yourDataPages: createYourDataPages(pages.plain, imprint),
    }),
    previewConsent: pages.previewConsent,
    /** Sessions and claims of authorization codes, for their exchange. */
    grants: createGrants(context),
    rememberCustomer: stores.enrollments.rememberCustomer,
    enrolled: createEnrolledUsers(context),
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
    procedures: createVerificationProcedures(context, {
      sources: overview,
      block,
      passkeys,
      erasure,
      holds,
    }),
  };
}
export type Verification = ReturnType<typeof createVerification>;
