import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMemberProcedures } from '../../../server/partners/members/admin.ts';
import { createMembersStores, type MembersStores } from '../../../server/partners/members/store.ts';
import type { AdminContext } from '../../../server/platform/admin-api/procedures.ts';
import { auditEntry } from '../../../server/platform/database/audit/audit-entry.ts';
import { deriveId } from '../../../server/platform/ids.ts';
import { connectAgain, preparedDatabase } from '../../harness/database.ts';
import { manualClock } from '../../harness/server.ts';

const clock = manualClock();
const idKey = new Uint8Array(32);
const anyAddress = '192.0.2.1';
let requests = 0;

/** Makes each call of a store last some milliseconds more, so that calls interleave in another order in each round. */
const delayed = <S extends object>(store: S): S =>
  new Proxy(store, {
    get(target, name: keyof S & string) {
      const call = target[name];
      if (typeof call !== 'function') return call;
      return async (...input: unknown[]) => {
        await pause(Math.random() * 20);
        const result = await call.apply(target, input);
        await pause(Math.random() * 20);
        return result;
      };
    },
  });

/** The procedures of one process. */
function processOn(stores: MembersStores) {
  const procedures = createMemberProcedures({
    stores: Object.fromEntries(
      Object.entries(stores).map(([name, store]) => [name, delayed(store)]),
    ) as MembersStores,
    isOn: true,
    clock,
    idKey,
    requirePartner: async () => undefined,
    baseUrl: 'http://localhost',
    auditEntriesOf: async () => [],
    mailOwners: async () => undefined,
  });
  return (memberId: string, partnerId: string) => {
    requests += 1;
    const operator = { id: memberId, name: 'member (owner)', role: 'ops' as const, partnerId };
    const bindInput: AdminContext['bindInput'] = async (_path, input) => input;
    return procedures.createCaller({
      operator,
      requestId: `req_${requests}`,
      address: anyAddress,
      bindInput,
    });
  };
}

/** Inserts an active member without the passkey that sign-in would need. */
async function addMember({ members }: MembersStores, partnerId: string, role: 'owner' | 'viewer') {
  requests += 1;
  const email = `${requests}@shop.example`;
  const id = deriveId(idKey, 'member', [partnerId, email]);
  const actor = {
    operatorId: 'o',
    operatorName: 'o',
    action: 'a',
    requestId: `req_${requests}`,
    address: '',
  };
  const fields = { _id: id, partnerId, email, role, status: 'active' as const, invitedBy: 'o' };
  const createdAt = new Date(clock.now());
  await members.insert({ ...fields, createdAt }, auditEntry(actor, { id, at: clock.now() }, {}));
  return { id, email };
}

describe('a partner with two owners', () => {
  for (const processes of [1, 2])
    it(`keeps an active owner in 40 rounds in which both end each other and change a viewer, on ${processes} process(es)`, async () => {
      const { db } = await preparedDatabase();
      const second = await connectAgain(db);
      onTestFinished(() => second.client.close());
      const stores = createMembersStores(db);
      const first = processOn(stores);
      const other = processes === 1 ? first : processOn(createMembersStores(second.db));
      const play = async (round: number) => {
        const partnerId = `ptr_${round}`;
        const [one, two] = [
          await addMember(stores, partnerId, 'owner'),
          await addMember(stores, partnerId, 'owner'),
        ];
        const viewers = [
          await addMember(stores, partnerId, 'viewer'),
          await addMember(stores, partnerId, 'viewer'),
        ];
        const end = (by: ReturnType<typeof first>, { id: memberId, email }: typeof one) =>
          [
            () => by.remove({ memberId }),
            () => by.setRole({ memberId, role: 'viewer' }),
            () => by.invite({ partnerId, email, role: 'viewer' }),
          ][round % 3]?.();
        const change = (by: ReturnType<typeof first>, index: number) =>
          by.setRole({ memberId: viewers[index]?.id ?? '', role: 'finance' });
        const calls = [
          () => change(first(one.id, partnerId), 0),
          () => end(first(one.id, partnerId), two),
          () => change(other(two.id, partnerId), 1),
          () => end(other(two.id, partnerId), one),
        ];
        await Promise.allSettled(
          calls.map(async (call) => {
            await pause(Math.random() * 20);
            await call();
          }),
        );
        const owners = await stores.members.list(
          { partnerId, role: 'owner', status: 'active' },
          { limit: 5 },
        );
        return owners.length;
      };
      const ends: number[] = [];
      // Ten rounds together: with more, each call waits so long for the processor that all calls conflict.
      for (let round = 0; round < 40; round += 10)
        ends.push(...(await Promise.all(Array.from({ length: 10 }, (_, index) => play(round + index)))));
      expect(ends.filter((owners) => owners === 0)).toEqual([]);
      expect(ends.includes(1)).toBe(true);
    });
});
