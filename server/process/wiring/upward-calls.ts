import type { SourceCertificate } from '../../operations/metrics/backlog-metrics.ts';

/** The calls from a room to a room above it, which is made after it. Nothing else leads up. */
interface UpwardCalls {
  /** Makes the wallets of a new partner (partners to billing). */
  openWallets: (partnerId: string) => Promise<void>;
  /** Sends what waited while the endpoint of a key was paused (partners to webhooks). */
  resume: (keyId: string) => Promise<void>;
  /** Marks a wallet whose page was written, so that its summary is computed again (ledger to wallets). */
  touch: (walletId: string) => void;
  /** Returns the certificates that sources depend on (metrics to sessions). */
  certificates: () => readonly SourceCertificate[];
}

/** Makes calls that work once `connect` has named their targets. A call before that throws an error, because the wiring is wrong. */
export function createUpwardCalls() {
  let targets: UpwardCalls | undefined;
  function connected(): UpwardCalls {
    if (!targets) throw new Error('A call leads to a room that is not made yet');
    return targets;
  }
  return {
    connect(made: UpwardCalls): void {
      targets = made;
    },
    openWallets: (partnerId: string) => connected().openWallets(partnerId),
    resume: (keyId: string) => connected().resume(keyId),
    touch: (walletId: string) => connected().touch(walletId),
    certificates: () => connected().certificates(),
  };
}
