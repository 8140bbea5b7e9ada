import type { IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import {
  IdentityWallet as SourceSchema,
  testIdentityWalletSources,
} from '../../contracts/identity-wallet-sources.ts';
import { accessOf, type RelyingPartyAccess } from './access.ts';
import { createPresentationCheck } from './protocol/presentation.ts';
import { accessCertificate, createTestIssuer, type TestIssuer } from './test-wallet/issuer.ts';
import { testStatusList } from './test-wallet/status.ts';
import { createTestIdentityWallet } from './test-wallet/wallet.ts';
import { type Certificate, parsePem } from './trust/certificates.ts';
import { createStatusLists, type FetchStatusList } from './trust/status-list.ts';
import { statusListTypes } from './trust/status-token.ts';
import { createVerifier, type Proof, type Verifier, type VerifierDependencies } from './verifier.ts';

export { annexC } from './protocol/digital-request.ts';
export { destinationOfToken, type Handle } from './protocol/handles.ts';
export { requestObjectType } from './protocol/request.ts';
export type { IdentityWalletAnswer, IdentityWalletResponse } from './protocol/response.ts';
export { PresentationRefused } from './refused.ts';
export { AskedByAnnexC } from './test-wallet/annex-c.ts';
export { type Asked, pathsToShow, readLink } from './test-wallet/asked.ts';
export { type HolderName, holders } from './test-wallet/issuer.ts';
export { type Act, acts } from './test-wallet/wallet.ts';
export { type FetchStatusList, type Proof, statusListTypes, type Verifier };

interface Dependencies
  extends Pick<VerifierDependencies, 'baseUrl' | 'key' | 'requestKeys' | 'clock' | 'logger'> {
  settings: readonly IdentityWalletSettings[];
  fetchStatusList: FetchStatusList;
}

const day = 86_400_000;

/** This profile neither identifies relying parties nor has a number of the person. */
const isProofOfAge = ({ profile }: Pick<IdentityWalletSettings, 'profile'>) =>
  profile === 'eu-age-verification';

/** Returns the settings of the built-in sources, with the defaults of the schema. */
function testSettings(): IdentityWalletSettings[] {
  return testIdentityWalletSources.map((source) => {
    const { name, label, profile } = source;
    const parsed = SourceSchema.parse({
      name: 'any-other',
      label,
      profile,
      modes: ['test'],
      // The schema requires these texts. A test source has no trust anchors, and its access certificate is made later.
      trustAnchors: 'none',
      access: isProofOfAge(source) ? undefined : { certificates: 'none', key: 'none' },
      stableIdentifier: !isProofOfAge(source),
    });
    // The schema refuses the names of built-in sources, so the name is set afterwards.
    return { ...parsed, name, access: undefined };
  });
}

/**
 * Makes a verifier for each source, and the test identity wallet. The rest of the server imports no other file of this folder.
 */
export function createIdentityWallets(dependencies: Dependencies) {
  const { settings, baseUrl, key, clock, fetchStatusList } = dependencies;
  const testIdentityWallet = `${baseUrl}/verify/test-wallet`;
  const statusUri = `${testIdentityWallet}/status`;

  let latest: { issuer: TestIssuer; anchors: Certificate[]; madeAt: number } | undefined;
  /** Returns the test issuer. It is made again each day, so that no certificate expires while a server runs. */
  function issuerOfToday() {
    const now = clock.now();
    if (!latest || now - latest.madeAt > day) {
      const issuer = createTestIssuer({ key, statusUri, now });
      latest = { issuer, anchors: parsePem(issuer.anchorPem), madeAt: now };
    }
    return latest;
  }
  const testIssuer = () => issuerOfToday().issuer;

  /** The status list of the test issuer. A process does not fetch it from itself. */
  async function statusList() {
    const { signer } = testIssuer();
    return { type: statusListTypes.jwt, body: testStatusList(signer, statusUri, clock.now()) };
  }

  const lists = createStatusLists((uri) => (uri === statusUri ? statusList() : fetchStatusList(uri)));
  const verifierDependencies: VerifierDependencies = {
    ...dependencies,
    check: createPresentationCheck(lists),
    testAnchors: () => issuerOfToday().anchors,
  };
  // To make and read the certificate takes 10 % of a server's start. The first presentation, list of sources or reading of
  // /metrics needs it.
  let testAccess: RelyingPartyAccess | undefined;
  const accessOfTests = (): RelyingPartyAccess => {
    testAccess ??= accessOf({ ...accessCertificate(key, clock.now()), clientId: 'x509_hash' }, baseUrl);
    return testAccess;
  };
  const builtIn = testSettings().map((source) =>
    createVerifier(source, isProofOfAge(source) ? {} : { access: accessOfTests }, verifierDependencies),
  );
  const configured = settings.map((source) => {
    const { trustAnchors } = source;
    const access = source.access && accessOf(source.access, baseUrl);
    return createVerifier(source, { trustAnchors, access: access && (() => access) }, verifierDependencies);
  });

  return {
    verifiers: [...builtIn, ...configured] as readonly Verifier[],
    testIdentityWallet: {
      wallet: () =>
        createTestIdentityWallet({ issuer: testIssuer(), clock, origin: new URL(baseUrl).origin }),
      statusList,
    },
  };
}
