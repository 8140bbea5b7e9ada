import { connect, type Socket } from 'node:net';
import type { Document } from 'mongodb';
import { createMessageReader } from '../../../../embedded-database/engine/wire.ts';
import { bodyOf, decode, encode, frameMessage } from './wire.ts';

/** The connections to one engine. */
export interface EngineLink {
  /** Runs a command. @returns the reply in its raw form @throws if the engine has ended */
  send(command: Document): Promise<Buffer>;
  /** Runs a command. @returns the parsed reply @throws if the reply is an error */
  run(command: Document): Promise<Document>;
  close(): void;
}

interface Channel {
  socket: Socket;
  pending?: { resolve: (reply: Buffer) => void; reject: (error: Error) => void };
}

/** Connects to an engine. A channel carries one command at a time, so a channel is added when all are in use. */
export function createEngineLink(port: number): EngineLink {
  const channels = new Set<Channel>();
  const idle: Channel[] = [];

  function open(): Channel {
    const channel: Channel = { socket: connect(port, '127.0.0.1').setNoDelay(true) };
    const read = createMessageReader();
    const fail = (error: Error) => {
      channels.delete(channel);
      channel.pending?.reject(error);
      delete channel.pending;
    };
    channel.socket.on('error', fail);
    channel.socket.on('close', () => fail(new Error(`the engine on port ${port} is gone`)));
    channel.socket.on('data', (chunk: Buffer) => {
      for (const message of read(chunk)) {
        const { pending } = channel;
        delete channel.pending;
        idle.push(channel);
        pending?.resolve(bodyOf(message));
      }
    });
    channels.add(channel);
    return channel;
  }

  function send(command: Document): Promise<Buffer> {
    let channel = idle.pop();
    while (channel && !channels.has(channel)) channel = idle.pop();
    const chosen = channel ?? open();
    return new Promise((resolve, reject) => {
      chosen.pending = { resolve, reject };
      chosen.socket.write(frameMessage(encode(command)).bytes);
    });
  }

  return {
    send,
    async run(command) {
      const reply = decode(await send(command));
      if (Number(reply['ok']) !== 1 || reply['writeErrors'] !== undefined) {
        throw new Error(`an engine refused ${Object.keys(command)[0]}: ${JSON.stringify(reply)}`);
      }
      return reply;
    },
    close() {
      for (const { socket } of channels) socket.destroy();
    },
  };
}
