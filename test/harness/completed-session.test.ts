import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSession } from './completed-session.ts';
import { createPartner, exchangeCode, verifyUser } from './partner.ts';
import { startTestServer, type TestServer } from './server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Texts that every user or session has anew, without which two sessions are compared. */
const ofOne = /^(?:[a-z]{2,4}_\w{20,}|[\w-]{22}|[\w-]{43})$/;

/** The shape of a stored value: texts of one session, times and the sent body count by their kind. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (value instanceof Date) return 'time';
  if (typeof value === 'string') return ofOne.test(value) || value.startsWith('{') ? 'text' : value;
  if (typeof value !== 'object' || value === null) return value;
  // Each write has a nonce. The pages write a session several times.
  const fields = Object.entries(value)
    .filter(([name]) => name !== 'nonce')
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, of]) => [name, shapeOf(of)]));
}

/** The records of the partner's only session, when all its events are published. */
async function recordsOf(partnerId: string): Promise<unknown> {
  const { db } = server;
  const find = (collection: string, filter: Document) => db.collection(collection).find(filter).toArray();
  await expect.poll(() => find('sessions', { partnerId, outboxAt: { $exists: true } })).toEqual([]);
  const [sessions, enrollments, events] = await Promise.all([
    find('sessions', { partnerId }),
    find('enrollments', { partnerId }),
    db.collection('events').find({ partnerId }).sort({ type: 1 }).toArray(),
  ]);
  const users = await find('users', { _id: sessions[0]?.['userId'] });
  return shapeOf({ sessions, enrollments, events, users });
}

it.each(['adult', 'duplicate', 'new-adult', 'low-balance'])(
  'completeSession stores what the hosted pages store for the sandbox user %s, and the code gets the same answer',
  async (person) => {
    const [byPages, byStores] = [await createPartner(server), await createPartner(server)];
    const walked = await verifyUser(server, byPages, person);
    const stored = await completeSession(server, byStores, person);
    expect(await recordsOf(byStores.partnerId)).toEqual(await recordsOf(byPages.partnerId));
    const { status } = await exchangeCode(server, byPages, walked);
    expect((await exchangeCode(server, byStores, stored)).status).toBe(status);
  },
);

it('completeSession throws for a sandbox user whose verification fails', async () => {
  const partner = await createPartner(server);
  await expect(completeSession(server, partner, 'rejected')).rejects.toThrow('rejected');
});
