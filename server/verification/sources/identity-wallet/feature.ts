import type { IdentityWalletSettings } from '../../../../contracts/identity-wallet-sources.ts';
import {
  IdentityWallet as SourceSchema,
  testIdentityWalletSources,
} from '../../../../contracts/identity-wallet-sources.ts';
import { parsePem } from '../../../identity-wallet/certificates.ts';
import { createPresentationCheck } from '../../../identity-wallet/presentation.ts';
import { createStatusLists, type FetchStatusList } from '../../../identity-wallet/status-list.ts';
import { statusListTypes } from '../../../identity-wallet/status-token.ts';
import {
  accessCertificate,
  createTestIssuer,
  type TestIssuer,
} from '../../../identity-wallet/test-wallet/issuer.ts';
import { testStatusList } from '../../../identity-wallet/test-wallet/status.ts';
import { createTestIdentityWallet } from '../../../identity-wallet/test-wallet/wallet.ts';
import type { Logger } from '../../../platform/telemetry/logging.ts';
import { createIdentityWalletSource, type IdentityWalletSource } from './source.ts';

interface Dependencies {
  settings: readonly IdentityWalletSettings[];
  baseUrl: string;
  /** Identifiers of repeatable steps: keys of requests and of the test issuer follow from it. */
  key: Uint8Array;
  clock: { now(): number };
  logger: Pick<Logger, 'error' | 'info' | 'warn'>;
  fetchStatusList: FetchStatusList;
}

const day = 86_400_000;

/** Sources that partners may choose besides the configured ones. */
export const testIdentityWalletSettings = testIdentityWalletSources.map(({ name }) => ({
  name,
  modes: ['test'] as const,
}));

function testSettings(key: Uint8Array, now: number): IdentityWalletSettings[] {
  const access = accessCertificate(key, now);
  return testIdentityWalletSources.map(({ name, label, profile }) => ({
    // Its name is reserved for this one: the schema refuses it for others.
    ...SourceSchema.parse({
      name: 'reserved',
      label,
      profile,
      modes: ['test'],
      trustAnchors: 'none',
      ...(profile === 'eu-age-verification' ? {} : { access, stableIdentifier: true }),
    }),
    name,
    access: profile === 'eu-age-verification' ? undefined : { ...access, clientId: 'x509_hash' },
  }));
}

/** All sources that ask identity wallets, and the test wallet. */
export function createIdentityWallets(dependencies: Dependencies) {
  const { settings, baseUrl, key, clock, logger, fetchStatusList } = dependencies;
  const testWallet = `${baseUrl}/verify/test-wallet`;
  const statusUri = `${testWallet}/status`;

  /** Its certificates are made again each day: none expires while a server runs. */
  let current: { issuer: TestIssuer; madeAt: number } | undefined;
  function testIssuer(): TestIssuer {
    const now = clock.now();
    if (!current || now - current.madeAt > day) {
      current = { issuer: createTestIssuer({ key, statusUri, now }), madeAt: now };
    }
    return current.issuer;
  }

  async function statusList() {
    const { signer } = testIssuer();
    return { type: statusListTypes.jwt, body: await testStatusList(signer, statusUri, clock.now()) };
  }

  const lists = createStatusLists((uri) => (uri === statusUri ? statusList() : fetchStatusList(uri)));
  const common = {
    baseUrl,
    key,
    clock,
    logger,
    check: createPresentationCheck(lists),
    testAnchors: () => parsePem(testIssuer().anchorPem),
    testWallet,
  };
  const configured = settings.map((each) => createIdentityWalletSource(each, common));
  const builtIn = testSettings(key, clock.now()).map((each) =>
    createIdentityWalletSource(each, common, { trustAnchors: undefined }),
  );
  const sources: readonly IdentityWalletSource[] = [...builtIn, ...configured];

  return {
    sources: new Map(sources.map((source) => [source.name, source])),
    configured: configured as readonly IdentityWalletSource[],
    testWallet: {
      wallet: () =>
        createTestIdentityWallet({ issuer: testIssuer(), clock, origin: new URL(baseUrl).origin }),
      statusList,
    },
  };
}
