import { randomUUID } from 'node:crypto';
import type { Mode } from '../../contracts/identifiers.ts';
import type { Rehearsal } from '../../contracts/verification.ts';
import type { Clock } from '../platform/clock.ts';
import { createConvoy } from '../platform/convoy.ts';
import { isUnavailable } from '../platform/database/connect.ts';
import { ApiError, unavailable } from '../platform/errors.ts';
import type { Waiting } from '../platform/http/in-time.ts';
import { deriveId } from '../platform/ids.ts';
import type { Logger } from '../platform/logging.ts';
import type { Access, AccessRecord, AccessStore } from './access-store.ts';
import { opposite } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import { refusalOf, rehearse } from './refusals.ts';
import type { Settlement } from './settlement.ts';
import type { WalletPort } from './wallet.ts';
import type { BillableKind, Posting, Verdict } from './wallet-model.ts';

/** What stands under the ids that one cause can lead to. */
export type History =
  | { state: 'open'; chargeId: string }
  | { state: 'used'; access: Access }
  /** Five charges of it were reversed, or its record is purged: it buys nothing any more. */
  | { state: 'exhausted' };

/** What shall be bought, and for whom. */
export type Terms = Omit<
  Access,
  '_id' | 'state' | 'attempt' | 'kind' | 'walletId' | 'at' | 'expiresAt' | 'revokedAt'
> & {
  /** Seconds that the access lives. */
  lifetime: number;
  rehearse?: Rehearsal | undefined;
};

/** Who pays how much. */
export interface Order {
  mode: Mode;
  walletId: string;
  kind: BillableKind;
  /** Price in cents. */
  cents: number;
}

export interface Purchase<Facts> extends Order {
  /** What the charge is for: the same cause is never charged twice. */
  cause: string;
  /** Who waits for it: when it is too late, or they are gone, no other step is begun. */
  waiting?: Waiting;
  /** Everything else that decides, read beside the history and read again should that be out of date. */
  read: () => Promise<Facts>;
  /** Judges the facts. @throws ApiError to refuse; an access of the past is answered again, unbilled */
  decide: (facts: Facts, history: History) => Promise<Terms | { replay: Access }>;
  /** Work on the answer, done while the record is on its way; in vain where another one stands there first, or where it throws. */
  meanwhile?: (access: Access) => void;
}

interface PurchaseSettings {
  wallet: Pick<WalletPort, 'basis' | 'post'>;
  accesses: Pick<AccessStore, 'loadMany' | 'insert'>;
  ledger: Pick<LedgerStore, 'existing'>;
  settlement: Pick<Settlement, 'settle'>;
  clock: Pick<Clock, 'now' | 'trusted'>;
  idKey: Uint8Array;
  logger: Pick<Logger, 'warn'>;
  uptime?: () => number;
  /** Milliseconds from a hold until the sweeper may reverse it; longer than any request takes. */
  holdLifetime?: number;
}

const charges = 5;
const insertAgainAfter = 10;
/** Resolves once the operations that were begun in this turn are on their way to the database. */
const departure = () => new Promise((resolve) => setImmediate(resolve));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Milliseconds in which a step whose fate is unknown is begun again. */
const patience = 1_500;
const rounds = 4;

/** What nobody waits for is not begun: who was answered 503 has their code still. */
function requireWaiting({ waiting }: { waiting?: Waiting }): void {
  const over = waiting?.over();
  if (over) throw unavailable(over);
}

/** Where a cause stands: a tombstone is final and means "go on with the next number". */
export function historyOf(ids: readonly string[], records: readonly AccessRecord[]): History {
  for (const id of ids) {
    const record = records.find(({ _id }) => _id === id);
    if (!record) return { state: 'open', chargeId: id };
    if (record.state === 'live') return { state: 'used', access: record };
  }
  return { state: 'exhausted' };
}

/**
 * The exchange: a hold on the wallet, then the access record that commits it, then settlement. Three
 * endpoints share it. Whatever crashes or repeats, one cause is charged once and grants one access.
 */
export function createPurchases(settings: PurchaseSettings) {
  const { wallet, accesses, ledger, settlement, clock, idKey, logger } = settings;
  const { uptime = () => performance.now(), holdLifetime = 10_000 } = settings;

  const chargeId = (cause: string, n: number) => deriveId(idKey, 'entry', ['charge', cause, n]);
  const laterIds = (cause: string) => Array.from({ length: charges - 1 }, (_, n) => chargeId(cause, n + 1));

  /** Almost always the first number is all there is to know. */
  async function history(cause: string): Promise<History> {
    const first = chargeId(cause, 0);
    const [record] = await accesses.loadMany([first]);
    if (record?.state !== 'void') return historyOf([first], record ? [record] : []);
    const later = laterIds(cause);
    return historyOf(later, await accesses.loadMany(later));
  }

  /**
   * A code dies before its records are purged; an idempotency key can come back at any time. The ledger
   * remembers for ever: where it has the charge and its record is gone, the cause is used up.
   */
  async function historyOfOrder({ cause, kind }: { cause: string; kind: BillableKind }): Promise<History> {
    const past = await history(cause);
    if (kind !== 'checkbox' || past.state !== 'open') return past;
    if ((await ledger.existing([past.chargeId])).size === 0) return past;
    // Entries follow their record: what was charged since the first look is there to be seen now.
    const again = await history(cause);
    const purged = again.state === 'open' && again.chargeId === past.chargeId;
    return purged ? { state: 'exhausted' } : again;
  }

  async function hold(order: Order, terms: Terms, posting: Posting, until: number): Promise<Verdict> {
    // The one seam for rehearsals: test mode only, nothing is written.
    if (terms.rehearse && order.mode === 'test') throw rehearse(terms.rehearse, order.kind, clock.now());
    return wallet.post(order.walletId, posting, until);
  }

  /** The commit point: the first record of this id decides, also when the reply to our insert was lost. */
  async function commit(access: Access, until: number): Promise<AccessRecord> {
    for (;;) {
      try {
        return await accesses.insert(access);
      } catch (error) {
        const unknown =
          isUnavailable(error) || (error instanceof ApiError && error.code === 'service_unavailable');
        if (!unknown || uptime() >= until) throw error;
        await pause(insertAgainAfter);
      }
    }
  }

  function postingOf(order: Order, chargeId: string, basis: number): Posting {
    const { kind, cents } = order;
    const at = new Date(clock.now());
    const deadline = new Date(at.getTime() + holdLifetime);
    return {
      id: chargeId,
      kind,
      amount: opposite(cents),
      counted: true,
      basis,
      at,
      deadline,
      memo: null,
    };
  }

  function accessOf(order: Order, terms: Terms, chargeId: string): Access {
    const { lifetime, rehearse: _mark, ...bought } = terms;
    const at = new Date(clock.now());
    const expiresAt = new Date(at.getTime() + lifetime * 1000);
    const { kind, walletId } = order;
    return { _id: chargeId, state: 'live', attempt: randomUUID(), kind, walletId, at, expiresAt, ...bought };
  }

  /**
   * Buys an access.
   * @throws ApiError what `decide` throws; payment_required, rate_limited, service_unavailable
   */
  async function buyNow<Facts>(purchase: Purchase<Facts>): Promise<Access> {
    if (!clock.trusted()) throw unavailable(new Error('the clock of this process is not trusted'));
    const until = uptime() + patience;

    for (let round = 0; round < rounds; round += 1) {
      const basis = await wallet.basis(purchase.walletId);
      const [facts, past] = await Promise.all([purchase.read(), historyOfOrder(purchase)]);
      const terms = await purchase.decide(facts, past);
      if ('replay' in terms) return terms.replay;
      if (past.state !== 'open') throw new Error('terms were given for a cause that is used up');

      requireWaiting(purchase);
      const posting = postingOf(purchase, past.chargeId, basis);
      const verdict = await hold(purchase, terms, posting, until);
      if (verdict.outcome === 'stale') continue;
      if (verdict.outcome !== 'held' && verdict.outcome !== 'settled') throw refusalOf(verdict);

      requireWaiting(purchase); // a hold that is not committed goes back
      const mine = accessOf(purchase, terms, past.chargeId);
      const { meanwhile } = purchase;
      const [standing] = await Promise.all([
        commit(mine, until),
        meanwhile &&
          departure()
            .then(() => meanwhile(mine))
            .catch(() => undefined),
      ]);
      if (standing.state === 'void') throw unavailable();
      if (standing.attempt !== mine.attempt) continue;

      if (verdict.outcome === 'held') settleLater(purchase.walletId, verdict.hold, mine);
      return mine;
    }
    throw unavailable(new Error('the wallet was settled faster than this request could be judged'));
  }

  function settleLater(
    walletId: string,
    held: Extract<Verdict, { outcome: 'held' }>['hold'],
    record: Access,
  ): void {
    void settlement.settle({ walletId, hold: held, record }).catch((error: unknown) => {
      logger.warn({ err: error, charge: held.id }, 'settlement is left to the sweeper');
    });
  }

  const ride = createConvoy();
  return { buy: <Facts>(purchase: Purchase<Facts>) => ride(() => buyNow(purchase)), history };
}
