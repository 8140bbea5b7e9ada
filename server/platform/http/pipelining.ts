import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that wait on one connection behind the one being answered. Clients that pipeline send a few. */
const mostWaiting = 16;

/**
 * Handles the requests of a connection one after another, also where a client pipelines them (RFC 9112 9.3.2). One
 * connection then takes one place of any limit, and each response has its socket: Node.js emits `close` only on those.
 * A connection with more than 16 waiting requests is closed.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, (() => void)[]>();

  function begin(begun: () => void, response: ServerResponse, socket: Socket): void {
    response.once('close', () => {
      // After `Connection: close` or a reset, requests that wait are not handled.
      if (socket.destroyed || socket.writableEnded) return;
      const next = waiting.get(socket)?.shift();
      if (next) next();
      else waiting.delete(socket);
    });
    begun();
  }

  return (request, response) => {
    const { socket } = request;
    const turn = () => begin(() => handle(request, response), response, socket);
    const before = waiting.get(socket);
    if (!before) {
      waiting.set(socket, []);
      turn();
    } else if (before.length < mostWaiting) before.push(turn);
    else socket.destroy();
  };
}
