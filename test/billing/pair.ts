import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomId } from '../../server/platform/ids.ts';
import { codeOf, presentedCode } from '../../server/verification/session/code.ts';
import type { Session } from '../../server/verification/session/session.ts';
import { type Code, createPartner, exchangeCode, type TestPartner, verifyUser } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { momentAt } from '../oauth/oauth-server.ts';
import { soundLedger } from './ledger-snapshot.ts';

const mostTries = 5;

type CreateOptions = NonNullable<Parameters<typeof createPartner>[1]>;

/** Copies the completed session of a code. @returns the codes of the copies, in the order of their creation */
async function copyCode({ db }: TestServer, { code, codeVerifier }: Code, count: number): Promise<Code[]> {
  const sessions = db.collection<Session>('sessions');
  const session = await sessions.findOne({ _id: presentedCode(code).sessionId ?? '' });
  if (!session?.code) throw new Error('the session of the code is not complete');
  // Work that is left for the original is not repeated for a copy.
  const { outboxAt: _published, enrollmentDueAt: _enrolled, code: issued, ...copied } = session;
  const codes = Array.from({ length: count }, () => {
    const _id = randomId('session');
    return { _id, code: codeOf(randomBytes(32), _id) };
  });
  await sessions.insertMany(
    codes.map((copy) => ({
      ...copied,
      _id: copy._id,
      returning: true,
      outbox: [],
      code: { ...issued, hash: presentedCode(copy.code).hash },
    })),
  );
  return codes.map((copy) => ({ code: copy.code, codeVerifier }));
}

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

    verifyUser: (partner: TestPartner, person?: string) => verifyUser(first, partner, person),
    /** Returns codes of one user. Only the first one is of a hosted flow, because each flow takes 100 ms. */
    async verifyUsers(partner: TestPartner, count: number): Promise<Code[]> {
      const verified = await verifyUser(first, partner);
      return count === 1 ? [verified] : [verified, ...(await copyCode(first, verified, count - 1))];
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
