import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultPace } from '../../../server/platform/config/pace.ts';
import { createPartner, type TestPartner, verifyUser } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';

/** Counts the commands from the server to its database, by collection and name. */
const commands = new Map<string, number>();
/** The collections of caches. Commands to them are not sent for each flow. */
const cached = ['clients', 'partners', 'integrations'];
/** Longer than the test, so that it counts no polls for jobs and no records of requests. A busy machine has more of them. */
const never = 3_600_000;
let server: TestServer;
let partner: TestPartner;

beforeAll(async () => {
  server = await startTestServer({
    // A flow without scripts sends the same requests, with or without passkeys.
    env: { SVC_STARTS_PER_MINUTE: '499', SVC_PASSKEYS: 'on' },
    replacements: { sweepsByHand: true, pace: { ...defaultPace, jobsEvery: never, requestsEvery: never } },
    onCommand({ commandName, command }) {
      const collection: string = command[commandName];
      // The first count of a minute is an insert and the others are updates, so one name counts them all.
      const name = collection === 'requestWindows' ? collection : `${collection}.${commandName}`;
      commands.set(name, (commands.get(name) ?? 0) + 1);
    },
  });
  partner = await createPartner(server);
});
beforeEach(async () => {
  await verifyUser(server, partner, 'adult');
  await waitForFollowUp();
  commands.clear();
});
afterAll(() => server.stop());

/** Waits until all effects of the flows are written. */
async function waitForFollowUp(): Promise<void> {
  const unsettled = { $or: [{ outboxAt: { $exists: true } }, { enrollmentDueAt: { $exists: true } }] };
  const left = () => server.db.collection('sessions').countDocuments(unsettled);
  await expect.poll(left).toBe(0);
}

/** Counts commands per flow, in total and by name. A name with less than one per flow is only in the total. */
async function measure(person: string, { flows, inFlight }: { flows: number; inFlight: number }) {
  let left = flows;
  const client = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      expect((await verifyUser(server, partner, person)).code).toMatch(/^svc_code_/);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, client));
  await waitForFollowUp();
  const rows = [...commands].map(([name, count]) => [name, count / flows] as const);
  const regular = rows.filter(([name]) => !cached.includes(name.split('.')[0] ?? ''));
  return {
    all: rows.reduce((sum, [, count]) => sum + count, 0),
    each: Object.fromEntries(
      regular.map(([name, count]) => [name, Math.floor(count)] as const).filter(([, count]) => count > 0),
    ),
  };
}

/** The commands of every flow: the start, three pages, consent, authentication, the code and the publication. */
const common = {
  requestWindows: 1,
  'apiKeys.find': 1,
  // The publication reads the key with its partner.
  'apiKeys.aggregate': 1,
  'sessions.insert': 1,
  'sessions.find': 4,
  'sessions.update': 4,
  'users.aggregate': 1,
  'users.find': 1,
  'enrollments.find': 1,
  'events.insert': 1,
  'deliveries.insert': 1,
};

describe('the database commands of a hosted flow', () => {
  it('are 19 for the flow of a new user', async () => {
    const { each } = await measure('new-adult', { flows: 10, inFlight: 1 });
    expect(each).toEqual({ ...common, 'users.insert': 1, 'enrollments.insert': 1 });
  });

  it('are 17 for the flow of a returning user, without a write to the user or the enrollment', async () => {
    const { each } = await measure('adult', { flows: 10, inFlight: 1 });
    expect(each).toEqual(common);
  });

  it('are fewer than 4 per flow if 32 flows of new users run simultaneously', async () => {
    const { all } = await measure('new-adult', { flows: 128, inFlight: 32 });
    expect(all).toBeLessThan(4);
  });
});
