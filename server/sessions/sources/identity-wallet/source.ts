import { testIdentityWalletSources } from '../../../../contracts/identity-wallet-sources.ts';
import type { Verifier } from '../../../identity-wallet/port.ts';
import type { Logger } from '../../../platform/telemetry/logging.ts';
import { type Authenticated, type VerificationSource, verifyByCarriedClaims } from '../source.ts';
import { type AcceptedPresentation, pendingIn } from './pending.ts';

/** Sources that partners may choose besides the configured ones. */
export const testIdentityWalletSettings = testIdentityWalletSources.map(({ name }) => ({
  name,
  modes: ['test'] as const,
}));

interface Dependencies {
  logger: Pick<Logger, 'warn'>;
  testIdentityWallet: string;
}

export function createIdentityWalletSource(
  verifier: Verifier,
  { logger, testIdentityWallet }: Dependencies,
): VerificationSource {
  const { name, label, modes, asksNumber, answers } = verifier;
  return {
    name,
    modes,
    answers,
    asksNumber,
    method: { kind: 'identityWallet', label },
    isDown: (now) => verifier.fault(now) !== undefined,

    async begin({ id, mode, carried, claims, language }, { device, binding }) {
      // There is nothing to ask the identity wallet for, so users see that this source cannot help.
      if (answers(claims).length === 0) {
        logger.warn({ source: name, claims }, 'the credential of this source supports none of these claims');
        return { kind: 'down' };
      }
      const { number, notice } = pendingIn(carried);
      const handle = { source: name, sessionId: id, device, binding, number };
      const { url, digital } = await verifier.request(handle, { mode, claims });
      const query = new URLSearchParams({ request: url, ...(language ? { ui_locales: language } : {}) });
      // Only test sessions accept the made-up attestations of the test identity wallet.
      const testAddress = mode === 'test' ? `${testIdentityWallet}?${query}` : undefined;
      return { kind: 'identityWallet', label, url, digital, notice, testIdentityWallet: testAddress };
    },

    verify: verifyByCarriedClaims,
  };
}

/**
 * The user of a presentation. `subject` comes from a personal number. Without it, the user cannot be recognised again, so
 * each presentation makes a new user, who is identified by `presentationId`.
 */
export function authenticatedBy(
  { claims, subject }: Pick<AcceptedPresentation, 'claims' | 'subject'>,
  { presentationId }: { presentationId: string },
): Authenticated {
  const carry = { claims };
  if (subject !== undefined) return { kind: 'authenticated', subject, carry };
  return { kind: 'authenticated', subject: presentationId, carry, oneTime: true };
}
