import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createConnection, createConnections, keptMs } from '../../../server/webhooks/egress/connections.ts';

/** A connection over a socket that only notes what is asked of it. */
function open() {
  const asked: string[] = [];
  const note =
    (name: string) =>
    (...values: unknown[]) =>
      void asked.push([name, ...values].join(' '));
  const methods = { setTimeout: note('setTimeout'), ref: note('ref'), unref: note('unref') };
  const socket = Object.assign(new EventEmitter(), {
    ...methods,
    destroy: note('destroy'),
    destroyed: false,
  });
  return { asked, socket, connection: createConnection(socket as unknown as Socket) };
}

describe('a connection that is kept', () => {
  it('does not keep the process running, and ends after its time; one that is taken does not', () => {
    const connections = createConnections();
    const { asked, connection, socket } = open();
    connections.keep('a', connection, keptMs);
    expect(asked).toEqual([`setTimeout ${keptMs}`, 'unref']);
    expect(connections.take('a')).toBe(connection);
    expect(asked.slice(2)).toEqual(['setTimeout 0', 'ref']);
    socket.emit('timeout');
    expect(asked.at(-1)).toBe('destroy');
  });

  it('serves requests of its name only, the one that was kept last first, and each of them once', () => {
    const connections = createConnections();
    const [first, second] = [open().connection, open().connection];
    for (const connection of [first, second]) connections.keep('a', connection, keptMs);
    expect(connections.take('b')).toBeUndefined();
    expect([1, 2, 3].map(() => connections.take('a'))).toEqual([second, first, undefined]);
  });

  it.each(['end', 'error', 'close'])('serves no request after the event %s of its socket', (event) => {
    const connections = createConnections();
    const { connection, socket } = open();
    connections.keep('a', connection, keptMs);
    socket.emit(event, new Error('reset'));
    expect(connections.take('a')).toBeUndefined();
  });

  it('is closed if five others wait, or if its socket is closed already', () => {
    const connections = createConnections();
    const opened = Array.from({ length: 6 }, open);
    for (const { connection } of opened) connections.keep('a', connection, keptMs);
    expect(opened.map(({ asked }) => asked[0])).toEqual([...Array(5).fill('setTimeout 4000'), 'destroy']);
    const closed = open();
    closed.socket.destroyed = true;
    connections.keep('b', closed.connection, keptMs);
    expect(connections.take('b')).toBeUndefined();
  });
});
