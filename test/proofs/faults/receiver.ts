import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The received POSTs of one event id. */
export interface Arrived {
  /** The distinct bodies. */
  bodies: Set<string>;
  posts: number;
  /** The number of POSTs that were answered with a 2xx. */
  acknowledged: number;
}

/** The delay of an answer in milliseconds, so that faults occur during POSTs. */
const answersAfter = 20;

/** Starts a receiver that counts the POSTs of each event. Each partner has a separate path. */
export async function startReceiver() {
  const counted = new Map<string, Map<string, Arrived>>();
  const refusals = new Map<string, number>();

  function count(path: string, body: string): Arrived {
    const id = String((JSON.parse(body) as { event_id?: unknown }).event_id);
    const events = counted.get(path) ?? new Map<string, Arrived>();
    counted.set(path, events);
    const arrived = events.get(id) ?? { bodies: new Set<string>(), posts: 0, acknowledged: 0 };
    events.set(id, arrived);
    arrived.bodies.add(body);
    arrived.posts += 1;
    return arrived;
  }

  function answer(path: string, body: string, response: ServerResponse): void {
    const arrived = count(path, body);
    const accepted = arrived.posts > (refusals.get(path) ?? 0);
    if (accepted) arrived.acknowledged += 1;
    setTimeout(() => response.writeHead(accepted ? 204 : 500).end(), answersAfter);
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request.url ?? '', Buffer.concat(chunks).toString(), response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    /** Returns a new URL. The first `refused` POSTs of each event get a 500 there. */
    open(refused: number): { url: string; arrived: () => Map<string, Arrived> } {
      const path = `/${counted.size}`;
      counted.set(path, new Map());
      refusals.set(path, refused);
      return { url: `http://localhost:${port}${path}`, arrived: () => counted.get(path) ?? new Map() };
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
