import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Code,
  createPartner,
  exchangeCode,
  type TestPartner,
  verifyUser,
} from '../../harness/partner.ts';
import type { Service } from './service.ts';

/** The answer of an exchange. */
export interface Answer {
  status: number;
  ms: number;
}

/** The number of users who get their codes at the same time. */
const users = 4;

/** A partner that exchanges codes at a steady rate, at all processes in turn. */
export async function createVictim({ server, addresses }: Service) {
  const { admin } = server;
  const partner: TestPartner = await createPartner(
    { admin },
    { name: 'Victim', funds: 10_000_000, client: { tokenRequestsPerMinute: 100_000 } },
  );
  const { partnerId } = partner;
  await admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 100_000, perHour: 100_000 });

  return {
    partner,

    async codes(count: number): Promise<Code[]> {
      const made: Code[] = [];
      const user = async (n: number) => {
        const baseUrl = addresses[n % addresses.length] ?? '';
        while (made.length < count) made.push(await verifyUser({ baseUrl }, partner));
      };
      await Promise.all(Array.from({ length: users }, (_, n) => user(n)));
      return made.slice(0, count);
    },

    /** Exchanges codes at a steady rate, even if earlier ones have no answer yet. */
    async exchange(codes: readonly Code[], everyMs: number): Promise<Answer[]> {
      const began = performance.now();
      return Promise.all(
        codes.map(async (code, at) => {
          await sleep(Math.max(0, began + at * everyMs - performance.now()));
          const sent = performance.now();
          const baseUrl = addresses[at % addresses.length] ?? '';
          const answer = await exchangeCode({ baseUrl }, partner, code);
          return { status: answer.status, ms: performance.now() - sent };
        }),
      );
    },
  };
}
