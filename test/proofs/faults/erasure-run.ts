import { setTimeout as sleep } from 'node:timers/promises';
import { isTRPCClientError } from '@trpc/client';
import type { Db, Document } from 'mongodb';
import type { AdminRouter } from '../../../server/operations/admin-router.ts';
import type { Environment } from './environment.ts';
import { type Passed, passAll, settle } from './flow-run.ts';
import { inject } from './injection.ts';
import { type Entry, isCharge } from './ledger-snapshot.ts';
import type { MessagePoint } from './message-points.ts';
import type { Attempt } from './money-run.ts';
import { createPartner, operatorAt, type Partner } from './partner.ts';
import { afterwards, eventually, firstOf, retry } from './retry.ts';

/** The result of a run of an erasure. All numbers except `erased` should be 0. */
export type ErasureFindings = Record<'erased' | 'kept' | 'traces' | 'unrecorded' | 'doubled', number> & {
  other: string[];
};

/** The users of a run. A returning user with two browsers and a new user are erased; the last user stays. */
const people = ['adult', 'new-adult', 'biometric'] as const;
const returning = ['adult'] as const;
const stays = 'biometric';
const funds = 50_000;
const backgroundWaitMs = 300;
const sweepEveryMs = 100;
const longestErasureMs = 25_000;
/** The time to wait for the request log, in milliseconds. It is longer than the delay of the log. */
const requestLogWaitMs = 1_200;

interface User {
  id: string;
  /** The strings that identify the user in any record. */
  names: string[];
}

/** Reads the user of a session, with the strings by which records identify the user. */
async function userOf(db: Db, sessionId: string): Promise<User> {
  const session = await db
    .collection<{ _id: string; userId: string }>('sessions')
    .findOne({ _id: sessionId });
  const id = session?.userId ?? '';
  const user = await db.collection<{ _id: string; identity: string }>('users').findOne({ _id: id });
  const enrollments = await db
    .collection<{ _id: string; userId: string; sub: string }>('enrollments')
    .find({ userId: id })
    .toArray();
  if (!user || enrollments.length === 0) throw new Error(`session ${sessionId} has no user who is enrolled`);
  return { id, names: [id, user.identity, ...enrollments.map(({ sub }) => sub)] };
}

/** Repeats the operator's command until it is answered, or the user is erased. */
const erase = (environment: Environment, userId: string): Promise<unknown> =>
  retry(async () => {
    try {
      await operatorAt(environment).users.erase.mutate({ userId });
    } catch (error) {
      if (!isTRPCClientError<AdminRouter>(error) || error.data?.error !== 'not_found') throw error;
    }
  });

/**
 * Finds records that still identify a user. Leaves out the audit log, which may name users whom an operator has erased.
 * @returns the collection of each record
 */
async function tracesOf(db: Db, names: readonly string[]): Promise<string[]> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const found = await Promise.all(
    collections
      .filter(({ name }) => name !== 'auditLog')
      .map(async ({ name }) => {
        const documents: Document[] = await db.collection(name).find().toArray();
        const texts = documents.map((document) => JSON.stringify(document));
        return texts.filter((text) => names.some((each) => text.includes(each))).map(() => name);
      }),
  );
  return found.flat();
}

interface Judged {
  partner: Partner;
  erased: readonly User[];
  kept: User;
  passed: readonly Passed[];
}

async function findFaults(
  { db, publicUrls }: Environment,
  { partner, erased, kept, passed }: Judged,
): Promise<ErasureFindings> {
  const [publicUrl = ''] = publicUrls;
  const users = db.collection<{ _id: string }>('users');
  const entries = await db
    .collection<{ target: string; action: string }>('auditLog')
    .find({ action: 'users.erase' })
    .toArray();
  const recorded = erased.map(({ id }) => entries.filter(({ target }) => target === id).length);
  const pages = await db
    .collection<{ entries: Entry[] }>('ledger')
    .find({ walletId: partner.walletId })
    .toArray();
  const charges = pages.flatMap((page) => page.entries).filter(isCharge).length;
  const traces = await tracesOf(
    db,
    erased.flatMap(({ names }) => names),
  );
  const claims = await Promise.all(
    passed.map(async ({ person, token }) => {
      const headers = { authorization: `Bearer ${token}` };
      const { status } = await retry(() => fetch(`${publicUrl}/api/oauth/userinfo`, { headers }));
      const due = person === stays ? 200 : 401;
      return status === due ? [] : [`userinfo answers ${status} to the token of ${person}`];
    }),
  );
  const left = await users.countDocuments({ _id: { $in: erased.map(({ id }) => id) } });
  return {
    erased: erased.length - left,
    kept: left,
    traces: traces.length,
    unrecorded: recorded.filter((count) => count === 0).length,
    doubled: recorded.filter((count) => count > 1).length,
    other: [
      ...traces.map((name) => `${name} names a person who was erased`),
      ...claims.flat(),
      ...(charges === passed.length ? [] : [`${charges} charges for ${passed.length} exchanges`]),
      ...((await users.countDocuments({ _id: kept.id })) === 1 ? [] : ['another user is gone, too']),
    ],
  };
}

/**
 * Does one run: erases users of a new partner, who have tokens and events, simultaneously and with one fault.
 * @returns undefined if the fault did not occur, so that the run does not count
 */
export async function runErasure(
  environment: Environment,
  { point: { fault }, hit }: Attempt<MessagePoint>,
): Promise<ErasureFindings | undefined> {
  const { db, worker } = environment;
  const endpoint = worker.receiver.open(0);
  const partner = await createPartner(environment, { funds, webhook: endpoint.url });
  const passed = [
    ...(await passAll(environment, partner, people)),
    ...(await passAll(environment, partner, returning)),
  ];
  const unsettled = await settle(environment, partner, endpoint);
  await sleep(requestLogWaitMs);
  const users = await Promise.all(
    passed.slice(0, people.length).map(({ sessionId }) => userOf(db, sessionId)),
  );
  const erased = users.slice(0, -1);
  const [kept] = users.slice(-1);
  if (!kept) throw new Error('no user stays');

  const injected = await inject(fault, environment, hit);
  const erasing = Promise.all(erased.map(({ id }) => erase(environment, id)));
  const work = erasing.then(() => environment.sweep()).catch(() => undefined);
  await firstOf(injected.fired, afterwards(work, backgroundWaitMs));
  const fired = injected.hasFired();
  await injected.recover();
  await erasing;
  await work;
  worker.proxy.disarm();
  const isGone = async () => {
    await environment.sweep();
    await sleep(sweepEveryMs);
    const ids = erased.map(({ id }) => id);
    return (
      (await retry(() => db.collection<{ _id: string }>('users').countDocuments({ _id: { $in: ids } }))) === 0
    );
  };
  await eventually(isGone, longestErasureMs);
  await injected.release();
  await eventually(isGone, longestErasureMs);
  const findings = await retry(() => findFaults(environment, { partner, erased, kept, passed }));
  findings.other.push(...unsettled);
  return fired ? findings : undefined;
}
