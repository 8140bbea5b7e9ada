import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { oneAtATime } from '../../server/platform/http/pipelining.ts';

let server: Server;
let socket: Socket;
/** The requests that the handler received, in order, with their responses. */
let handled: { path: string; response: ServerResponse; closed: boolean }[];
let received: string;

beforeEach(async () => {
  handled = [];
  received = '';
  server = createServer(
    oneAtATime(({ url = '' }, response) => {
      const one = { path: url, response, closed: false };
      response.once('close', () => {
        one.closed = true;
      });
      handled.push(one);
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket
    .on('error', () => undefined)
    .on('data', (data) => {
      received += data.toString();
    });
  await once(socket, 'connect');
});
afterEach(async () => {
  socket.destroy();
  server.closeAllConnections();
  server.close();
});

const send = (...paths: string[]) =>
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
const paths = () => handled.map(({ path }) => path);

describe('requests that a client pipelines', () => {
  it('are passed to the handler one after another, each when the previous one is answered', async () => {
    send('/1', '/2', '/3');
    await expect.poll(paths).toEqual(['/1']);
    handled[0]?.response.end('first');
    await expect.poll(paths).toEqual(['/1', '/2']);
    handled[1]?.response.end('second');
    await expect.poll(paths).toEqual(['/1', '/2', '/3']);
    handled[2]?.response.end('third');
    await expect.poll(() => received).toMatch(/first.*second.*third/s);
    send('/4');
    await expect.poll(paths).toEqual(['/1', '/2', '/3', '/4']);
    expect(handled.map(({ closed }) => closed)).toEqual([true, true, true, false]);
  });

  it('are not passed to the handler after the client resets the connection, and the running request is closed', async () => {
    send('/1', '/2', '/3');
    await expect.poll(paths).toEqual(['/1']);
    socket.resetAndDestroy();
    await expect.poll(() => handled[0]?.closed).toBe(true);
    expect(paths()).toEqual(['/1']);
  });

  it('are not passed to the handler after an answer with "Connection: close"', async () => {
    send('/1', '/2');
    await expect.poll(paths).toEqual(['/1']);
    handled[0]?.response.writeHead(200, { connection: 'close' }).end('last');
    await once(socket, 'close');
    expect(received).toContain('last');
    expect(paths()).toEqual(['/1']);
  });

  it('are not passed to the handler if more than 17 are pending: the server closes the connection', async () => {
    send(...Array.from({ length: 17 }, (_, n) => `/${n}`));
    await expect.poll(paths).toEqual(['/0']);
    send('/17');
    await once(socket, 'close');
    expect(paths()).toEqual(['/0']);
    expect(handled[0]?.closed).toBe(true);
  });
});
