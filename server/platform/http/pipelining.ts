import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The most requests that may wait on one connection. Clients that pipeline send only a few. */
const mostWaiting = 16;

/**
 * Handles the requests of a connection one after another, even if the client pipelines them (RFC 9112 9.3.2). So one
 * connection takes at most one place of a limit, and Node.js emits `close` on each response. A connection with more than
 * 16 waiting requests is closed.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, (() => void)[]>();

  function begin(handleRequest: () => void, response: ServerResponse, socket: Socket): void {
    response.once('close', () => {
      // After `Connection: close` or a reset, the waiting requests are not handled.
      if (socket.destroyed || socket.writableEnded) return;
      const next = waiting.get(socket)?.shift();
      if (next) next();
      else waiting.delete(socket);
    });
    handleRequest();
  }

  return (request, response) => {
    const { socket } = request;
    const start = () => begin(() => handle(request, response), response, socket);
    const queue = waiting.get(socket);
    if (!queue) {
      waiting.set(socket, []);
      start();
    } else if (queue.length < mostWaiting) {
      queue.push(start);
    } else {
      socket.destroy();
    }
  };
}
