import { createSocket } from 'node:dgram';
import ipaddr from 'ipaddr.js';
import { onTestFinished } from 'vitest';

/** The addresses of a name at the `count`th question (from 1); undefined for no answer. */
export type Zone = (name: string, count: number) => string[] | undefined;

const types = { 1: 'ipv4', 28: 'ipv6' } as const;

function answer(query: Buffer, addresses: readonly string[]): Buffer {
  const question = query.subarray(12, questionEnd(query));
  const type = query.readUInt16BE(questionEnd(query) - 4);
  const wanted = addresses
    .map((address) => ipaddr.parse(address))
    .filter((address) => address.kind() === types[type as keyof typeof types]);
  const header = Buffer.alloc(12);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(wanted.length, 6);
  const records = wanted.map((address) => {
    const bytes = Buffer.from(address.toByteArray());
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([header, question, ...records]);
}

function questionEnd(query: Buffer): number {
  let at = 12;
  while (query[at]) at += (query[at] ?? 0) + 1;
  return at + 5;
}

function nameOf(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; query[at]; at += (query[at] ?? 0) + 1) {
    labels.push(query.toString('ascii', at + 1, at + 1 + (query[at] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}

/** A name server for tests, whose answers have a time to live of 0. @returns its `address:port` */
export async function createNameServer(zone: Zone): Promise<string> {
  const socket = createSocket('udp4');
  const counts = new Map<string, number>();
  socket.on('message', (query, { port, address }) => {
    const name = nameOf(query);
    const type = query.readUInt16BE(questionEnd(query) - 4);
    // A and AAAA of one look-up count as one question.
    const count = (counts.get(`${name} ${type}`) ?? 0) + 1;
    counts.set(`${name} ${type}`, count);
    const addresses = zone(name, count);
    if (addresses) socket.send(answer(query, addresses), port, address);
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  onTestFinished(() => {
    socket.close();
  });
  return `127.0.0.1:${socket.address().port}`;
}
