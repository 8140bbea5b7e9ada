import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { completeSession } from '../../harness/completed-session.ts';
import {
  createPartner,
  exchangeCode,
  type TestPartner,
  type Verified,
  verifyUser,
} from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { startProxy } from '../../proofs/faults/proxy.ts';

// Two servers with one database. The first runs a hosted flow, the second an operator's command. One server is paused
// before each of its database commands in turn. The other server then runs completely, and the paused one continues.
// The quick tier tries every third command.

type Proxy = Awaited<ReturnType<typeof startProxy>>;
interface Side {
  server: TestServer;
  proxy: Proxy;
}

const clock = manualClock();
const collections = ['users', 'enrollments', 'sessions'];
const step = inject('thorough') ? 1 : 3;
/** No server sends more commands than this during one run. */
const mostCommands = 40;
/** Milliseconds after an erasure until its second pass is due. */
const secondLook = 61_000;

let flows: Side;
let support: Side;

/** The first server creates the database, and the second one uses the same. */
async function startSide(uri?: string): Promise<Side> {
  const engine = new URL(inject('mongodbUri'));
  const proxy = await startProxy(Number(engine.port));
  const through = (own: string) => {
    const address = new URL(uri ?? own);
    address.port = String(proxy.port);
    return address.href;
  };
  const env = { SVC_STARTS_PER_MINUTE: '100000' };
  const server = await startTestServer({ clock, env, through, replacements: { sweepsByHand: true } });
  return { server, proxy };
}

beforeAll(async () => {
  flows = await startSide();
  support = await startSide(flows.server.uri);
});
afterAll(async () => {
  for (const side of [support, flows]) {
    await side.server.stop();
    await side.proxy.close();
  }
});

const db = () => flows.server.db;

/**
 * Pauses `side` before the `hit`-th command of `work`, and runs `other` at that moment.
 * @returns undefined if there are fewer commands
 */
async function runPaused<T, O>(
  { proxy }: Side,
  { hit, work, other }: { hit: number; work: () => Promise<T>; other: () => Promise<O> },
): Promise<{ worked: T; other: O } | undefined> {
  const isOfFlow = { matches: ({ collection }: { collection: string }) => collections.includes(collection) };
  const paused = proxy.arm([{ ...isOfFlow, action: { do: 'pause' } }], hit);
  const working = work();
  working.catch(() => undefined);
  const isPaused = await Promise.race([
    paused.met.then(() => true),
    working.then(
      () => false,
      () => false,
    ),
  ]);
  proxy.disarm();
  if (!isPaused) {
    await working;
    return undefined;
  }
  try {
    const done = await other();
    await paused.release();
    return { worked: await working, other: done };
  } finally {
    await paused.release();
  }
}

/** Waits until no session or enrollment has follow-up work. */
async function waitForFollowUp(): Promise<void> {
  const due = { $or: [{ outboxAt: { $exists: true } }, { enrollmentDueAt: { $exists: true } }] };
  const left = async () => {
    await flows.server.sweep();
    const counts = ['sessions', 'enrollments'].map((name) => db().collection(name).countDocuments(due));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  clock.advance(6_000);
  await expect.poll(left).toBe(0);
}

async function exchange(
  partner: TestPartner,
  { code, codeVerifier }: Verified,
): Promise<{ refused?: string | undefined; sub?: string }> {
  const answer = await exchangeCode(flows.server, partner, { code, codeVerifier });
  const body = (await answer.json()) as { access_token?: string; error?: string };
  if (body.access_token === undefined) return { refused: body.error };
  const headers = { authorization: `Bearer ${body.access_token}` };
  const userinfo = await fetch(`${flows.server.baseUrl}/api/oauth/userinfo`, { headers });
  return (await userinfo.json()) as { sub?: string };
}

interface Person {
  userId: string;
  enrollmentId: string;
  sub: string;
}

/** Verifies a user. @returns the user, with the enrollment at this partner */
async function enroll(partner: TestPartner): Promise<Person> {
  await completeSession(flows.server, partner);
  const enrollment = await db()
    .collection<{ _id: string; userId: string; sub: string }>('enrollments')
    .findOne({ partnerId: partner.partnerId });
  if (!enrollment) throw new Error('the user has no enrollment');
  return { userId: enrollment.userId, enrollmentId: enrollment._id, sub: enrollment.sub };
}

/** Returns the broken references and the duplicates among the partner's records. */
async function findInconsistencies({ partnerId }: TestPartner): Promise<string[]> {
  const of = <T extends { _id: string }>(name: string) =>
    db()
      .collection<T>(name)
      .find({ partnerId } as never)
      .toArray();
  const [sessions, enrollments, events] = await Promise.all([
    of<{ _id: string; status: string; userId?: string; enrollmentId?: string }>('sessions'),
    of<{ _id: string; userId: string; firstSession: string }>('enrollments'),
    of<{ _id: string; type: string; body: string }>('events'),
  ]);
  const users = await db().collection<{ _id: string }>('users').distinct('_id');
  const complete = sessions.filter(({ status, userId }) => status === 'complete' && userId !== undefined);
  const created = events.filter(({ type }) => type === 'enrollment.created').map(({ body }) => body);
  return [
    ...complete.filter(({ userId = '' }) => !users.includes(userId)).map(() => 'a session without its user'),
    ...complete
      .filter(({ enrollmentId }) => !enrollments.some(({ _id }) => _id === enrollmentId))
      .map(() => 'a session without its enrollment'),
    ...enrollments
      .filter(({ userId }) => !users.includes(userId))
      .map(() => 'an enrollment without its user'),
    ...enrollments
      .map(({ _id }) => created.filter((body) => body.includes(_id)).length)
      .filter((count) => count !== 1)
      .map((count) => `${count} events enrollment.created`),
    ...(new Set(enrollments.map(({ userId }) => userId)).size === enrollments.length
      ? []
      : ['a user enrolled twice']),
  ];
}

/** Returns the collections that contain the user's id or subject. The audit log keeps the id, so it is left out. */
async function tracesOf({ userId, sub }: Person): Promise<string[]> {
  const names = (await db().listCollections().toArray())
    .map(({ name }) => name)
    .filter((name) => name !== 'auditLog');
  const found = await Promise.all(
    names.map(async (name) => {
      const text = JSON.stringify(await db().collection(name).find().toArray());
      return [userId, sub].some((one) => text.includes(one)) ? [name] : [];
    }),
  );
  return found.flat();
}

const erase = ({ userId }: Person) => support.server.admin.users.erase.mutate({ userId });
const block = ({ enrollmentId }: Person) =>
  support.server.admin.enrollments.block.mutate({ enrollmentId, reason: 'reported' });

type Command = (person: Person) => Promise<unknown>;
interface Run {
  partner: TestPartner;
  person: Person;
  verified: Verified;
}

/** Pauses each side before every `step`-th of its commands. @returns the number of the last command of each side that was paused */
async function eachInterleaving(command: Command, check: (run: Run) => Promise<void>) {
  const last = { flow: 0, command: 0 };
  for (const paused of ['flow', 'command'] as const) {
    for (let hit = 1; hit <= mostCommands; hit += step) {
      const partner = await createPartner(flows.server);
      const person = await enroll(partner);
      const flow = () => verifyUser(flows.server, partner);
      const run =
        paused === 'flow'
          ? await runPaused(flows, { hit, work: flow, other: () => command(person) }).then(
              (both) => both?.worked,
            )
          : await runPaused(support, { hit, work: () => command(person), other: flow }).then(
              (both) => both?.other,
            );
      if (!run) break;
      last[paused] = hit;
      try {
        await check({ partner, person, verified: run });
      } catch (error) {
        throw new Error(`paused before command ${hit} of the ${paused}: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
  }
  return last;
}

describe("a hosted flow interleaved with an operator's command", () => {
  it('leaves no data and no valid code of a user whom the command erases during the flow', {
    timeout: within(240_000),
  }, async () => {
    const last = await eachInterleaving(erase, async ({ partner, person, verified }) => {
      const granted = verified.code ? await exchange(partner, verified) : undefined;
      expect(granted?.sub).not.toBe(person.sub);
      await waitForFollowUp();
      clock.advance(secondLook);
      await flows.server.sweep();
      await flows.server.sweep();
      expect(await tracesOf(person)).toEqual([]);
      expect(await findInconsistencies(partner)).toEqual([]);
    });
    expect(last.flow).toBeGreaterThanOrEqual(10);
    expect(last.command).toBeGreaterThanOrEqual(5);
  });

  it('completes if the command blocks the enrollment, and the exchange is refused with access_denied', {
    timeout: within(240_000),
  }, async () => {
    const last = await eachInterleaving(block, async ({ partner, verified }) => {
      expect(verified.code).toMatch(/^svc_code_/);
      expect(await exchange(partner, verified)).toEqual({ refused: 'access_denied' });
      await waitForFollowUp();
      expect(await findInconsistencies(partner)).toEqual([]);
    });
    expect(last.flow).toBeGreaterThanOrEqual(10);
    expect(last.command).toBeGreaterThanOrEqual(2);
  });
});
