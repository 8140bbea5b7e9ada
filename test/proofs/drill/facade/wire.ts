import { BSON, type Document, Long } from 'mongodb';

/** A command from a driver. Document sequences become arrays of its body. */
export interface Request {
  id: number;
  /** Whether the command came as OP_QUERY, with which drivers begin a connection. */
  legacy: boolean;
  /** Whether the driver accepts several replies to one request. */
  exhaustAllowed: boolean;
  body: Document;
}

const headerLength = 16;
const opcodes = { reply: 1, query: 2004, message: 2013 };
const flags = { checksum: 1, moreToCome: 2, exhaustAllowed: 1 << 16 };
/** Keeps the types of the wire: a small int64 stays an int64. */
const exact = { promoteValues: false, promoteBuffers: false, bsonRegExp: true } as const;

export const decode = (bytes: Buffer): Document => BSON.deserialize(bytes, exact);
export const encode = (document: Document): Buffer => Buffer.from(BSON.serialize(document));

/** Converts a number of a decoded document, which has one of several types on the wire. */
export const numberOf = (value: unknown): number =>
  Long.isLong(value) ? value.toNumber() : Number(value ?? 0);

function decodeAt(message: Buffer, at: number): { document: Document; next: number } {
  const next = at + message.readInt32LE(at);
  return { document: decode(message.subarray(at, next)), next };
}

function readMessage(message: Buffer): Omit<Request, 'id'> {
  const bits = message.readUInt32LE(headerLength);
  const end = message.length - (bits & flags.checksum ? 4 : 0);
  let body: Document = {};
  const sequences: Document = {};
  for (let at = headerLength + 4; at < end; ) {
    if (message[at] === 0) {
      const { document, next } = decodeAt(message, at + 1);
      body = document;
      at = next;
      continue;
    }
    const sectionEnd = at + 1 + message.readInt32LE(at + 1);
    const nameEnd = message.indexOf(0, at + 5);
    const documents: Document[] = [];
    for (let item = nameEnd + 1; item < sectionEnd; ) {
      const { document, next } = decodeAt(message, item);
      documents.push(document);
      item = next;
    }
    sequences[message.toString('utf8', at + 5, nameEnd)] = documents;
    at = sectionEnd;
  }
  const exhaustAllowed = (bits & flags.exhaustAllowed) !== 0;
  return { legacy: false, exhaustAllowed, body: { ...body, ...sequences } };
}

function readQuery(message: Buffer): Omit<Request, 'id'> {
  const nameEnd = message.indexOf(0, headerLength + 4);
  const [database = ''] = message.toString('utf8', headerLength + 4, nameEnd).split('.');
  const { document } = decodeAt(message, nameEnd + 1 + 8);
  return { legacy: true, exhaustAllowed: false, body: { ...document, $db: database } };
}

/** Reads a command. @throws on an opcode other than OP_MSG and OP_QUERY, because compression is never negotiated */
export function readRequest(message: Buffer): Request {
  const opcode = message.readInt32LE(12);
  const id = message.readInt32LE(4);
  if (opcode === opcodes.message) return { id, ...readMessage(message) };
  if (opcode === opcodes.query) return { id, ...readQuery(message) };
  throw new Error(`opcode ${opcode}`);
}

let lastId = 0;

function framed(opcode: number, responseTo: number, parts: readonly Buffer[]): { id: number; bytes: Buffer } {
  lastId = (lastId + 1) % 0x7fff_ffff;
  const header = Buffer.alloc(headerLength);
  header.writeInt32LE(headerLength + parts.reduce((sum, { length }) => sum + length, 0), 0);
  header.writeInt32LE(lastId, 4);
  header.writeInt32LE(responseTo, 8);
  header.writeInt32LE(opcode, 12);
  return { id: lastId, bytes: Buffer.concat([header, ...parts]) };
}

/** Returns an OP_MSG with one body. */
export function frameMessage(body: Buffer, responseTo = 0, moreToCome = false) {
  const preamble = Buffer.alloc(5);
  preamble.writeUInt32LE(moreToCome ? flags.moreToCome : 0, 0);
  return framed(opcodes.message, responseTo, [preamble, body]);
}

/** Returns an OP_REPLY with one document, which answers an OP_QUERY. */
export function frameReply(body: Buffer, responseTo: number) {
  const preamble = Buffer.alloc(20);
  preamble.writeInt32LE(1, 16);
  return framed(opcodes.reply, responseTo, [preamble, body]);
}

/** Returns the body of a reply of an engine. */
export const bodyOf = (message: Buffer): Buffer => message.subarray(headerLength + 5);
