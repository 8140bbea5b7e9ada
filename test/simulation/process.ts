import type { Access } from '../../server/billing/access-store.ts';
import { createMovements } from '../../server/billing/movements.ts';
import { createPurchases, type Terms } from '../../server/billing/purchase.ts';
import { createSettlement } from '../../server/billing/settlement.ts';
import { createBillingSweep } from '../../server/billing/sweep.ts';
import { createWallet } from '../../server/billing/wallet.ts';
import type { Posting } from '../../server/billing/wallet-model.ts';
import { ApiError } from '../../server/platform/errors.ts';
import type { EventDraft } from '../../server/platform/outbox.ts';
import type { SimulatedDatabase } from './database.ts';
import { createGuardedPorts, type Guard } from './guards.ts';
import { type Actor, createActor, type Schedule } from './schedule.ts';

export const idKey = Buffer.alloc(32, 7);

/** What a partner pays for once: a code at the token endpoint, or an idempotency key of a checkbox. */
export interface Code {
  cause: string;
  kind: 'token' | 'checkbox';
  walletId: string;
}

const nothing = () => undefined;
const silent = { info: nothing, warn: nothing };

const termsFor = ({ cause }: Code): Terms => ({
  partnerId: 'ptr_1',
  mode: 'live',
  clientId: 'cli_1',
  keyId: 'key_1',
  sessionId: `ses_${cause}`,
  enrollmentId: `enr_${cause}`,
  sub: `sub_${cause}`,
  returning: true,
  scope: 'age_18_plus',
  claims: { age_18_plus: true },
  meta: {
    claims_requested: ['age_18_plus'],
    claims_resolved: ['age_18_plus'],
    claims_null: [],
    claims_ignored: [],
  },
  lifetime: 3_600,
});

/**
 * One life of a server process: the product's own purchase, wallet, settlement, movements and sweep, on a
 * skewed clock and the simulated database. A crash ends it with all that it remembered; whatever it had
 * sent goes its way.
 */
export function startProcess(settings: {
  name: string;
  /** Milliseconds that its clock is ahead. */
  skew: number;
  schedule: Schedule;
  database: SimulatedDatabase;
  publish: (caller: Actor, drafts: readonly EventDraft[]) => Promise<void>;
  removed: Guard | undefined;
  /** Counts the verdicts of wallets. */
  see: (outcome: string) => void;
}) {
  const { name, skew, schedule, database, publish, removed, see } = settings;
  const actor = createActor(name);
  const stores = database.connect(actor);
  const { wallets, ledger } = stores;
  const guarded = createGuardedPorts(removed, stores);
  const uptime = schedule.now;
  const clock = { now: () => Math.round(schedule.now() + skew), trusted: () => true };
  const crashed: (() => void)[] = [];

  const wallet = createWallet({ wallets, uptime });
  const settlement = createSettlement({
    ledger: guarded.entries,
    wallet,
    publish: (drafts) => publish(actor, drafts),
    record: async () => undefined,
  });
  const observed = {
    basis: wallet.basis,
    async post(walletId: string, posting: Posting, until: number) {
      const verdict = await wallet.post(walletId, posting, until);
      see(verdict.outcome);
      return verdict;
    },
  };
  const movements = createMovements({
    wallet: guarded.forMovements(observed),
    ledger,
    settlement,
    clock,
    idKey,
    uptime,
  });
  const refunds = createMovements({ ...guarded.forRefunds(observed), settlement, clock, idKey, uptime });
  const purchases = createPurchases({
    wallet: guarded.forPurchases(observed),
    accesses: guarded.commit,
    ledger,
    settlement,
    clock,
    idKey,
    logger: silent,
    uptime,
  });
  const { sweep } = createBillingSweep({
    wallets,
    wallet,
    accesses: guarded.sweep,
    ledger: guarded.entries,
    settlement,
    movements: { reverse: guarded.reversal(movements.reverse) },
    clock,
    logger: silent,
  });

  return {
    actor,
    fund: movements.fund,
    adjust: movements.adjust,
    refund: refunds.refund,
    sweep,

    /** A used code is refused; a used key is answered again, unbilled. */
    exchange: (code: Code, { cents, thinking }: { cents: number; thinking: number }): Promise<Access> =>
      purchases.buy({
        ...code,
        mode: 'live',
        cents,
        read: () => schedule.sleep(thinking, actor),
        async decide(_facts, history) {
          if (history.state === 'open') return termsFor(code);
          if (history.state === 'used' && code.kind === 'checkbox') return { replay: history.access };
          throw new ApiError('invalid_grant', { detail: history });
        },
      }),

    /** Sends a request in; `silence` where the process crashes before it answers. */
    ask: <T>(delay: number, work: () => Promise<T>): Promise<T | 'silence'> =>
      new Promise((resolve, reject) => {
        if (!actor.alive) {
          resolve('silence');
          return;
        }
        crashed.push(() => resolve('silence'));
        schedule.after(delay, actor, () => void work().then(resolve, reject));
      }),

    crash(): void {
      actor.alive = false;
      for (const tell of crashed) tell();
    },
  };
}
export type Process = ReturnType<typeof startProcess>;
