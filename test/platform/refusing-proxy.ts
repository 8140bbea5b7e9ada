import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Document } from 'mongodb';
import { createMessageReader } from '../../embedded-database/engine/wire.ts';
import { encode, frameMessage, readRequest } from '../proofs/drill/facade/wire.ts';

/** The error that a database returns to writes. */
export interface Refusal {
  code: number;
  codeName: string;
  /** Whether the error is for the whole command, or for each document. */
  by: 'command' | 'document';
  /** The write is applied anyway, as by a shard whose reply the router has lost. */
  carriedOut?: boolean;
  /** The affected writes; by default all. */
  on?: (command: Document) => boolean;
}

const writes = new Set(['insert', 'update', 'delete', 'findAndModify', 'createIndexes']);
const nameOf = (command: Document): string => Object.keys(command)[0] ?? '';

function replyOf({ code, codeName, by }: Refusal, command: Document): Document {
  const errmsg = `${codeName}, as a test demands`;
  const statements = command['documents'] ?? command['updates'] ?? command['deletes'];
  if (by === 'command' || !Array.isArray(statements)) return { ok: 0, code, codeName, errmsg };
  return { ok: 1, n: 0, nModified: 0, writeErrors: statements.map((_, index) => ({ index, code, errmsg })) };
}

/** A proxy before the database at `target`, which refuses writes when a test asks for it. The caller stops it. */
export async function startRefusingProxy(target: number) {
  const sockets = new Set<Socket>();
  const refused: string[] = [];
  let refusals: readonly Refusal[] = [];

  function forward(down: Socket): void {
    const up = connect(target, '127.0.0.1');
    const read = createMessageReader();
    const readReplies = createMessageReader();
    /** Replies that replace the database's, by request id. */
    const replaced = new Map<number, Document>();
    for (const [one, other] of [
      [down, up],
      [up, down],
    ] as const) {
      sockets.add(one.setNoDelay(true));
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    const send = (reply: Document, id: number) => down.write(frameMessage(encode(reply), id).bytes);

    function request(message: Buffer): void {
      const { id, body } = readRequest(message);
      const isWrite = writes.has(nameOf(body));
      const refusal = isWrite ? refusals.find(({ on }) => on?.(body) ?? true) : undefined;
      if (refusal) {
        refused.push(`${nameOf(body)} ${body[nameOf(body)]}`);
        const reply = replyOf(refusal, body);
        if (!refusal.carriedOut) return void send(reply, id);
        replaced.set(id, reply);
      }
      up.write(message);
    }
    function answer(message: Buffer): void {
      const id = message.readInt32LE(8);
      const reply = replaced.get(id);
      if (!reply) return void down.write(message);
      replaced.delete(id);
      send(reply, id);
    }
    down.on('data', (chunk: Buffer) => read(chunk).forEach(request));
    up.on('data', (chunk: Buffer) => readReplies(chunk).forEach(answer));
  }

  const server = createServer(forward).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };

  return {
    port,
    /** Refused commands with their collections. */
    refused,
    /** Refuses writes from now on, each by the first matching refusal. Without arguments, accepts writes again. */
    refuse(...next: Refusal[]): void {
      refusals = next;
      refused.length = 0;
    },
    stop(): void {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
