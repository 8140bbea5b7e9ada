import { MongoNetworkError } from 'mongodb';
import { onTestFinished } from 'vitest';
import type { LedgerPage } from '../../server/billing/ledger/ledger-page.ts';
import { type BillingStores, createBillingStores } from '../../server/billing/store.ts';
import type { Replacements } from '../../server/process/start.ts';
import { momentAt } from '../api/oauth/oauth-server.ts';
import { completeSession } from '../harness/completed-session.ts';
import { type Code, createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { manualClock, startTestServer } from '../harness/server.ts';
import { readLedger, soundLedger } from './ledger-snapshot.ts';

/** The fault before or after a store call that belongs to a charge. */
interface Fault {
  before?: () => void | Promise<void>;
  after?: () => void | Promise<void>;
}

type Step = 'insert' | 'publish';

/** The driver's error for a broken connection: the call may or may not have run. */
export const lostConnection = (): never => {
  throw new MongoNetworkError('connection closed');
};

/** Limits a fault to the first call. */
export function once(action: () => void | Promise<void>): () => void | Promise<void> {
  let calls = 0;
  return () => {
    calls += 1;
    return calls === 1 ? action() : undefined;
  };
}

/** A gate: callers of `passed` wait until `open`, or fail after `break`. */
export function gate() {
  let open = (): void => undefined;
  let fail = (_reason: Error): void => undefined;
  const passed = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { passed, open, break: fail };
}

const hasCharge = (pages: readonly LedgerPage[]) =>
  pages.some(({ entries }) => entries.some(({ grant }) => grant));

/**
 * A server whose database fails at a given step of the exchange (README, "How money stays right"). The caller stops it.
 */
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

  function wrap({ ledger, ...stores }: BillingStores): BillingStores {
    return {
      ...stores,
      ledger: {
        ...ledger,
        // Fences pass, because they contain no charge.
        insert: around('insert', ledger.insert, hasCharge),
        markPublished: around('publish', ledger.markPublished),
      },
    };
  }

  const replacements: Replacements = {
    pace: { beginWithin: 1_000, answerWithin: 1_700, resendWithin: 300 },
    foundation: ({ db }) => ({ stores: { billing: wrap(createBillingStores(db)) } }),
  };
  const server = await startTestServer({ clock, replacements });
  const walletOf = ({ partnerId }: TestPartner) => `${partnerId}:test`;

  return {
    ...server,
    clock,
    /** Sets the fault of a step until the test ends. Without a fault, the step works normally. */
    at(step: Step, fault: Fault = {}): void {
      faults.set(step, fault);
      onTestFinished(() => void faults.delete(step));
    },

    partner: () => createPartner(server, { client: { tokenRequestsPerMinute: 1_000_000 } }),
    verifyUser: (partner: TestPartner, person?: string) => completeSession(server, partner, person),
    async exchange(partner: TestPartner, of: Code) {
      const response = await exchangeCode(server, partner, of);
      const body = (await response.json()) as { access_token?: string; error?: string };
      return { status: response.status, retryAfter: response.headers.get('retry-after'), ...body };
    },
    async userinfo(token = ''): Promise<number> {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers })).status;
    },
    ledgerNow: (partner: TestPartner) => readLedger(server.db, walletOf(partner)),
    ledger: (partner: TestPartner) => soundLedger(server.db, walletOf(partner)),
  };
}
export type FaultyServer = Awaited<ReturnType<typeof startFaulty>>;
