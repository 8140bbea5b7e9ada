import { hostname } from 'node:os';
import type { Db, Document, Filter } from 'mongodb';
import type { DifferingSetting } from '../../../contracts/admin/status.ts';
import { listProcesses, processName } from '../../../contracts/processes.ts';
import type { Clock } from '../clock.ts';
import { processRoles } from '../config/environment.ts';
import { createJointReads, type JointRead } from '../database/reads/joint-reads.ts';
import type { IndexDeclaration } from '../database/schema/indexes.ts';
import { ConfigError } from '../errors.ts';
import { randomRequestId } from '../ids.ts';
import { version } from '../version.ts';
import { compareSettings, type SharedSettings } from './shared-settings.ts';

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
  /** Undefined if its build does not report them. */
  sharedSettings?: SharedSettings | undefined;
  startedAt: Date;
  lastSeenAt: Date;
  /** Its report; undefined if it makes none. */
  condition?: Condition | undefined;
}

/** A process whose private listener sends heartbeats. Others can hand postings (entries for the ledger) over to it. */
export interface Peer {
  id: string;
  host: string;
  /** `host:port` of its private listener, as in a URL. */
  address: string;
}

/** The heartbeat of a private listener. It is a separate document in the same collection, because it is sent more often. */
interface PeerRecord extends Omit<Peer, 'id'> {
  _id: string;
  /** The id of the process that has the listener. */
  peer: string;
  seenAt: Date;
}

/** What a process reports of itself with each heartbeat. */
interface Condition {
  /** Why it is not ready; empty if it is. */
  reasons: string[];
  /** The database's time minus that of its machine, in milliseconds. */
  clockOffsetMs: number;
}

/** When a process with the role last sent a heartbeat. It does not expire. */
interface RoleRecord {
  _id: string;
  role: string;
  heldAt: Date;
}

/** The processes of the service, the roles that none of them has, and the settings in which they differ. */
export interface ProcessSurvey {
  processes: ProcessRecord[];
  /** `since` is when a process with the role was last seen; undefined if none ever was. */
  missingRoles: { role: string; since: Date | undefined }[];
  differingSettings: DifferingSetting[];
}

interface Settings {
  db: Db;
  /** How the list of private listeners is read. */
  read?: JointRead;
  clock: Pick<Clock, 'now'>;
  roles: readonly string[];
  masterKeys: readonly string[];
  sharedSettings: SharedSettings;
  /** The newest schema version that this process can read. */
  schema: number;
  /** Returns the report of this process; undefined if it makes none. */
  report?: () => Condition;
}

/** The id of a document, and the fields that a heartbeat sets. */
type Beat = [id: string, fields: Document];

const collection = 'processes';
const environmentVariable = 'SVC_ENVIRONMENT';
/** Milliseconds between two heartbeats. */
export const heartbeatEvery = 10_000;
/** Milliseconds without a heartbeat after which a process counts as ended. */
const goneAfterMs = 45_000;
/** After so many milliseconds without a heartbeat, a process is shown as silent, and its roles as missing. */
const silentProcessAfterMs = 30_000;
/** Milliseconds between two heartbeats of a private listener, and between two reads of those of others. */
export const joinEvery = 2_500;
/** The same for a process that knows no other: only a new process will read its heartbeat. Not above `silentAfterMs`. */
export const joinAloneEvery = 7_500;
/** After so many milliseconds without a heartbeat, nothing is handed over to a listener. */
const silentAfterMs = 10_000;

/** One for the heartbeats of processes, and one for those of private listeners. */
export const indexes: IndexDeclaration[] = [
  { collection, key: { lastSeenAt: 1 }, expireAfterSeconds: 3_600 },
  { collection, key: { seenAt: 1 }, expireAfterSeconds: 3_600 },
];

/**
 * Deletes all heartbeats, for a database that was restored: they are of processes that use the old one. A new process would hand
 * postings over to them.
 */
export async function forgetProcesses(db: Db): Promise<void> {
  await db.collection<ProcessRecord>(collection).deleteMany({});
}

/** The processes that have sent a heartbeat within 45 s, oldest first. @param now the database's time in milliseconds */
export const livingProcesses = (db: Db, now: number): Promise<ProcessRecord[]> =>
  db
    .collection<ProcessRecord>(collection)
    .find({ lastSeenAt: { $gt: new Date(now - goneAfterMs) } })
    .sort({ startedAt: 1, _id: 1 })
    .toArray();

/** Lists the processes of the service that use the database, by heartbeats that expire. */
export function createProcesses(settings: Settings) {
  const {
    db,
    read = createJointReads(db),
    clock,
    roles,
    masterKeys,
    sharedSettings,
    schema,
    report,
  } = settings;
  // One collection has the documents of all kinds, see `PeerRecord`.
  const processes = db.collection<ProcessRecord>(collection);
  const listeners = db.collection<PeerRecord>(collection);
  const heldRoles = db.collection<RoleRecord>(collection);
  const beats = db.collection<Document & { _id: string }>(collection);
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
    sharedSettings,
    startedAt: new Date(clock.now()),
  };

  /** Processes that were seen lately, oldest first. */
  const list = (): Promise<ProcessRecord[]> => livingProcesses(db, clock.now());

  /** Whether one of these processes has sent a heartbeat within 30 s. */
  async function isHeard(which: Filter<ProcessRecord>): Promise<boolean> {
    const lastSeenAt = { $gte: new Date(clock.now() - silentProcessAfterMs) };
    return (await processes.findOne({ ...which, lastSeenAt })) !== null;
  }

  /** A process as it is shown. A process without a heartbeat for 30 s cannot report that it is silent. */
  function seen(record: ProcessRecord): ProcessRecord {
    const silentMs = clock.now() - record.lastSeenAt.getTime();
    if (silentMs <= silentProcessAfterMs) return record;
    const silent = `it has sent no heartbeat for ${Math.round(silentMs / 1000)} s`;
    return { ...record, condition: { clockOffsetMs: 0, ...record.condition, reasons: [silent] } };
  }

  return {
    /** The id of this process; it changes with each start. */
    id: _id,

    /** Writes a heartbeat of this process, with its report and its roles, in one command. */
    async beat(): Promise<void> {
      const now = new Date(clock.now());
      const own: Beat = [_id, { ...unchanging, lastSeenAt: now, ...(report && { condition: report() }) }];
      const ofRoles = roles.map((role): Beat => [`role ${role}`, { role, heldAt: now }]);
      await beats.bulkWrite(
        [own, ...ofRoles].map(([id, fields]) => ({
          updateOne: { filter: { _id: id }, update: { $set: fields }, upsert: true },
        })),
        { ordered: false },
      );
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
      const found = await read<PeerRecord>({
        collection,
        filter: { seenAt: { $gt: new Date(clock.now() - silentAfterMs) } },
        projection: { peer: 1, host: 1, address: 1 },
      });
      return found.map(({ peer: id, host: peerHost, address }) => ({ id, host: peerHost, address }));
    },

    /** Removes this process from the list when it ends. */
    async leave(): Promise<void> {
      await processes.deleteOne({ _id });
    },

    list,

    /**
     * Refuses a start beside processes of another environment, because it would serve the same partners by other rules. Two
     * processes that start at the same time do not see each other; the survey then reports them.
     * @throws ConfigError, which names the environment of the others
     */
    async requireSameEnvironment(): Promise<void> {
      const own = sharedSettings[environmentVariable];
      const others = (await list()).flatMap((process) => {
        const environment = process.sharedSettings?.[environmentVariable];
        const name = processName(process);
        return environment === undefined || environment === own ? [] : [{ name, environment }];
      });
      const [first] = others;
      if (!first) return;
      const names = listProcesses(others.map(({ name }) => name));
      throw new ConfigError([
        `${environmentVariable}: it is ${own} here, but the processes that use this database have ${first.environment}: ${names}. Set ${first.environment}, or MONGODB_URI of another database. To change the environment, stop those processes first; one that was killed counts for ${goneAfterMs / 1000} s more.`,
      ]);
    },

    /** Whether a process with this role has sent a heartbeat within 30 s. */
    hasRole: (role: string) => isHeard({ roles: role }),

    /** Whether another process with this role has sent a heartbeat within 30 s. */
    othersHaveRole: (role: string) => isHeard({ roles: role, _id: { $ne: _id } }),

    async survey(): Promise<ProcessSurvey> {
      const [listed, held] = await Promise.all([
        list(),
        heldRoles.find({ _id: { $in: processRoles.map((role) => `role ${role}`) } }).toArray(),
      ]);
      const heardAfter = clock.now() - silentProcessAfterMs;
      const lastHeld = (role: string) => held.find((record) => record.role === role)?.heldAt;
      return {
        processes: listed.map(seen),
        missingRoles: processRoles
          .map((role) => ({ role, since: lastHeld(role) }))
          .filter(({ since }) => since === undefined || since.getTime() < heardAfter),
        differingSettings: compareSettings(listed),
      };
    },
  };
}
export type Processes = ReturnType<typeof createProcesses>;
