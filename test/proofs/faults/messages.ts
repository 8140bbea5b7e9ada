import { BSON, type Document } from 'mongodb';

/** The parts of a request of the driver that the rules of the proxy read. */
export interface Command {
  /** `insert`, `update`, `findAndModify`, … */
  name: string;
  collection: string;
  /** The documents of an insert. */
  documents: number;
  /** The whole request as JSON. */
  text: string;
}

// MongoDB wire protocol, OP_MSG: a header of four int32 (length, request id, response to, opcode), flags, sections.
const opMessage = 2013;
const firstSection = 20;

export const requestIdOf = (message: Buffer): number => message.readInt32LE(4);
export const responseToOf = (message: Buffer): number => message.readInt32LE(8);

/** Reads a document sequence: an array of documents that is sent beside the body of the command. */
function readSequence(message: Buffer, from: number): Document[] {
  const end = from + message.readInt32LE(from);
  const documents: Document[] = [];
  for (let at = message.indexOf(0, from + 4) + 1; at < end; at += message.readInt32LE(at)) {
    documents.push(BSON.deserialize(message.subarray(at, at + message.readInt32LE(at))));
  }
  return documents;
}

/** Reads the command of a message. @returns undefined if the message is not a command on a collection */
export function readCommand(message: Buffer): Command | undefined {
  if (message.readInt32LE(12) !== opMessage) return undefined;
  let body: Document = {};
  let sequence: Document[] = [];
  for (let at = firstSection; at < message.length; ) {
    const kind = message[at];
    const length = message.readInt32LE(at + 1);
    if (kind === 0) body = BSON.deserialize(message.subarray(at + 1, at + 1 + length));
    else sequence = readSequence(message, at + 1);
    at += 1 + length;
  }
  const [first] = Object.entries(body);
  if (!first || typeof first[1] !== 'string') return undefined;
  const inserted: unknown = body['documents'];
  return {
    name: first[0],
    collection: first[1],
    documents: Array.isArray(inserted) ? inserted.length : sequence.length,
    text: JSON.stringify([body, sequence]),
  };
}
