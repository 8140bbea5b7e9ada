import { setTimeout as sleep } from 'node:timers/promises';
import type { Document } from 'mongodb';
import type { Random } from '../../simulation/random.ts';
import { type CodeName, MemberError } from './errors.ts';
import { addTo, type Footprint, footprintOf, hasChanged, namespaceOf, upsertedIn } from './footprint.ts';
import { createMutex, createReadWriteLock } from './lock.ts';
import { readContents, type State, writeContents } from './states.ts';
import { decode, numberOf } from './wire.ts';

/** The reply to a retryable write, for a driver that sends it again. It is as durable as the write itself. */
interface Remembered {
  txnNumber: number;
  reply: Document;
  position: number;
}

/** By session. */
export type Memory = Map<string, Remembered>;

interface Settings {
  local: State;
  committed: State;
  /** The position of the last committed write. */
  position: number;
  memory: Memory;
  random: Random;
  /** The time between two steps of the commit point, in milliseconds. */
  stepEvery: readonly [number, number];
  /** Called with the changes of a step of the commit point. */
  onCommit: (footprint: Footprint) => void;
}

interface Waiter {
  position: number;
  /** Called with the reason why no majority has the write; with undefined if a majority has it. */
  settle: (failure: CodeName | undefined) => void;
}

/** The result of a write. */
export interface Done {
  reply: Document;
  /** Resolves to the reason why the write is not acknowledged; undefined if a majority has the write. */
  majority: () => Promise<CodeName | undefined>;
}

/** The longest time in milliseconds between a step of the commit point and its acknowledgement. */
const acknowledgedWithinMs = 2;

/**
 * Creates the history of one primary: its own state, the committed state, and the commit point between them. Writes are
 * sequential. Each step of the commit point sets the committed state to the present state of the primary.
 */
export function createBranch({ local, committed, position, memory, random, stepEvery, onCommit }: Settings) {
  const inTurn = createMutex();
  const snapshot = createReadWriteLock();
  let dirty: Footprint = new Map();
  let applied = position;
  let commitPoint = position;
  /** The positions of writes with changes that are not committed yet. */
  let tail: number[] = [];
  let waiters: Waiter[] = [];
  let failing: CodeName | undefined;
  let isPaused = false;
  let hasEnded = false;

  const assertPrimary = () => {
    if (hasEnded) throw new MemberError('NotWritablePrimary');
  };

  /** Resolves when a majority has every write up to `at`. */
  function majority(at: number): Promise<CodeName | undefined> {
    return new Promise((settle) => {
      if (hasEnded) settle('InterruptedDueToReplStateChange');
      else if (failing) settle(failing);
      else waiters.push({ position: at, settle });
    });
  }

  async function apply(command: Document, forwarded: Document): Promise<Document> {
    const [name = ''] = Object.keys(command);
    const ids = await footprintOf(local.engine, command);
    const reply = decode(await local.engine.send(forwarded));
    if (numberOf(reply['ok']) !== 1) return reply;
    addTo(dirty, namespaceOf(command, name), [...ids, ...upsertedIn(reply)]);
    applied += 1;
    if (hasChanged(name, reply)) tail.push(applied);
    return reply;
  }

  /** @param forwarded the command for an engine */
  function write(command: Document, forwarded: Document): Promise<Done> {
    const session = command['txnNumber'] === undefined ? undefined : JSON.stringify(command['lsid']);
    const txnNumber = numberOf(command['txnNumber']);
    return inTurn(async () => {
      assertPrimary();
      const known = session === undefined ? undefined : memory.get(session);
      if (known && known.txnNumber === txnNumber) {
        return { reply: known.reply, majority: () => majority(known.position) };
      }
      const reply = await apply(command, forwarded);
      const at = applied;
      if (session !== undefined && numberOf(reply['ok']) === 1)
        memory.set(session, { txnNumber, reply, position: at });
      return { reply, majority: () => majority(at) };
    });
  }

  const stepping = createMutex();

  /** Moves the commit point to the primary's present state, without a notice to writers. */
  const advance = (): Promise<void> =>
    stepping(async () => {
      const taken = await inTurn(async () => {
        const contents = { footprint: dirty, documents: await readContents(local, dirty), at: applied };
        dirty = new Map();
        return contents;
      });
      if (taken.at === commitPoint) return;
      await snapshot.write(() => writeContents(committed, taken.documents));
      commitPoint = taken.at;
      tail = tail.filter((at) => at > commitPoint);
      onCommit(taken.footprint);
    });

  function acknowledge(): void {
    const due = waiters.filter((waiter) => waiter.position <= commitPoint);
    waiters = waiters.filter((waiter) => waiter.position > commitPoint);
    for (const { settle } of due) settle(undefined);
  }

  function fail(codeName: CodeName): void {
    for (const { settle } of waiters.splice(0)) settle(codeName);
  }

  async function commit(): Promise<void> {
    // `hasEnded` and `isPaused` may change during each wait.
    const isEnded = () => hasEnded;
    while (!isEnded()) {
      await sleep(random.int(...stepEvery));
      if (!isPaused) await advance();
      if (random.chance(0.5)) await sleep(random.int(1, acknowledgedWithinMs));
      if (!isPaused && !isEnded()) acknowledge();
    }
  }
  const committing = commit();

  return {
    local,
    committed,
    write,
    advance,
    majority: () => majority(applied),
    /** Runs a read on the committed state. */
    readCommitted: <T>(read: () => Promise<T>): Promise<T> => snapshot.read(read),
    /** Resolves when no write is acknowledged any more. Then only `advance` moves the commit point. */
    async pause(): Promise<void> {
      isPaused = true;
      await stepping(async () => undefined);
    },
    /** Makes every wait for a majority fail from now on. */
    failWriteConcern(codeName: CodeName): void {
      failing = codeName;
      fail(codeName);
    },
    /** Resolves when the branch accepts no more writes and none is running. All waits for a majority have failed. */
    async end(codeName: CodeName): Promise<void> {
      hasEnded = true;
      fail(codeName);
      await inTurn(async () => undefined);
      await committing;
      await stepping(async () => undefined);
      fail(codeName);
    },
    hasEnded: () => hasEnded,
    commitPoint: () => commitPoint,
    /** The number of uncommitted writes. */
    uncommitted: () => tail.length,
    dirty: () => dirty,
    /** Returns the replies to committed writes. A successor knows no others. */
    committedMemory: (): Memory => new Map([...memory].filter(([, { position: at }]) => at <= commitPoint)),
  };
}
export type Branch = ReturnType<typeof createBranch>;
