import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Order } from '../../contracts/charge.ts';
import { type Billing, createBillingFeature, type PeerSettings } from '../../server/billing/feature.ts';
import { createBillingStores } from '../../server/billing/store.ts';
import { defaultPace } from '../../server/platform/config/pace.ts';
import { hostInUrl } from '../../server/platform/http/listen.ts';
import { createHttpServer } from '../../server/platform/http/server.ts';
import { createProcesses, type Peer } from '../../server/platform/jobs/processes.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { preparedDatabase } from '../harness/database.ts';
import { shiftedClock } from '../harness/server.ts';
import { soundLedger } from './ledger-snapshot.ts';

const idKey = Buffer.alloc(32, 7);
const partnerId = 'ptr_fleet';
export const walletId = `${partnerId}:test`;
const logger = createLogger('silent');

/** Faults of a private listener: before the process sees a message, and before its answer is sent. */
interface Faults {
  before?: (() => Promise<void> | void) | undefined;
  /** Returns the text to send in place of the answer. `lose` sends nothing and closes the connection. */
  after?: ((answer: string) => string) | undefined;
}

export interface Member {
  billing: Billing;
  clock: ReturnType<typeof shiftedClock>;
  peer: Peer;
  faults: Faults;
  /** Counts the outcomes of its postings. */
  ways: Record<string, number>;
  /** Message bodies that its private listener received. */
  messages: string[];
  join: () => Promise<void>;
  resign: () => Promise<void>;
  stop: () => Promise<void>;
}

type Wanted = Partial<Order['terms']> & Partial<Pick<Order, 'signal'>>;

const forever = { aborted: false, reason: undefined };

/** An order of the wallet's partner. `cause` replaces the code. */
export const orderOf = (cause: string, { signal = forever, ...terms }: Wanted = {}): Order => ({
  kind: 'token',
  cause,
  signal,
  prices: undefined,
  terms: {
    partnerId,
    mode: 'test',
    clientId: 'cli_1',
    keyId: 'key_1',
    sessionId: `ses_${cause}`,
    enrollmentId: `enr_${cause}`,
    sub: `sub_${cause}`,
    returning: false,
    scope: 'age_18_plus',
    claims: { age_18_plus: true },
    meta: {
      claims_requested: ['age_18_plus'],
      claims_resolved: ['age_18_plus'],
      claims_null: [],
      claims_ignored: [],
    },
    lifetimeSeconds: 3_600,
    ...terms,
  },
});

export const auditOf = (id: string) => ({
  id,
  operatorId: 'opr_1',
  operatorName: 'Operator',
  action: 'wallets.change',
  requestId: 'req_1',
  address: '127.0.0.1',
  at: new Date(),
  target: walletId,
});

/** Several billing processes on one database, which reach each other over HTTP. They stop when the test ends. */
export async function startFleet(count: number, { host = '127.0.0.1' } = {}) {
  const { db } = await preparedDatabase();
  const members: Member[] = [];

  async function start(): Promise<Member> {
    const clock = shiftedClock();
    const processes = createProcesses({
      db,
      clock,
      roles: ['api'],
      masterKeys: [],
      sharedSettings: {},
      schema: 1,
    });
    const ways: Record<string, number> = {};
    const note = (way: string) => {
      ways[way] = (ways[way] ?? 0) + 1;
    };
    const peers: PeerSettings = {
      processes,
      isWriter: true,
      onPosting: note,
      onBatch: () => note('requests'),
      onPeers: ({ answering, silent }) => Object.assign(ways, { answering, silent }),
    };
    const billing = createBillingFeature({
      stores: createBillingStores(db),
      ...{ clock, idKey, logger, peers, standardPrice: 50, pace: defaultPace },
      publish: async () => undefined,
      record: async () => undefined,
    });
    const { handOver } = billing;
    if (!handOver) throw new Error('no hand-over');
    const app = createHttpServer({ logger, trustProxy: false });
    const faults: Faults = {};
    const messages: string[] = [];
    app.addHook('preHandler', async ({ body }) => {
      messages.push(String(body));
      await faults.before?.();
    });
    app.addHook('onSend', async (_request, reply, answer) => {
      const sent = faults.after?.(String(answer)) ?? answer;
      if (sent === 'lose') reply.raw.destroy();
      return sent;
    });
    await app.register(handOver.routes);
    await app.listen({ host, port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const address = `${hostInUrl(host)}:${port}`;
    const member: Member = {
      ...{ billing, clock, faults, ways, messages },
      peer: { id: processes.id, host: '', address },
      join: () => processes.join(address),
      resign: processes.resign,
      async stop() {
        app.server.closeAllConnections();
        await app.close();
      },
    };
    members.push(member);
    onTestFinished(async () => {
      await member.stop();
      await billing.drain();
    });
    return member;
  }

  const refresh = () => Promise.all(members.map(async ({ billing }) => billing.handOver?.refresh()));
  for (let n = 0; n < count; n += 1) await (await start()).join();
  // A busy machine may answer a probe too late.
  while (members.some(({ ways }) => ways['answering'] !== count - 1)) await refresh();
  const first = members[0] as Member;
  await first.billing.openWallets(partnerId);
  const memo = { reference: 'opening', audit: auditOf('opening') };
  await first.billing.manualEntries.fund(walletId, 100_000, memo);
  await first.billing.manualEntries.setCaps(
    walletId,
    { perMinute: 100_000, perHour: 100_000 },
    auditOf('caps'),
  );
  for (const { ways, messages } of members) {
    Object.assign(ways, { own: 0, answered: 0, requests: 0 });
    messages.length = 0;
  }

  return {
    db,
    members,
    refresh,
    start,
    /** The process that writes the wallet, and the other processes. */
    async roles(): Promise<{ writer: Member; others: Member[] }> {
      const own = await Promise.all(
        members.map(async (member, n) => {
          const before = member.ways['own'] ?? 0;
          await member.billing.charges.charge(orderOf(`role of ${n} ${Math.random()}`), () => undefined);
          return (member.ways['own'] ?? 0) > before;
        }),
      );
      const writer = members[own.indexOf(true)] as Member;
      return { writer, others: members.filter((member) => member !== writer) };
    },
    ledger: () => soundLedger(db, walletId),
  };
}
export type Fleet = Awaited<ReturnType<typeof startFleet>>;
