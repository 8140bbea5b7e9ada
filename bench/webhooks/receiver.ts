import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerCalls } from '../remote.ts';
import type { Arrival, Behaviour } from './endpoints.ts';

/** A program: the partners' endpoints as paths of one server, which counts every POST. */
const slowness = 1000;
let behaviours: Readonly<Record<string, Behaviour>> = {};
let arrivals: Arrival[] = [];
const held: (() => void)[] = [];

async function answer(arrival: Arrival, response: ServerResponse): Promise<void> {
  const behaviour = behaviours[arrival.path] ?? 'accepts';
  if (behaviour === 'hangs') {
    held.push(() => void answer(arrival, response));
    return;
  }
  if (behaviour === 'is slow') await sleep(slowness);
  if (response.destroyed) return;
  arrival.acknowledged = behaviour !== 'fails';
  response.writeHead(arrival.acknowledged ? 204 : 500).end();
}

const server = createServer((request, response) => {
  const { url: path = '', headers } = request;
  const arrival: Arrival = {
    path,
    eventId: String(headers['x-svc-event-id']),
    attempt: Number(headers['x-svc-attempt']),
    at: Date.now(),
    acknowledged: false,
  };
  arrivals.push(arrival);
  request.resume().once('end', () => void answer(arrival, response));
});

answerCalls({
  async start() {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://localhost:${(server.address() as AddressInfo).port}`;
  },
  behave(wanted: Readonly<Record<string, Behaviour>>) {
    behaviours = wanted;
    for (const again of held.splice(0)) again();
  },
  take() {
    const taken = arrivals;
    arrivals = [];
    return taken;
  },
});
