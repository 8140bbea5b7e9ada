import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Environment } from './environment.ts';
import { inject } from './injection.ts';
import type { MessagePoint } from './message-points.ts';
import type { Attempt } from './money-run.ts';
import { createPartner, operatorAt, type Partner } from './partner.ts';
import { afterwards, eventually, firstOf, retry } from './retry.ts';

/** The result of a run of operators' commands. All numbers except `changes` and `answers` should be 0. */
export type AdminFindings = Record<
  'changes' | 'answers' | 'unrecorded' | 'invented' | 'undone' | 'waiting',
  number
> & { other: string[] };

interface RecordDocument {
  _id: string;
  name?: string;
  partnerId?: string;
  revision: number;
  auditAt?: Date;
}

interface LogDocument {
  _id: string;
  action: string;
  target: string | null;
  requestId: string;
}

const collections = ['partners', 'apiKeys', 'clients'] as const;
/** The number of commands of each kind. They are sent almost simultaneously. */
const rounds = 3;
/** The smallest funding of a wallet in cents. */
const funds = 5_000;
const backgroundWaitMs = 300;
const longestWaitMs = 25_000;
const sweepEveryMs = 100;

/**
 * Sends commands that create or change records, and repeats each until it is answered.
 * @returns the number of answers
 */
async function operate(environment: Environment, { partnerId, clientId }: Partner, name: string) {
  const { partners, keys, clients } = operatorAt(environment);
  const numbers = Array.from({ length: rounds }, (_, n) => n);
  const inTurn = async () => {
    for (const n of numbers) await retry(() => clients.update.mutate({ clientId, name: `${name} ${n}` }));
  };
  await Promise.all([
    ...numbers.map((n) => retry(() => partners.create.mutate({ name: `${name} ${n}` }))),
    retry(() => keys.create.mutate({ partnerId, mode: 'test' })),
    inTurn(),
  ]);
  return 2 * rounds + 1;
}

/** Reads the records of the run: those of the partner, and the partners that the run created. */
async function recordsOf(db: Db, { partnerId }: Partner, name: string): Promise<RecordDocument[]> {
  const own = { $or: [{ _id: partnerId }, { partnerId }, { name: { $regex: `^${name} ` } }] };
  const found = await Promise.all(
    collections.map((collection) => db.collection<RecordDocument>(collection).find(own).toArray()),
  );
  return found.flat();
}

async function findFaults(db: Db, partner: Partner, name: string): Promise<Omit<AdminFindings, 'answers'>> {
  const records = await recordsOf(db, partner, name);
  const log = await db
    .collection<LogDocument>('auditLog')
    .find({ action: { $in: ['partners.create', 'keys.create', 'clients.create', 'clients.update'] } })
    .toArray();
  const all = await Promise.all(
    collections.map((each) =>
      db
        .collection<RecordDocument>(each)
        .find({}, { projection: { _id: 1 } })
        .toArray(),
    ),
  );
  const known = new Set(all.flat().map(({ _id }) => _id));
  // Every change increments the record's revision, and its audit entry names the request and the record.
  const entriesOf = async ({ _id }: RecordDocument) =>
    db.collection<LogDocument>('auditLog').countDocuments({ _id: { $regex: `:${_id}$` }, target: _id });
  const counts = await Promise.all(
    records.map(async (record) => ({ due: record.revision, found: await entriesOf(record) })),
  );
  const made = records.filter((record) => record.name?.startsWith(`${name} `) && !record.partnerId);
  const names = new Set(made.map((record) => record.name));
  const client = records.find(({ _id }) => _id === partner.clientId);
  const sum = (of: (count: { due: number; found: number }) => number) =>
    counts.reduce((total, count) => total + Math.max(0, of(count)), 0);
  return {
    changes: counts.reduce((total, { due }) => total + due, 0),
    unrecorded: sum(({ due, found }) => due - found),
    invented:
      sum(({ due, found }) => found - due) +
      log.filter(({ target, _id }) => !known.has(target ?? '') || !_id.includes(':')).length,
    undone: rounds - names.size + (client?.name === `${name} ${rounds - 1}` ? 0 : 1),
    waiting: records.filter(({ auditAt }) => auditAt !== undefined).length,
    other: [],
  };
}

/**
 * Does one run: sends operators' commands for a new partner, with one fault.
 * @returns undefined if the fault did not occur, so that the run does not count
 */
export async function runAdmin(
  environment: Environment,
  { point: { fault }, run, hit }: Attempt<MessagePoint>,
): Promise<AdminFindings | undefined> {
  const { db, worker } = environment;
  const partner = await createPartner(environment, { funds });
  const name = `Kino ${run} ${partner.partnerId}`;
  const injected = await inject(fault, environment, hit);
  const work = operate(environment, partner, name);
  await firstOf(injected.fired, afterwards(work, backgroundWaitMs));
  const fired = injected.hasFired();
  await injected.recover();
  const answers = await work;
  worker.proxy.disarm();

  const isCopied = async () => {
    await environment.sweep();
    await sleep(sweepEveryMs);
    const records = await retry(() => recordsOf(db, partner, name));
    return records.every(({ auditAt }) => auditAt === undefined);
  };
  await eventually(isCopied, longestWaitMs);
  await injected.release();
  await eventually(isCopied, longestWaitMs);
  const findings = await retry(() => findFaults(db, partner, name));
  return fired ? { ...findings, answers } : undefined;
}
