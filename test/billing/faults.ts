import { MongoNetworkError } from 'mongodb';
import { onTestFinished } from 'vitest';
import { type BillingStores, createBillingStores } from '../../server/billing/store.ts';
import type { WalletBatch } from '../../server/billing/wallet-pipeline.ts';
import type { Replacements } from '../../server/start.ts';
import { createPartner, post, type TestPartner, tokenForm, type Visit, visit } from '../harness/partner.ts';
import { manualClock, startTestServer } from '../harness/server.ts';
import { momentAt } from '../oauth/oauth-server.ts';
import { readBooks, soundBooks } from './books.ts';

/** What happens around a call of a store that concerns a charge: before it, and after it was carried out. */
interface Fault {
  before?: () => void | Promise<void>;
  after?: () => void | Promise<void>;
}

type Step = 'hold' | 'commit' | 'ledger';

/** What the driver says when a connection broke: the call may have been carried out, or not. */
export const lostConnection = (): never => {
  throw new MongoNetworkError('connection closed');
};

/** Applies to the first call only. */
export function once(action: () => void | Promise<void>): () => void | Promise<void> {
  let calls = 0;
  return () => {
    calls += 1;
    return calls === 1 ? action() : undefined;
  };
}

/** What waits for `passed` goes on with `open`, and fails with `break`. */
export function gate() {
  let open = (): void => undefined;
  let fail = (_reason: Error): void => undefined;
  const passed = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { passed, open, break: fail };
}

const holdsCharge = (batches: readonly WalletBatch[]) =>
  batches.some(({ postings }) => postings.some(({ counted }) => counted));

/** A server whose database breaks at a given step of the exchange (design, section 2). To be stopped. */
export async function startFaulty() {
  const clock = manualClock(momentAt(30, 10));
  const faults = new Map<Step, Fault>();

  function around<A extends unknown[], R>(
    step: Step,
    call: (...args: A) => Promise<R>,
    concernsCharge: (...args: A) => boolean = () => true,
  ) {
    return async (...args: A): Promise<R> => {
      const fault = concernsCharge(...args) ? faults.get(step) : undefined;
      await fault?.before?.();
      const result = await call(...args);
      await fault?.after?.();
      return result;
    };
  }

  function wrap({ wallets, accesses, ledger }: BillingStores): BillingStores {
    return {
      wallets: { ...wallets, apply: around('hold', wallets.apply, holdsCharge) },
      accesses: { ...accesses, insert: around('commit', accesses.insert) },
      ledger: { ...ledger, append: around('ledger', ledger.append) },
    };
  }

  const replacements: Replacements = {
    foundation: ({ db }) => ({ stores: { billing: wrap(createBillingStores(db)) } }),
  };
  const server = await startTestServer({ clock, replacements });
  const walletOf = ({ partnerId }: TestPartner) => `${partnerId}:test`;

  return {
    ...server,
    clock,
    /** Sets what happens at a step from now on, until the test ends; nothing where no fault is given. */
    at(step: Step, fault: Fault = {}): void {
      faults.set(step, fault);
      onTestFinished(() => void faults.delete(step));
    },

    /**
     * Stops the next commit before it happens, as if its process had been halted between hold and access.
     * `arrived` resolves when it is there; `proceed` lets it go on; else it fails when the test ends.
     */
    haltCommit() {
      const arrival = gate();
      const departure = gate();
      faults.set('commit', {
        before() {
          faults.delete('commit');
          arrival.open();
          return departure.passed;
        },
      });
      onTestFinished(() => departure.break(new Error('this process ended')));
      return { arrived: arrival.passed, proceed: departure.open };
    },

    partner: () => createPartner(server, { client: { tokenRequestsPerMinute: 1_000_000 } }),
    visit: (partner: TestPartner) => visit(server, partner),
    async exchange(partner: TestPartner, of: Visit) {
      const response = await post(`${server.baseUrl}/api/oauth/token`, tokenForm(partner, of));
      const body = (await response.json()) as { access_token?: string; error?: string };
      return { status: response.status, retryAfter: response.headers.get('retry-after'), ...body };
    },
    async userinfo(token = ''): Promise<number> {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers })).status;
    },
    booksNow: (partner: TestPartner) => readBooks(server.db, walletOf(partner)),
    books: (partner: TestPartner) => soundBooks(server.db, walletOf(partner)),
  };
}
export type FaultyServer = Awaited<ReturnType<typeof startFaulty>>;
