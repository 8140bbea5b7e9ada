import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { IdentityWallet, type IdentityWalletSettings } from '../../../contracts/identity-wallet-sources.ts';
import { createTestIssuer } from '../../../server/identity-wallet/test-wallet/issuer.ts';
import { createVerifier } from '../../../server/identity-wallet/verifier.ts';
import { createIdentityWalletSource } from '../../../server/sessions/sources/identity-wallet/source.ts';
import { createSourceOverview } from '../../../server/sessions/sources/overview.ts';
import { createSandbox } from '../../../server/sessions/sources/sandbox.ts';

const day = 86_400_000;
const madeAt = Date.parse('2026-01-01T00:00:00Z');
/** The anchor is valid for 400 days from `madeAt`. */
const { anchorPem } = createTestIssuer({ key: randomBytes(32), statusUri: 'https://x.test/s', now: madeAt });

function overviewAt(now: number) {
  const settings = IdentityWallet.parse({
    name: 'age-app',
    label: 'Age app',
    profile: 'eu-age-verification',
    trustAnchors: anchorPem,
  }) as IdentityWalletSettings;
  const clock = { now: () => now };
  const logger = { error: () => undefined, info: () => undefined, warn: () => undefined } as never;
  const verifier = createVerifier(
    settings,
    { trustAnchors: anchorPem },
    {
      baseUrl: 'https://verify.test',
      key: randomBytes(32),
      requestKeys: { current: { id: 'code-1' }, byId: () => undefined },
      clock,
      logger,
      check: () => Promise.reject(new Error('asks no server')),
      testAnchors: () => [],
    },
  );
  const testIdentityWallet = 'https://verify.test/verify/test-wallet';
  const source = createIdentityWalletSource(verifier, { logger, testIdentityWallet });
  const verifiers = new Map([[verifier.name, verifier]]);
  const sources = new Map([createSandbox(), source].map((each) => [each.name, each]));
  return createSourceOverview({ sources, verifiers, sessions: { sourceUse: async () => new Map() }, clock });
}

describe('the overview of verification sources for operators', () => {
  it('lists each source; sources check also shows its certificates, and answers not_found for an unknown name', async () => {
    const { list, check } = overviewAt(madeAt);
    expect((await list()).map(({ name, kind, fault }) => ({ name, kind, fault }))).toEqual([
      { name: 'sandbox', kind: 'sandbox', fault: null },
      { name: 'age-app', kind: 'wallet', fault: null },
    ]);
    expect((await check('age-app')).certificates).toMatchObject([{ use: 'trust anchor', expiring: false }]);
    await expect(check('nothing')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('reports a certificate from 30 days before its expiry', () => {
    const expiring = (days: number) =>
      overviewAt(madeAt + days * day)
        .certificates()
        .map((each) => each.expiring);
    expect(expiring(369)).toEqual([false]);
    expect(expiring(371)).toEqual([true]);
  });

  it('reports as the fault of a source that all its trust anchors have expired', async () => {
    const { fault } = await overviewAt(madeAt + 401 * day).check('age-app');
    expect(fault).toBe('no trust anchor is a valid certificate authority');
  });
});
