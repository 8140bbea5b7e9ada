import { setTimeout as sleep } from 'node:timers/promises';
import { momentAt } from '../api/oauth/oauth-server.ts';
import { completeSession } from '../harness/completed-session.ts';
import { type Code, createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { soundLedger } from './ledger-snapshot.ts';

const mostTries = 5;

type CreateOptions = NonNullable<Parameters<typeof createPartner>[1]>;

/** Two service processes with one database and one clock, as behind a load balancer. */
export async function startPair() {
  const clock = manualClock(momentAt(30, 10));
  const first = await startTestServer({ clock });
  const shared = { MONGODB_URI: first.uri, SVC_BASE_URL: first.baseUrl };
  const second = await startTestServer({ clock, env: shared });
  let turn = 0;

  async function exchangeAt({ publicUrl }: TestServer, partner: TestPartner, code: Code) {
    const response = await exchangeCode({ baseUrl: publicUrl }, partner, code);
    const body = (await response.json()) as { access_token?: string; error_description?: string };
    return { status: response.status, token: body.access_token, description: body.error_description };
  }

  return {
    clock,
    first,
    second,
    db: first.db,

    /** A partner without effective limits, until a test sets one. */
    async partner(options: CreateOptions = {}): Promise<TestPartner> {
      const partner = await createPartner(first, {
        funds: 100_000,
        ...options,
        client: { tokenRequestsPerMinute: 1_000_000, ...options.client },
      });
      const { partnerId } = partner;
      await first.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 100_000, perHour: 100_000 });
      return partner;
    },

    verifyUser: (partner: TestPartner, person?: string) => completeSession(first, partner, person),
    /** Returns codes of one user, who is enrolled by the first of them. */
    async verifyUsers(partner: TestPartner, count: number): Promise<Code[]> {
      const verified = await completeSession(first, partner);
      const others = Array.from({ length: count - 1 }, () => completeSession(first, partner));
      return [verified, ...(await Promise.all(others))];
    },

    /** One exchange, sent to the two servers in turn. A 503 of a busy machine is retried (interface 7.6). */
    async exchange(partner: TestPartner, of: Code) {
      for (let tries = 1; ; tries += 1) {
        turn += 1;
        const answer = await exchangeAt(turn % 2 ? second : first, partner, of);
        if (answer.status !== 503 || tries === mostTries) return answer;
        await sleep(500);
      }
    },
    exchangeAt,

    ledger: ({ partnerId }: TestPartner) => soundLedger(first.db, `${partnerId}:test`),

    async stop(): Promise<void> {
      await second.stop();
      await first.stop();
    },
  };
}
export type Pair = Awaited<ReturnType<typeof startPair>>;
