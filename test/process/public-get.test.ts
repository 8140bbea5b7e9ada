import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createResolve } from '../../server/webhooks/egress/connector.ts';
import { createPublicGet } from '../../server/webhooks/egress/public-get.ts';
import { createReceiver, listen, type Receiver, startReceiver } from '../harness/receiver.ts';
import { certificate, certificateKey } from '../webhooks/certificate.ts';
import { createNameServer } from '../webhooks/name-server.ts';
import { forbiddenAddresses, forbiddenUrls } from '../webhooks/vectors.ts';

const type = 'application/statuslist+jwt';
const accept = [type, 'application/statuslist+cwt'];
const tls = { cert: certificate, key: certificateKey };
/** Sends to local servers with a public name, and treats loopback as the Internet. */
const route = { resolve: async () => ['127.0.0.1'], allowed: () => true };
const mostBodyBytes = 1_000;
const get = createPublicGet({ route, ca: certificate, mostBodyBytes });
const impatient = createPublicGet({ route, ca: certificate, mostBodyBytes, timeoutMs: 300 });
const at = (port: number) => `https://partner.example:${port}/list?a=1`;

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

async function secureReceiver(answer: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(answer, tls);
  onTestFinished(receiver.close);
  return receiver;
}

/** A TLS server that gets each connection without HTTP parsing. */
const rawServer = (serve: (socket: Socket) => void): Promise<number> =>
  listen(createTlsServer(tls, (socket) => serve(socket.on('error', () => undefined))));

/** The port of a server that answers every request with these bytes, and then acts as `after` states. */
const answering = (bytes: string, after: (socket: Socket) => void = (socket) => void socket.end()) =>
  rawServer((socket) =>
    socket.once('data', () => {
      socket.write(bytes);
      after(socket);
    }),
  );
const head = (more = '', status = '200 OK') => `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\n${more}\r\n`;

describe('a GET to a public server', () => {
  it('uses https, names the accepted media types, and returns type and body of the response', async () => {
    const receiver = await secureReceiver((_count, _request, response) =>
      response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end('list'),
    );
    const { type: said, body } = await get(at(receiver.port), accept);
    expect([said, body.toString()]).toEqual([`${type}; charset=utf-8`, 'list']);
    const [{ path, headers } = {}] = receiver.received as Partial<(typeof receiver.received)[0]>[];
    expect(path).toBe('/list?a=1');
    expect(headers).toMatchObject({ accept: accept.join(', '), host: `partner.example:${receiver.port}` });
    expect(headers).not.toHaveProperty('cookie');
  });

  it('uses a connection of its own if two calls are simultaneous', async () => {
    const receiver = await secureReceiver((_count, _request, response) =>
      response.writeHead(200, { 'content-type': type }).end('list'),
    );
    await Promise.all([get(at(receiver.port), accept), get(at(receiver.port), accept)]);
    expect([receiver.received.length, receiver.connections()]).toEqual([2, 2]);
  });
});

describe('a GET that may reach only public servers', () => {
  it.each(forbiddenUrls)('sends no packet to the URL %s, which has %s', async (_shown, _kind, url) => {
    await expect(impatient(url, accept)).rejects.toThrow();
    expect(sockets).toBe(0);
  });

  it.each(forbiddenAddresses)(
    'sends no packet if its host resolves to %s (%s)',
    async (_shown, _kind, address) => {
      const guarded = createPublicGet({ route: { resolve: async () => [address] } });
      await expect(guarded('https://issuer.example/', accept)).rejects.toThrow('may not be dialled');
      expect(sockets).toBe(0);
    },
  );

  it.each([
    ['1.1.1.1', '10.0.0.1'],
    ['::1', '2606:4700::1111'],
  ])('sends no packet if its host resolves to both %s and %s', async (...addresses) => {
    const guarded = createPublicGet({ route: { resolve: async () => addresses } });
    await expect(guarded('https://issuer.example/', accept)).rejects.toThrow('may not be dialled');
    expect(sockets).toBe(0);
  });

  it('sends no packet if a name server returns 169.254.169.254 for its host', async () => {
    const server = await createNameServer(() => ['169.254.169.254']);
    const guarded = createPublicGet({ route: { resolve: createResolve([server]) } });
    await expect(guarded('https://issuer.example/', accept)).rejects.toThrow('169.254.169.254');
    expect(sockets).toBe(0);
  });

  it('opens no connection if its host resolves to a public address first, and to a private one at the next call', async () => {
    const receiver = await secureReceiver((_count, _request, response) => response.end());
    const server = await createNameServer((_name, asked) => [asked === 1 ? '127.0.0.2' : '127.0.0.1']);
    const guarded = createPublicGet({
      ca: certificate,
      route: { resolve: createResolve([server]), allowed: (address) => address === '127.0.0.2' },
    });
    // The first address, 127.0.0.2, counts as public in this test. No server listens there.
    await expect(guarded(at(receiver.port), accept)).rejects.toThrow('ECONNREFUSED');
    await expect(guarded(at(receiver.port), accept)).rejects.toThrow('may not be dialled');
    expect(receiver.connections()).toBe(0);
  });

  it('sends no byte if the second check, on the open connection, finds that the address is not public', async () => {
    const receiver = await secureReceiver((_count, _request, response) => response.end());
    let asked = 0;
    const allowed = () => {
      asked += 1;
      return asked === 1;
    };
    const guarded = createPublicGet({ ca: certificate, route: { ...route, allowed } });
    await expect(guarded(at(receiver.port), accept)).rejects.toThrow('may not be dialled');
    expect(receiver.received).toHaveLength(0);
  });
});

describe('another server than the one in the URL of a GET', () => {
  it('gets no request if it lacks a certificate for the name in the URL from a known authority', async () => {
    const receiver = await secureReceiver((_count, _request, response) => response.end('list'));
    const unknown = createPublicGet({ route });
    await expect(unknown(at(receiver.port), accept)).rejects.toThrow('self-signed certificate');
    const other = `https://other.example:${receiver.port}/`;
    await expect(get(other, accept)).rejects.toThrow("does not match certificate's altnames");
    const plain = await createReceiver((_count, _request, response) => response.end('list'));
    await expect(get(at(plain.port), accept)).rejects.toThrow();
    expect([...receiver.received, ...plain.received]).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])(
    'gets no connection by a redirect with the status %d',
    async (status) => {
      const inner = await secureReceiver((_count, _request, response) => response.end('list'));
      const receiver = await secureReceiver((_count, _request, response) =>
        response.writeHead(status, { location: at(inner.port), 'content-type': type }).end('list'),
      );
      await expect(get(at(receiver.port), accept)).rejects.toThrow(`status ${status}`);
      expect(inner.connections()).toBe(0);
    },
  );
});

describe('the response of a public server to a GET', () => {
  it.each([
    ['has the status 404', `${head('Content-Length: 4\r\n', '404 Not Found')}list`, 'status 404'],
    ['has the status 204', head('', '204 No Content'), 'status 204'],
    ['has the status 206', `${head('Content-Length: 4\r\n', '206 Partial Content')}list`, 'status 206'],
    [
      'has a type that was not requested',
      'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nlist',
      'another content type',
    ],
    ['has no Content-Type', 'HTTP/1.1 200 OK\r\n\r\nlist', 'another content type'],
    [
      'has two Content-Type headers',
      `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Type: ${type}\r\n\r\n`,
      'another content type',
    ],
    ['announces a body above the maximum length', head('Content-Length: 1001\r\n'), 'too long'],
    [
      'has a body above the maximum length',
      `${head('Connection: close\r\n')}${'x'.repeat(1001)}`,
      'too long',
    ],
    [
      'has a chunked body above the maximum length',
      `${head('Transfer-Encoding: chunked\r\n')}3e9\r\n${'x'.repeat(1001)}\r\n`,
      'too long',
    ],
    ['ends before its Content-Length', `${head('Content-Length: 900\r\n')}list`, /closed|mismatch|aborted/],
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', /HTTP|Parse|Expected/],
    ['is empty', '', /hang up/],
    ['has a header of 40,000 characters', head(`X-Long: ${'x'.repeat(40_000)}\r\n`), /Header overflow/],
  ])('is refused, and the call throws the reason, if it %s', async (_what, bytes, fault) => {
    await expect(get(at(await answering(bytes)), accept)).rejects.toThrow(fault);
  });

  it('is accepted with a body of exactly the maximum length', async () => {
    const port = await answering(`${head('Content-Length: 1000\r\n')}${'x'.repeat(1000)}`);
    expect((await get(at(port), accept)).body).toHaveLength(1000);
  });

  it('is accepted after an interim response with the status 103 (Early Hints)', async () => {
    const port = await answering(`HTTP/1.1 103 Early Hints\r\n\r\n${head('Content-Length: 4\r\n')}list`);
    expect((await get(at(port), accept)).body.toString()).toBe('list');
  });

  it('is not read to its end, and the connection closes, if its body is above the maximum length', async () => {
    let written = 0;
    let closed: () => void = () => undefined;
    const ended = new Promise<void>((done) => {
      closed = done;
    });
    const port = await answering(head('Connection: close\r\n'), (socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(0x4000))) written += 0x4000;
      };
      socket.on('drain', more).once('close', closed);
      more();
    });
    await expect(get(at(port), accept)).rejects.toThrow('too long');
    await ended;
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  it('rejects only its own call if the connection breaks during a fast transfer', async () => {
    const many = createPublicGet({ route, ca: certificate, mostBodyBytes: 64 * 1024 * 1024 });
    const port = await answering(head('Content-Length: 33554432\r\n'), (socket) => {
      socket.write('x'.repeat(1024 * 1024), () => socket.destroy());
    });
    await Promise.all(Array.from({ length: 5 }, () => expect(many(at(port), accept)).rejects.toThrow()));
  });
});

describe('the time limit of a GET to a public server', () => {
  const never = /within the time allowed/;
  /** Writes repeatedly until the connection ends. */
  const drip = (text: string) => (socket: Socket) => {
    const timer = setInterval(() => socket.write(text), 20);
    socket.once('close', () => clearInterval(timer));
  };

  it('ends a call to a name server that does not answer', async () => {
    const server = await createNameServer(() => undefined);
    const slow = createPublicGet({ timeoutMs: 300, route: { resolve: createResolve([server]) } });
    await expect(slow('https://issuer.example/', accept)).rejects.toThrow(never);
    expect(sockets).toBe(0);
  });

  it('ends a call to a server that is silent at the TLS handshake', async () => {
    let closed: () => void = () => undefined;
    const ended = new Promise<void>((done) => {
      closed = done;
    });
    const port = await listen(
      createTcpServer((socket) => socket.on('error', closed).on('close', closed).resume()),
    );
    await expect(impatient(at(port), accept)).rejects.toThrow(never);
    await ended;
  });

  it('ends a call to a server that never answers', async () => {
    const port = await answering('', () => undefined);
    await expect(impatient(at(port), accept)).rejects.toThrow(never);
  });

  it('ends a call to a server that sends its headers too slowly', async () => {
    const port = await answering('HTTP/1.1 200 OK\r\n', drip('X-More: yes\r\n'));
    await expect(impatient(at(port), accept)).rejects.toThrow(never);
  });

  it('ends a call to a server that sends its body too slowly, even if it is never idle', async () => {
    const port = await answering(head('Content-Length: 900\r\n'), drip('x'));
    await expect(impatient(at(port), accept)).rejects.toThrow(never);
  });

  it('closes the connection of a call that it ends', async () => {
    let closed: () => void = () => undefined;
    const ended = new Promise<void>((done) => {
      closed = done;
    });
    const port = await answering('', (socket) => void socket.once('close', closed));
    await expect(impatient(at(port), accept)).rejects.toThrow(never);
    await ended;
  });

  it('does not prevent a call from failing at once if the connection or the name resolution fails', async () => {
    const patient = createPublicGet({ route, ca: certificate, timeoutMs: 2 ** 31 - 1 });
    const port = await answering('', (socket) => socket.destroy());
    await expect(patient(at(port), accept)).rejects.toThrow();
    const unknown = createPublicGet({ route: { resolve: () => Promise.reject(new Error('ENOTFOUND')) } });
    await expect(unknown('https://issuer.example/', accept)).rejects.toThrow('ENOTFOUND');
    const none = createPublicGet({ route: { resolve: async () => [] } });
    await expect(none('https://issuer.example/', accept)).rejects.toThrow('has no address');
  });
});
