import type { Socket } from 'node:net';
import type { Engine, RoundTrip } from './load.ts';

// MongoDB wire protocol: a header of four little-endian int32 (length, request id, response to, opcode), then
// the body. The engine takes whole messages and gives back bare BSON documents.
const headerLength = 16;
const opReply = { code: 1, preamble: 20 };
const opMessage = { code: 2013, preamble: 5 };
/** The protocol's own bound, `maxMessageSizeBytes`: a larger length is not a message of a driver. */
const maxMessageLength = 48_000_000;

const frame = ({ requestId, legacy, response }: RoundTrip): Buffer => {
  const { code, preamble } = legacy ? opReply : opMessage;
  const message = Buffer.allocUnsafe(headerLength + preamble + response.length);
  message.fill(0, 0, headerLength + preamble); // no flags, cursor 0, section kind 0
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(requestId, 8);
  message.writeInt32LE(code, 12);
  if (legacy) message.writeInt32LE(1, headerLength + 16); // documents returned
  response.copy(message, headerLength + preamble);
  return message;
};

/**
 * Cuts a stream of chunks into messages. The common case, one chunk that is one message, is not copied.
 *
 * @returns a function from the next chunk to the messages it completes; it throws on a length no message has
 */
export const createMessageReader = (): ((chunk: Buffer) => Buffer[]) => {
  let held: Buffer[] = [];
  let heldLength = 0;
  let needed = 4;
  return (chunk) => {
    held.push(chunk);
    heldLength += chunk.length;
    const messages: Buffer[] = [];
    while (heldLength >= needed) {
      const bytes = held.length === 1 && held[0] ? held[0] : Buffer.concat(held);
      const length = bytes.readInt32LE(0);
      if (length < headerLength || length > maxMessageLength) throw new Error(`message of ${length} bytes`);
      const rest = bytes.length >= length ? bytes.subarray(length) : bytes;
      if (rest !== bytes) messages.push(bytes.subarray(0, length));
      held = rest.length > 0 ? [rest] : [];
      heldLength = rest.length;
      needed = rest === bytes ? length : 4;
    }
    return messages;
  };
};

/**
 * Answers the messages of one connection in the order they come, which is the order a driver awaits them in.
 * Connections do not wait for each other. A failure of the engine ends the connection, as a real server's would.
 */
export const serveConnection = (engine: Engine, socket: Socket): void => {
  const read = createMessageReader();
  let turn = Promise.resolve();

  const answer = async (message: Buffer): Promise<void> => {
    const reply = await engine.roundTrip(message);
    if (!reply.moreToCome && !socket.destroyed) socket.write(frame(reply));
  };
  const abandon = (): void => {
    socket.destroy();
  };

  socket.setNoDelay(true);
  socket.on('error', abandon);
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const message of read(chunk)) turn = turn.then(() => answer(message)).catch(abandon);
    } catch {
      abandon();
    }
  });
};
