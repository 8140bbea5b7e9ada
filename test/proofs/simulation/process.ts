import type { Access, BillableKind } from '../../../contracts/charge.ts';
import type { LedgerPage } from '../../../server/billing/ledger/ledger-page.ts';
import { defaultPace } from '../../../server/platform/config/pace.ts';
import type { AuditEntry } from '../../../server/platform/database/audit/audit-entry.ts';
import type { EventDraft } from '../../../server/platform/database/event-draft.ts';
import type { Peer } from '../../../server/platform/jobs/processes.ts';
import type { BillingCore } from './billing-core.ts';
import type { SimulatedDatabase } from './database.ts';
import type { Network } from './network.ts';
import type { PeerLinks, Receiver } from './peers.ts';
import { createActor, type Schedule } from './schedule.ts';
import { connect } from './stores.ts';

export const idKey = Buffer.alloc(32, 7);

/** The cause of a single charge: a code at the token endpoint, or an idempotency key. */
export interface Code {
  partnerId: string;
  walletId: string;
  cause: string;
  kind: BillableKind;
  cents: number;
}

/** The answer to a request that was granted. */
export interface Granted {
  id: string;
  at: Date;
  /** The name of the request whose posting was written. */
  request: string;
  replayed: boolean;
}

/** The reason why a posting leaves the queue: 2.5 s have passed, or its caller has disconnected. */
export class CallerOver extends Error {}

const quiet = { warn: () => undefined, info: () => undefined };
const beginWithin = 2_500;

const termsOf = ({ cause, partnerId, kind }: Code, request: string) => ({
  partnerId,
  mode: 'live' as const,
  clientId: 'cli_1',
  keyId: 'key_1',
  sessionId: `ses_${cause}`,
  enrollmentId: `enr_${cause}`,
  sub: `sub_${cause}`,
  returning: kind === 'token',
  /** The name of the request, which the entry in the ledger contains. */
  scope: request,
  claims: { age_18_plus: true },
  meta: {
    claims_requested: ['age_18_plus' as const],
    claims_resolved: ['age_18_plus' as const],
    claims_null: [],
    claims_ignored: [],
  },
  lifetimeSeconds: 3_600,
});

interface Settings {
  name: string;
  core: BillingCore;
  schedule: Schedule;
  database: SimulatedDatabase;
  network: Network;
  /** The process's wall clock in milliseconds. */
  now: () => number;
  events: Map<string, EventDraft>;
  auditLog: Map<string, AuditEntry>;
  onSend: (pages: readonly LedgerPage[]) => void;
  /** Called when a fence is requested after a lost hand-over. It is not sent if the database becomes unreachable. */
  onFence: (walletId: string) => void;
  /** The other processes; undefined for a process that hands nothing over. */
  peers?: Peers | undefined;
  see: (what: string) => void;
}

/** What a process knows of the other processes. */
interface Peers {
  send: PeerLinks;
  /** Returns the live processes that accept postings. */
  list: () => readonly Peer[];
  find: (id: string) => Receiver | undefined;
  processesPerWriter: number;
  /** Returns the time of the database in milliseconds, as this process has measured it. */
  databaseTime: () => number;
}

/**
 * Starts a server process: the money core of the product with the simulated database. A crash discards its memory, but
 * messages that it has sent still arrive.
 */
export function startProcess(settings: Settings) {
  const { name, core, schedule, database, network, now, events, auditLog, onSend, onFence, peers, see } =
    settings;
  const actor = createActor(name);
  const { ledger: store, revocations } = connect(actor, { network, database, onSend });
  const clock = { now: () => Math.round(now()), trusted: () => true };
  const startedAt = schedule.now();
  const uptime = () => schedule.now() - startedAt;
  const timeout = (ms: number) => {
    const until = uptime() + ms;
    return {
      reason: new Error(`not within ${ms} ms`),
      get aborted() {
        return uptime() > until;
      },
    };
  };
  const pause = (ms: number) => schedule.sleep(ms, actor);

  /** Adds missing fields, as a separate write. */
  async function add<T>(
    into: Map<string, T>,
    items: readonly T[],
    keyOf: (item: T) => string,
  ): Promise<void> {
    if (items.length === 0) return;
    await network.call(actor, () => `publish ${items.map(keyOf).join(' ')}`, {
      run: (limit) => {
        for (const item of items.slice(0, limit)) into.set(keyOf(item), item);
      },
      size: items.length,
      write: true,
    });
  }

  const record = (entries: readonly AuditEntry[]) => add(auditLog, entries, ({ id }) => id);
  const publishing = core.createPublishing({
    store,
    publish: (drafts) => add(events, drafts, ({ cause }) => cause.join()),
    record,
    clock,
    logger: quiet,
  });
  const heads = core.createHeads(store, uptime);
  const { resendWithin } = defaultPace;
  const onWritten = publishing.publishInBackground;
  const local = core.createLedgerWriter({ store, heads, clock, onWritten, uptime, pause, resendWithin });

  function createPeers({ send, list, find, databaseTime, processesPerWriter }: Peers) {
    const self = `${name} since ${startedAt}`;
    const write: typeof local.write = (posting, options) => {
      if (posting.kind === 'fence') onFence(posting.walletId);
      return local.write(posting, options);
    };
    const base = {
      ...{ self, local: { write }, uptime, keys: core.keysOf(idKey) },
      clock: { now: databaseTime, trusted: () => true },
    };
    const writers = core.createWriters({
      ...{ self, isWriter: true, processesPerWriter, logger: quiet },
      readPeers: async () => list(),
      probe: (peer) => handOver.probe(peer),
      onPeers: () => undefined,
    });
    const handOver = core.createHandOver({
      ...{ ...base, store, writers, pause, timeout },
      send: (peer, body) => send(actor, () => find(peer.id), body),
      onPosting: (way) => see(`posting ${way}`),
      onBatch: () => undefined,
    });
    return { self, handOver, refresh: writers.refresh, receive: core.createTakeOver(base) };
  }
  const joined = peers && createPeers(peers);
  const writer = joined?.handOver ?? local;
  const charges = core.createCharges({ writer, store, revocations, clock, idKey, standardPrice: 50 });
  const manualEntries = core.createManualEntries({ writer, store, record, idKey, timeout });
  const onCrash: (() => void)[] = [];

  return {
    actor,
    joined,
    manualEntries,
    sweep: publishing.sweep.sweep,
    /** Forgets all heads, as the product does at the event `topologyDescriptionChanged` of the driver. */
    forgetHeads: heads.clear,

    /** Runs one request of an exchange. A used idempotency key gets the same answer again. */
    async exchange(code: Code, request: string, isConnected: () => boolean): Promise<Granted | 'used'> {
      const { partnerId, cause, kind, cents } = code;
      const granted = (access: Access, replayed = false): Granted => ({
        id: access.id,
        at: access.at,
        request: access.scope,
        replayed,
      });
      const since = schedule.now();
      const signal = {
        reason: new CallerOver('the caller is over'),
        endsAt: uptime() + beginWithin,
        get aborted() {
          return schedule.now() - since > beginWithin || !isConnected();
        },
      };
      const isReplayable = kind !== 'token';
      const past = isReplayable ? await charges.past({ partnerId, mode: 'live', cause }) : undefined;
      if (past?.access) return granted(past.access, true);
      const terms = termsOf(code, request);
      const order = { kind, cause, terms, prices: { [kind]: cents }, signal };
      const charged = await charges.charge(order, granted);
      if (charged.outcome === 'charged') return charged.answer;
      const { access } = charged.past;
      return isReplayable && access ? granted(access, true) : 'used';
    },

    /** Sends a request to the process. The result is `silence` if it crashes before it answers. */
    ask: <T>(delay: number, work: () => Promise<T>): Promise<T | 'silence'> =>
      new Promise((resolve, reject) => {
        if (!actor.alive) {
          resolve('silence');
          return;
        }
        onCrash.push(() => resolve('silence'));
        schedule.after(delay, actor, () => void work().then(resolve, reject));
      }),

    crash(): void {
      actor.alive = false;
      for (const notify of onCrash) notify();
    },
  };
}
export type Process = ReturnType<typeof startProcess>;
