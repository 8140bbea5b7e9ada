import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createResolve } from '../../../server/webhooks/egress/connector.ts';
import { isPublicAddress } from '../../../server/webhooks/egress/destination.ts';
import { createPost } from '../../../server/webhooks/egress/post.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { createNameServer } from '../name-server.ts';
import { forbiddenAddresses, forbiddenUrls } from '../vectors.ts';

const rules = { localhostAllowed: true, ownPorts: () => [] };
const request = { keyId: 'key_1', mode: 'test' as const, headers: {}, body: '{}' };

let sockets = 0;
const count = () => {
  sockets += 1;
};
beforeEach(() => {
  sockets = 0;
  subscribe('net.client.socket', count);
});
afterEach(() => {
  unsubscribe('net.client.socket', count);
});

describe('a webhook POST', () => {
  it.each(forbiddenUrls)('sends no packet to the URL %s, which has %s', async (_shown, _kind, url) => {
    expect(await createPost({ rules })({ ...request, url })).toMatchObject({ error: 'blocked_address' });
    expect(sockets).toBe(0);
  });

  it.each(forbiddenAddresses)(
    'sends no packet if its host resolves to %s (%s)',
    async (_shown, _kind, address) => {
      const post = createPost({ rules, route: { resolve: async () => [address] } });
      expect(await post({ ...request, url: 'https://partner.example/' })).toMatchObject({
        error: 'blocked_address',
      });
      expect(sockets).toBe(0);
    },
  );

  it.each([
    ['1.1.1.1', '10.0.0.1'],
    ['127.0.0.1', '1.1.1.1'],
    ['2606:4700::1111', 'fd00::1'],
    ['1.1.1.1', '::1'],
  ])(
    'ends with blocked_address, without a connection, if its host resolves to both %s and %s',
    async (...addresses) => {
      const post = createPost({ rules, route: { resolve: async () => addresses } });
      expect(await post({ ...request, url: 'https://partner.example/' })).toMatchObject({
        error: 'blocked_address',
      });
      expect(sockets).toBe(0);
    },
  );

  it.each([
    ['1.1.1.1', 'https://1.1.1.1/'],
    ['2606:4700::1111', 'https://[2606:4700::1111]/'],
  ])('checks the literal address %s of its URL', async (address, url) => {
    const checked: string[] = [];
    const allowed = (candidate: string) => checked.push(candidate) === 0;
    const result = await createPost({ rules, route: { allowed } })({ ...request, url });
    expect(result).toMatchObject({ error: 'blocked_address', detail: `${address} may not be dialled` });
    expect(checked).toEqual([address]);
    expect(sockets).toBe(0);
  });

  it.each([
    ['https://partner.example/', 443],
    ['https://partner.example:8443/', 8443],
  ])('connects to the port of the URL %s, which is %d', async (url, port) => {
    const ports: number[] = [];
    const noteAttempts = (message: unknown) =>
      (message as { socket: Socket }).socket.on('connectionAttempt', (_address, attempted: number) =>
        ports.push(attempted),
      );
    subscribe('net.client.socket', noteAttempts);
    onTestFinished(() => void unsubscribe('net.client.socket', noteAttempts));
    const route = { resolve: async () => ['127.0.0.3'], allowed: () => true };
    await createPost({ rules, route })({ ...request, url });
    expect(ports).toEqual([port]);
  });

  it('ends with blocked_address, without a connection, if a name server returns 10.0.0.1 for its host', async () => {
    const server = await createNameServer(() => ['10.0.0.1']);
    const post = createPost({ rules, route: { resolve: createResolve([server]) } });
    const result = await post({ ...request, url: 'https://partner.example/' });
    expect(result).toMatchObject({ error: 'blocked_address', detail: expect.stringContaining('10.0.0.1') });
    expect(sockets).toBe(0);
  });

  it('connects only to the address that was checked, if its host later resolves to another one', async () => {
    const receiver = await createReceiver();
    const server = await createNameServer((_name, asked) => [asked === 1 ? '127.0.0.2' : '127.0.0.1']);
    const checked: string[] = [];
    const allowed = (address: string) => {
      checked.push(address);
      return address === '127.0.0.2';
    };
    const post = createPost({ rules, route: { resolve: createResolve([server]), allowed } });
    const url = `https://rebinding.example:${receiver.port}/`;
    // The first address, 127.0.0.2, counts as public in this test. No server listens there.
    expect(await post({ ...request, url })).toMatchObject({ error: 'refused' });
    expect(checked).toEqual(['127.0.0.2']);
    // The second address is 127.0.0.1, where a server listens.
    expect(await post({ ...request, url })).toMatchObject({ error: 'blocked_address' });
    expect(receiver.connections()).toBe(0);
  });

  it('sends no request if the connected address is not allowed when it is checked again', async () => {
    const receiver = await createReceiver();
    let asked = 0;
    const allowed = () => {
      asked += 1;
      return asked === 1;
    };
    const post = createPost({ rules, route: { resolve: async () => ['127.0.0.1'], allowed } });
    const result = await post({ ...request, url: `https://partner.example:${receiver.port}/` });
    expect(result).toMatchObject({ error: 'blocked_address' });
    expect(result.address).toBeUndefined();
    expect(receiver.received).toHaveLength(0);
  });

  it('resolves localhost without a name server, connects to it for test keys, and ends with blocked_address for live keys', async () => {
    const receiver = await createReceiver((_count, _request, response) => response.end('private page'));
    const resolve = () => Promise.reject(new Error('asked'));
    const post = createPost({ rules, route: { resolve, allowed: isPublicAddress } });
    const result = await post({ ...request, url: receiver.url });
    expect(result).toEqual({
      status: 200,
      address: `127.0.0.1:${receiver.port}`,
      durationMs: expect.any(Number),
    });
    expect(await post({ ...request, mode: 'live', url: receiver.url })).toMatchObject({
      error: 'blocked_address',
    });
    expect(receiver.received).toHaveLength(1);
    expect(sockets).toBe(1);
  });

  it("ends with blocked_address, without a connection, for the server's own ports on localhost", async () => {
    const receiver = await createReceiver();
    const post = createPost({ rules: { ...rules, ownPorts: () => [receiver.port] } });
    expect(await post({ ...request, url: receiver.url })).toMatchObject({ error: 'blocked_address' });
    expect(receiver.connections()).toBe(0);
  });

  it('does not follow a redirect', async () => {
    const inner = await createReceiver();
    const receiver = await createReceiver((_count, _request, response) =>
      response.writeHead(307, { location: inner.url }).end(),
    );
    const result = await createPost({ rules })({ ...request, url: receiver.url });
    expect(result).toMatchObject({ error: 'http', status: 307 });
    expect(inner.connections()).toBe(0);
  });
});
