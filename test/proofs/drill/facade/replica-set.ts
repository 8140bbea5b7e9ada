import { setTimeout as sleep } from 'node:timers/promises';
import type { Document } from 'mongodb';
import type { Random } from '../../simulation/random.ts';
import { type Branch, createBranch, type Memory } from './branch.ts';
import { startEngines } from './engines.ts';
import type { CodeName } from './errors.ts';
import { type Footprint, merge } from './footprint.ts';
import { createMutex } from './lock.ts';
import { createMember, type Member, setName } from './member.ts';
import { align, type State } from './states.ts';

export const electionKinds = ['crash', 'step-down', 'write-concern', 'deposed'] as const;
export type ElectionKind = (typeof electionKinds)[number];

/** The result of one election. */
export interface Election {
  kind: ElectionKind;
  /** The number of writes that were made and rolled back. */
  rolledBack: number;
  /** Whether there were committed writes with a lost acknowledgement. */
  hasSilentCommits: boolean;
}

/** The range of a random time, in milliseconds. */
type Range = readonly [number, number];
const times = {
  /** The time without a primary. */
  gap: [20, 400],
  /** The time in which a deposed primary still answers. */
  deposed: [200, 1_500],
  /** The time after a step-down until a connection learns of it. */
  news: [0, 300],
  /** The time until a crashed process starts again. */
  restart: [100, 600],
  /** The time in which every write concern fails. */
  failing: [50, 400],
} as const satisfies Record<string, Range>;

/** The parameters of elections. */
export interface Plan {
  kinds: readonly ElectionKind[];
  /** The time between the last acknowledged write and the end of the primary. */
  lag: Range;
  /** The share of elections with a long time without a primary. */
  longGaps: number;
  /** A long time without a primary. It is around two limits: pages are fenced after 1.5 s, and a server waits 3 s for a primary. */
  longGap: Range;
  /** The time between two steps of the commit point. */
  stepEvery: Range;
}
const usualPlan: Plan = {
  kinds: electionKinds,
  lag: [30, 350],
  longGaps: 0.12,
  longGap: [1_600, 7_000],
  stepEvery: [1, 6],
};

/** The errors of failed write concerns. A primary that stays primary times out. The others are of a primary that is about to end. */
const failedWriteConcerns: readonly [CodeName, ...CodeName[]] = [
  'WriteConcernTimeout',
  'WriteConcernTimeout',
  'WriteConcernTimeout',
  'PrimarySteppedDown',
  'ShutdownInProgress',
];

interface Settings {
  random: Random;
  /** Called if the simulated replica set itself fails. The drill then proves nothing. */
  onFault: (error: unknown) => void;
  plan?: Partial<Plan>;
}

/** Starts embedded engines as a replica set of three: one primary and two secondaries. */
export async function startReplicaSet({ random, onFault, plan }: Settings) {
  const { lag, longGaps, longGap, stepEvery } = { ...usualPlan, ...plan };
  // Two engines for a primary, and two for its elected successor while the old one still answers.
  const engines = await startEngines(4);
  const [first, second, ...spares] = engines.states as [State, State, ...State[]];
  const members: Member[] = [];
  let term = 1;
  let newsDelay = () => 0;
  const during = ([low, high]: Range) => sleep(random.int(low, high));
  const defining = createMutex();

  const onCommit = (footprint: Footprint): void => {
    for (const { behind } of spares) merge(behind, footprint);
  };

  const open = (
    states: { local: State; committed: State },
    position = 0,
    memory: Memory = new Map(),
  ): Branch => createBranch({ ...states, position, memory, random, stepEvery, onCommit });

  const define = (command: Document): Promise<Buffer> =>
    defining(async () => {
      const replies = await Promise.all(engines.states.map(({ engine }) => engine.send(command)));
      return replies[0] ?? Buffer.alloc(0);
    });

  for (let n = 0; n < 3; n += 1) {
    members.push(
      createMember({
        hosts: () => members.map(({ address }) => address()),
        leader: () => members.find((member) => member.role().primary)?.address(),
        define,
        stepDown: () => void replace(stepDown).catch(onFault),
        newsDelay: () => newsDelay(),
        onFault,
      }),
    );
  }
  await Promise.all(members.map((member) => member.start()));
  members[0]?.become({ primary: true, branch: open({ local: first, committed: second }), term });

  function current(): { member: Member; branch: Branch } {
    for (const member of members) {
      const role = member.role();
      if (role.primary) return { member, branch: role.branch };
    }
    throw new Error('there is no primary');
  }

  function takeSpare(): State {
    const spare = spares.shift();
    if (!spare) throw new Error('all engines are in use');
    return spare;
  }

  /** Creates the branch of a new primary, from the committed state. The engine with the state of the old primary becomes free. */
  async function succeed(old: Branch): Promise<Branch> {
    const local = takeSpare();
    await align(local, old.committed);
    spares.push({ ...old.local, behind: old.dirty() });
    return open({ local, committed: old.committed }, old.commitPoint(), old.committedMemory());
  }

  function elect(branch: Branch, not: Member): void {
    term += 1;
    const others = members.filter((member) => member !== not);
    random.some(others)?.become({ primary: true, branch, term });
  }

  /**
   * Lets uncommitted writes accumulate. In some elections, a part of them is committed without a notice to its writers.
   */
  async function gatherTail(branch: Branch): Promise<boolean> {
    await branch.pause();
    await during(lag);
    if (!random.chance(0.4)) return false;
    const before = branch.commitPoint();
    await branch.advance();
    if (random.chance(0.7)) await during(lag);
    return branch.commitPoint() > before;
  }

  /** Ends the primary by `leave`. After a time without a primary, makes another member the primary. */
  async function replace(leave: (member: Member, branch: Branch) => Promise<void>) {
    const { member, branch } = current();
    const hasSilentCommits = await gatherTail(branch);
    await leave(member, branch);
    const rolledBack = branch.uncommitted();
    const successor = await succeed(branch);
    await during(random.chance(longGaps) ? longGap : times.gap);
    newsDelay = () => 0;
    elect(successor, member);
    return { member, rolledBack, hasSilentCommits };
  }

  async function crash() {
    const { member, ...counted } = await replace(async (primary, branch) => {
      await primary.crash();
      await branch.end('InterruptedAtShutdown');
    });
    await during(times.restart);
    await member.start();
    return counted;
  }

  /**
   * Steps a primary down. Writers that wait for a majority are told that the result is unknown. Connections stay, or close as
   * in a rollback.
   */
  async function stepDown(member: Member, branch: Branch): Promise<void> {
    const [low, high] = times.news;
    newsDelay = () => random.int(low, high);
    member.become({ primary: false });
    await branch.end(random.pick(['InterruptedDueToReplStateChange', 'PrimarySteppedDown']));
    if (random.chance(0.3)) member.disconnect();
  }

  async function failWriteConcern() {
    return replace(async (member, branch) => {
      branch.failWriteConcern(random.pick(failedWriteConcerns));
      await during(times.failing);
      await stepDown(member, branch);
    });
  }

  /** Elects another member while the primary is disconnected. Each client learns of the election at a different time. */
  async function depose() {
    const { member, branch } = current();
    const hasSilentCommits = await gatherTail(branch);
    const [low, high] = times.deposed;
    const answersFor = random.int(low, high);
    newsDelay = () => random.int(0, answersFor);
    const [local, committed] = [takeSpare(), takeSpare()];
    await Promise.all([align(local, branch.committed), align(committed, branch.committed)]);
    const own: State = { ...branch.local, behind: new Map() };
    spares.push(own, { ...branch.committed, behind: new Map() });
    elect(open({ local, committed }, branch.commitPoint(), branch.committedMemory()), member);
    await sleep(answersFor);
    await stepDown(member, branch);
    newsDelay = () => 0;
    merge(own.behind, branch.dirty());
    return { rolledBack: branch.uncommitted(), hasSilentCommits };
  }

  const elections: Record<ElectionKind, () => Promise<Omit<Election, 'kind'>>> = {
    crash,
    'step-down': () => replace(stepDown),
    'write-concern': failWriteConcern,
    deposed: depose,
  };

  const addresses = members.map(({ address }) => address());
  return {
    /** Returns the connection string of a database on the replica set. */
    uri: (database: string) => `mongodb://${addresses.join(',')}/${database}?replicaSet=${setName}`,
    /** Holds an election. Resolves when there is a new primary and every member answers correctly. */
    async elect(kind: ElectionKind): Promise<Election> {
      const { rolledBack, hasSilentCommits } = await elections[kind]();
      return { kind, rolledBack, hasSilentCommits };
    },
    /** Returns the branch of the present primary, for tests of this replica set. */
    current: () => current().branch,
    async close(): Promise<void> {
      await Promise.all(
        members.map(async (member) => {
          const role = member.role();
          await member.crash();
          if (role.primary) await role.branch.end('InterruptedAtShutdown');
        }),
      );
      await engines.close();
    },
  };
}
export type ReplicaSet = Awaited<ReturnType<typeof startReplicaSet>>;
