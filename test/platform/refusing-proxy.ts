import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Document } from 'mongodb';
import { createMessageReader } from '../../embedded-database/engine/wire.ts';
import { encode, frameMessage, readRequest } from '../proofs/drill/facade/wire.ts';

/** What a database answers to writes instead of a success. */
export interface Refusal {
  code: number;
  codeName: string;
  /** For the whole command, or for each document of it. */
  by: 'command' | 'document';
  /** The write is made nevertheless, as by a shard whose reply the router has lost. */
  carriedOut?: boolean;
  /** Which writes; default: all of them. */
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

/** Forwards messages to the database on `target`, and refuses writes when a test asks for it. The caller stops it. */
export async function startRefusingProxy(target: number) {
  const sockets = new Set<Socket>();
  const refused: string[] = [];
  let refusals: readonly Refusal[] = [];

  function forward(down: Socket): void {
    const up = connect(target, '127.0.0.1');
    const read = createMessageReader();
    const readReplies = createMessageReader();
    /** Replies to give instead of the database's, by the request's id. */
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
    /** Commands that were refused, each with its collection. */
    refused,
    /** Refuses writes from now on, each by the first refusal that is for it; with none, takes them again. */
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
