import { createServer, type Socket } from 'node:net';
import { BSON } from 'mongodb';
import { onTestFinished } from 'vitest';
import { serveConnection } from '../../../embedded-database/engine/wire.ts';

const legacyQuery = 2004;

/**
 * A server that greets like the given kind of deployment, and accepts every other command. It stops when the test ends.
 * @returns its address
 */
export const startDeployment = async (greeting: Record<string, unknown>): Promise<string> => {
  const response = Buffer.from(
    BSON.serialize({
      isWritablePrimary: true,
      helloOk: true,
      minWireVersion: 8,
      maxWireVersion: 21,
      ...greeting,
      ok: 1,
    }),
  );
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    serveConnection(
      {
        roundTrip: (message) =>
          Promise.resolve({
            requestId: message.readInt32LE(4),
            moreToCome: false,
            legacy: message.readInt32LE(12) === legacyQuery,
            response,
          }),
        close: () => Promise.resolve(),
      },
      socket,
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `mongodb://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/?directConnection=true`;
};
