import type { IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import {
  IdentityWallet as SourceSchema,
  testIdentityWalletSources,
} from '../../contracts/identity-wallet-sources.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { parsePem } from './certificates.ts';
import { createPresentationCheck } from './presentation.ts';
import { createStatusLists, type FetchStatusList } from './status-list.ts';
import { statusListTypes } from './status-token.ts';
import { accessCertificate, createTestIssuer, type TestIssuer } from './test-wallet/issuer.ts';
import { testStatusList } from './test-wallet/status.ts';
import { createTestIdentityWallet, type TestIdentityWallet } from './test-wallet/wallet.ts';
import { createVerifier, type Proof, type Verifier, type VerifierDependencies } from './verifier.ts';

export { annexC } from './digital-request.ts';
export { destinationOfToken, type Handle } from './handles.ts';
export { PresentationRefused } from './refused.ts';
export { requestObjectType } from './request.ts';
export type { IdentityWalletAnswer, IdentityWalletResponse } from './response.ts';
export { AskedByAnnexC } from './test-wallet/annex-c.ts';
export { type Asked, pathsToShow, readLink } from './test-wallet/asked.ts';
export { type HolderName, holders } from './test-wallet/issuer.ts';
export { type Act, acts } from './test-wallet/wallet.ts';
export { type FetchStatusList, type Proof, statusListTypes, type TestIdentityWallet, type Verifier };

interface Dependencies {
  settings: readonly IdentityWalletSettings[];
  baseUrl: string;
  /** The secret from which the keys of requests and of the test issuer are derived. */
  key: Uint8Array;
  clock: { now(): number };
  logger: Pick<Logger, 'error' | 'info' | 'warn'>;
  fetchStatusList: FetchStatusList;
}

const day = 86_400_000;

/** Returns the settings of the built-in sources, with the defaults of the schema. */
function testSettings(key: Uint8Array, now: number): IdentityWalletSettings[] {
  const certificate = accessCertificate(key, now);
  return testIdentityWalletSources.map(({ name, label, profile }) => {
    // This profile neither identifies relying parties nor has a number of the person.
    const isProofOfAge = profile === 'eu-age-verification';
    const access = isProofOfAge ? undefined : { ...certificate, clientId: 'x509_hash' as const };
    const parsed = SourceSchema.parse({
      name: 'any-other',
      label,
      profile,
      modes: ['test'],
      // The schema requires a text, but a test source has no trust anchors: its verifier trusts the test issuer only.
      trustAnchors: 'none',
      access,
      stableIdentifier: !isProofOfAge,
    });
    // The schema refuses the names of built-in sources, so the name is set afterwards.
    return { ...parsed, name, access };
  });
}

/**
 * Makes a verifier for each source, and the test identity wallet. The rest of the server imports no other file of this folder.
 */
export function createIdentityWallets(dependencies: Dependencies) {
  const { settings, baseUrl, key, clock, logger, fetchStatusList } = dependencies;
  const testIdentityWallet = `${baseUrl}/verify/test-wallet`;
  const statusUri = `${testIdentityWallet}/status`;

  let latest: { issuer: TestIssuer; madeAt: number } | undefined;
  /** Returns the test issuer. It is made again each day, so that no certificate expires while a server runs. */
  function testIssuer(): TestIssuer {
    const now = clock.now();
    if (!latest || now - latest.madeAt > day) {
      latest = { issuer: createTestIssuer({ key, statusUri, now }), madeAt: now };
    }
    return latest.issuer;
  }

  /** The status list of the test issuer. A process does not fetch it from itself. */
  async function statusList() {
    const { signer } = testIssuer();
    return { type: statusListTypes.jwt, body: await testStatusList(signer, statusUri, clock.now()) };
  }

  const lists = createStatusLists((uri) => (uri === statusUri ? statusList() : fetchStatusList(uri)));
  const verifierDependencies: VerifierDependencies = {
    baseUrl,
    key,
    clock,
    logger,
    check: createPresentationCheck(lists),
    testAnchors: () => parsePem(testIssuer().anchorPem),
  };
  const builtIn = testSettings(key, clock.now()).map((source) =>
    createVerifier(source, undefined, verifierDependencies),
  );
  const configured = settings.map((source) =>
    createVerifier(source, source.trustAnchors, verifierDependencies),
  );

  return {
    verifiers: [...builtIn, ...configured] as readonly Verifier[],
    testIdentityWallet: {
      wallet: () =>
        createTestIdentityWallet({ issuer: testIssuer(), clock, origin: new URL(baseUrl).origin }),
      statusList,
    },
  };
}
