import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Document, Long, ObjectId } from 'mongodb';
import { createMessageReader } from '../../../../embedded-database/engine/wire.ts';
import type { Branch } from './branch.ts';
import { execute, type Serving } from './commands.ts';
import { encode, frameMessage, frameReply, numberOf, type Request, readRequest } from './wire.ts';

export const setName = 'drill';

/** The role that a member reports. A deposed primary still reports the old role, because it does not know of the election. */
export type Role = { primary: true; branch: Branch; term: number } | { primary: false };

interface Settings {
  /** Returns the addresses of all members. */
  hosts: () => readonly string[];
  /** Returns the address of the present primary; undefined if there is none. */
  leader: () => string | undefined;
  define: Serving['define'];
  stepDown: Serving['stepDown'];
  /** Returns the time until one connection learns of a change, in milliseconds. */
  newsDelay: () => number;
  /** Called if a command could not run at all. */
  onFault: (error: unknown) => void;
}

const limits = {
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  minWireVersion: 0,
  maxWireVersion: 21,
  readOnly: false,
};
const hellos = new Set(['hello', 'isMaster', 'ismaster']);

/** The election number. A driver uses the primary with the highest one. */
const electionIdOf = (term: number) => new ObjectId(`7fffffff${term.toString(16).padStart(16, '0')}`);

/** Creates a member: a port, a role, and the connections that wait for its next role. */
export function createMember({ hosts, leader, define, stepDown, newsDelay, onFault }: Settings) {
  const connections = new Set<Socket>();
  const cursors: Serving['cursors'] = new Map();
  let role: Role = { primary: false };
  let processId = new ObjectId();
  let counter = 0;
  let watchers: (() => void)[] = [];
  let server: Server | undefined;
  let port = 0;
  const address = () => `127.0.0.1:${port}`;

  function hello(): Document {
    const primary = leader();
    return {
      helloOk: true,
      isWritablePrimary: role.primary,
      ismaster: role.primary,
      secondary: !role.primary,
      topologyVersion: { processId, counter: Long.fromNumber(counter) },
      hosts: hosts(),
      setName,
      setVersion: 1,
      me: address(),
      ...(role.primary
        ? { electionId: electionIdOf(role.term), primary: address() }
        : primary && { primary }),
      lastWrite: { lastWriteDate: new Date() },
      ...limits,
      localTime: new Date(),
      logicalSessionTimeoutMinutes: 30,
      ok: 1,
    };
  }

  /** Resolves when the member's role changes, or after `ms`. */
  function changed(from: number, ms: number): Promise<void> {
    if (counter !== from) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      watchers.push(() => {
        clearTimeout(timer);
        void sleep(newsDelay()).then(() => resolve());
      });
    });
  }

  /** Answers when the role changes. If the driver allows it, answers at each later change too. */
  async function stream(socket: Socket, { id, body, exhaustAllowed }: Request): Promise<void> {
    const known = body['topologyVersion'] as Document;
    let seen = String(known['processId']) === String(processId) ? numberOf(known['counter']) : -1;
    let responseTo = id;
    do {
      await changed(seen, numberOf(body['maxAwaitTimeMS']));
      seen = counter;
      const frame = frameMessage(encode(hello()), responseTo, exhaustAllowed);
      responseTo = frame.id;
      if (!socket.destroyed) socket.write(frame.bytes);
    } while (exhaustAllowed && !socket.destroyed);
  }

  async function answer(socket: Socket, request: Request): Promise<void> {
    const { id, legacy, body } = request;
    const [name = ''] = Object.keys(body);
    if (hellos.has(name) && body['topologyVersion'] !== undefined) return stream(socket, request);
    const branch = role.primary ? role.branch : undefined;
    const reply = hellos.has(name)
      ? encode(hello())
      : await execute(body, { branch, cursors, define, stepDown });
    if (!socket.destroyed) socket.write((legacy ? frameReply : frameMessage)(reply, id).bytes);
  }

  function serve(socket: Socket): void {
    const read = createMessageReader();
    connections.add(socket.setNoDelay(true));
    socket.on('close', () => connections.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      for (const message of read(chunk)) {
        Promise.resolve(message)
          .then((bytes) => answer(socket, readRequest(bytes)))
          .catch((error: unknown) => {
            onFault(error);
            socket.destroy();
          });
      }
    });
  }

  const disconnect = (): void => {
    for (const socket of connections) socket.destroy();
  };

  return {
    address,
    role: () => role,
    /** Listens, always on the same port. A restarted member has lost the memory of its earlier process. */
    async start(): Promise<void> {
      processId = new ObjectId();
      counter = 0;
      server = createServer(serve);
      await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
      port = (server.address() as AddressInfo).port;
    },
    become(next: Role): void {
      role = next;
      counter += 1;
      for (const hear of watchers.splice(0)) hear();
    },
    disconnect,
    /** Closes all connections and accepts no new ones, like a crashed process. */
    async crash(): Promise<void> {
      role = { primary: false };
      watchers = [];
      const closed = new Promise((resolve) => server?.close(resolve));
      disconnect();
      await closed;
    },
  };
}
export type Member = ReturnType<typeof createMember>;
