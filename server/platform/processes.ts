import { hostname } from 'node:os';
import type { Db } from 'mongodb';
import type { Clock } from './clock.ts';
import type { IndexDeclaration } from './database/indexes.ts';
import { schemaVersion } from './database/schema.ts';
import { randomRequestId } from './ids.ts';
import { version } from './version.ts';

/** A process of the service as its heartbeats show it. */
export interface ProcessRecord {
  _id: string;
  host: string;
  pid: number;
  build: string;
  roles: string[];
  /** The newest schema version that it can read. */
  schema: number;
  /** Names of its master keys; the first one seals. */
  masterKeys: string[];
  startedAt: Date;
  lastSeenAt: Date;
}

interface Settings {
  db: Db;
  clock: Pick<Clock, 'now'>;
  roles: readonly string[];
  masterKeys: readonly string[];
  /** The newest schema version that this process can read. */
  schema?: number;
}

export interface Processes {
  /** Writes a heartbeat of this process. */
  beat(): Promise<void>;
  /** Removes this process from the list, for an orderly end. */
  leave(): Promise<void>;
  /** Those that were seen lately, oldest first. */
  list(): Promise<ProcessRecord[]>;
}

const collection = 'processes';
/** Milliseconds between two heartbeats. */
export const heartbeatEvery = 10_000;
/** Milliseconds without a heartbeat after which a process counts as ended. */
const goneAfterMs = 45_000;

export const indexes: IndexDeclaration[] = [
  { collection, key: { lastSeenAt: 1 }, expireAfterSeconds: 3_600 },
];

/** Which processes of the service use the database, by heartbeats that expire. */
export function createProcesses({
  db,
  clock,
  roles,
  masterKeys,
  schema = schemaVersion,
}: Settings): Processes {
  const processes = db.collection<ProcessRecord>(collection);
  const host = hostname();
  const _id = `${host}:${process.pid}:${randomRequestId().slice(-8)}`;
  const startedAt = new Date(clock.now());
  const about = { host, pid: process.pid, build: version, roles: [...roles], schema };

  return {
    async beat() {
      const seen = { ...about, masterKeys: [...masterKeys], startedAt, lastSeenAt: new Date(clock.now()) };
      await processes.updateOne({ _id }, { $set: seen }, { upsert: true });
    },
    async leave() {
      await processes.deleteOne({ _id });
    },
    list: () =>
      processes
        .find({ lastSeenAt: { $gt: new Date(clock.now() - goneAfterMs) } })
        .sort({ startedAt: 1, _id: 1 })
        .toArray(),
  };
}
