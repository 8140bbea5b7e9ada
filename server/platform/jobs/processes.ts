import { hostname } from 'node:os';
import type { Db } from 'mongodb';
import type { Clock } from '../clock.ts';
import { version } from '../config/version.ts';
import type { IndexDeclaration } from '../database/indexes.ts';
import { randomRequestId } from '../ids.ts';

/** A process of the service, as its heartbeats describe it. */
export interface ProcessRecord {
  _id: string;
  host: string;
  pid: number;
  build: string;
  roles: string[];
  /** The newest schema version that the process can read. */
  schema: number;
  /** Names of its master keys; the first one seals. */
  masterKeys: string[];
  startedAt: Date;
  lastSeenAt: Date;
}

/** A process whose private listener sends heartbeats. Others can hand postings (entries for the ledger) over to it. */
export interface Peer {
  id: string;
  host: string;
  /** `host:port` of its private listener, as in a URL. */
  address: string;
}

/**
 * The heartbeat of a private listener. It is a separate document in the same collection, because older builds refuse a
 * `ProcessRecord` with an unknown field.
 */
interface PeerRecord extends Omit<Peer, 'id'> {
  _id: string;
  /** The id of the process that has the listener. */
  peer: string;
  seenAt: Date;
}

interface Settings {
  db: Db;
  clock: Pick<Clock, 'now'>;
  roles: readonly string[];
  masterKeys: readonly string[];
  /** The newest schema version that this process can read. */
  schema: number;
}

const collection = 'processes';
/** Milliseconds between two heartbeats. */
export const heartbeatEvery = 10_000;
/** Milliseconds without a heartbeat after which a process counts as ended. */
const goneAfterMs = 45_000;
/** Milliseconds between two heartbeats of a private listener. */
export const joinEvery = 2_500;
/** After so many milliseconds without a heartbeat, nothing is handed over to a listener. */
const silentAfterMs = 10_000;

/** One for the heartbeats of processes, and one for those of private listeners. */
export const indexes: IndexDeclaration[] = [
  { collection, key: { lastSeenAt: 1 }, expireAfterSeconds: 3_600 },
  { collection, key: { seenAt: 1 }, expireAfterSeconds: 3_600 },
];

/** Lists the processes of the service that use the database, by heartbeats that expire. */
export function createProcesses({ db, clock, roles, masterKeys, schema }: Settings) {
  // One collection has the documents of both kinds, see `PeerRecord`.
  const processes = db.collection<ProcessRecord>(collection);
  const listeners = db.collection<PeerRecord>(collection);
  const host = hostname();
  const _id = `${host}:${process.pid}:${randomRequestId().slice(-8)}`;
  const listenerId = `listener of ${_id}`;
  const unchanging = {
    host,
    pid: process.pid,
    build: version,
    roles: [...roles],
    schema,
    masterKeys: [...masterKeys],
    startedAt: new Date(clock.now()),
  };

  return {
    /** The id of this process; it changes with each start. */
    id: _id,

    /** Writes a heartbeat of this process. */
    async beat(): Promise<void> {
      const heartbeat = { ...unchanging, lastSeenAt: new Date(clock.now()) };
      await processes.updateOne({ _id }, { $set: heartbeat }, { upsert: true });
    },

    /** Writes a heartbeat of this process's private listener. */
    async join(address: string): Promise<void> {
      const heartbeat = { peer: _id, host, address, seenAt: new Date(clock.now()) };
      await listeners.updateOne({ _id: listenerId }, { $set: heartbeat }, { upsert: true });
    },

    /** Removes the private listener's heartbeat, so that no process hands anything over to this one. */
    async resign(): Promise<void> {
      await listeners.deleteOne({ _id: listenerId });
    },

    /** The processes whose private listener has sent a heartbeat within 10 s, by the database's clock. */
    async peers(): Promise<Peer[]> {
      const found = await listeners
        .find({ seenAt: { $gt: new Date(clock.now() - silentAfterMs) } })
        .toArray();
      return found.map(({ peer: id, host: peerHost, address }) => ({ id, host: peerHost, address }));
    },

    /** Removes this process from the list when it ends. */
    async leave(): Promise<void> {
      await processes.deleteOne({ _id });
    },

    /** Processes that were seen lately, oldest first. */
    list: (): Promise<ProcessRecord[]> =>
      processes
        .find({ lastSeenAt: { $gt: new Date(clock.now() - goneAfterMs) } })
        .sort({ startedAt: 1, _id: 1 })
        .toArray(),
  };
}
export type Processes = ReturnType<typeof createProcesses>;
