import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../server/platform/database/connect.ts';
import {
  createPartner,
  exchangeCode,
  type TestPartner,
  type Verified,
  verifyUser,
} from '../harness/partner.ts';
import { within } from '../harness/time-limits.ts';
import { createServerProcess, type ServerProcess } from '../platform/server-process.ts';
import { soundLedger } from './ledger-snapshot.ts';

/** The processes to kill during the exchanges, in order. */
const victims = ['server', 'server', 'database'] as const;
const codesPerCrash = 12;
const funds = 100_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Answer {
  status: number;
  access_token?: string;
  error_description?: string;
}

/** An exchange as a partner's server sends it; undefined if the connection broke. */
async function exchange(
  server: ServerProcess,
  partner: TestPartner,
  of: Verified,
): Promise<Answer | undefined> {
  try {
    const response = await exchangeCode(server, partner, of);
    return { status: response.status, ...((await response.json()) as object) };
  } catch {
    return undefined;
  }
}

async function newPartner({ admin }: ServerProcess): Promise<TestPartner> {
  const partner = await createPartner({ admin }, { funds, client: { tokenRequestsPerMinute: 1_000_000 } });
  const { partnerId } = partner;
  await admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 100_000, perHour: 100_000 });
  return partner;
}

describe('a server and its database, killed during exchanges', () => {
  it('leave each paid token valid, one charge for each code, and a balance equal to the sum of entries', {
    timeout: within(90_000),
  }, async () => {
    const server = await createServerProcess();
    await server.start();
    const partner = await newPartner(server);
    const verifications = await Promise.all(
      Array.from({ length: victims.length * codesPerCrash }, () => verifyUser(server, partner)),
    );
    const tokens = new Map<Verified, string>();
    const keep = (of: Verified, answer: Answer | undefined) => {
      if (answer?.access_token) tokens.set(of, answer.access_token);
    };

    async function kill(victim: (typeof victims)[number]): Promise<void> {
      if (victim === 'database') process.kill(server.databasePid(), 'SIGKILL');
      else expect(await server.end('SIGKILL')).toBe('SIGKILL');
    }

    for (const [n, victim] of victims.entries()) {
      const batch = verifications.slice(n * codesPerCrash, (n + 1) * codesPerCrash);
      let killed: Promise<void> | undefined;
      const calls = [...batch, ...batch].map(async (each) => {
        const answer = await exchange(server, partner, each);
        keep(each, answer);
        if (victim === 'database') expect([200, 400, 503]).toContain(answer?.status);
        // After the first answer, other exchanges are running.
        killed ??= pause(n * 4).then(() => kill(victim));
      });
      await Promise.all(calls);
      await killed;
      if (victim === 'server') await server.start();
      else await server.ready();
    }

    const lost = new Set<string>();
    async function tryAgain(these: readonly Verified[]): Promise<void> {
      for (const each of these.filter((one) => !tokens.has(one))) {
        const again = await exchange(server, partner, each);
        keep(each, again);
        const [, charge] =
          /already used at \S+; charge (txn_\w+)$/.exec(again?.error_description ?? '') ?? [];
        if (charge) lost.add(charge);
        else expect(again?.status).toBe(200);
      }
    }
    const { client, db } = await connect({ uri: server.databaseUri(), embedded: true, appName: 'test' });
    onTestFinished(() => client.close());
    await tryAgain(verifications);
    expect(tokens.size + lost.size).toBe(verifications.length);
    const { state, charges, entries } = await soundLedger(db, `${partner.partnerId}:test`);

    expect(charges).toHaveLength(verifications.length);
    expect(new Set(charges.map(({ grant }) => grant?.sessionId)).size).toBe(verifications.length);
    for (const charge of lost) expect(charges.map(({ id }) => id)).toContain(charge);
    expect(state.balance).toBe(funds - 50 * verifications.length);
    expect(entries).toHaveLength(1 + verifications.length);

    // Answers from before a crash stay valid after it.
    for (const token of tokens.values()) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers })).status).toBe(200);
    }
    await server.end('SIGTERM');
  });
});
