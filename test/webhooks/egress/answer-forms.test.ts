import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createPost } from '../../../server/webhooks/egress/post.ts';
import { listen } from '../../harness/receiver.ts';
import { certificate, certificateKey } from '../certificate.ts';

const rules = { localhostAllowed: true, ownPorts: () => [] };
/** Sends to local receivers with a public name, and treats loopback as the Internet. */
const route = { resolve: async () => ['127.0.0.1'], allowed: () => true };
const post = createPost({ rules, route, ca: certificate, budget: 1_000 });
const request = { keyId: 'key_1', mode: 'test' as const, headers: {}, body: '{}' };

type Serve = (socket: Socket) => void;
const serveRequest = (serve: Serve) => (socket: Socket) =>
  void socket.on('error', () => undefined).once('data', () => serve(socket));

/** Posts to a receiver that answers without an HTTP library. */
const over = {
  http: async (serve: Serve) =>
    post({ ...request, url: `http://localhost:${await listen(createTcpServer(serveRequest(serve)))}/` }),
  https: async (serve: Serve) => {
    const tls = createTlsServer({ cert: certificate, key: certificateKey }, serveRequest(serve));
    return post({ ...request, url: `https://partner.example:${await listen(tls)}/` });
  },
};

const ok = 'HTTP/1.1 200 OK\r\n';
const empty = 'Content-Length: 0\r\n\r\n';
const interim = (status: number) => `HTTP/1.1 ${status} Wait\r\n\r\n`;
/** A header whose name and value together with the reason `OK` have this many bytes. */
const headerOf = (bytes: number) => `X: ${'x'.repeat(bytes - 'OKX'.length)}\r\n`;

const accepted = {
  '100 Continue that was not requested': `${interim(100)}${ok}${empty}`,
  'many informational responses with headers': `${[100, 102, 103, 103, 199].map(interim).join('')}HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok}${empty}`,
  'headers of 17 KiB': `${ok}${headerOf(17 * 1024)}Connection: close\r\n\r\n`,
  'headers of 64 KiB': `${ok}${headerOf(64 * 1024)}\r\n`,
  '3,000 headers': `${ok}${'X: y\r\n'.repeat(3_000)}\r\n`,
  'a folded header': `${ok}X-Folded: one\r\n two\r\n\tthree\r\n${empty}`,
  'the same Content-Length twice': `${ok}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`,
  'the same Content-Length twice in one header': `${ok}Content-Length: 2, 2\r\n\r\nok`,
  '100 Continue, then the same Content-Length twice': `${interim(100)}${ok}Content-Length: 0\r\n${empty}`,
  'two different Content-Lengths': `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`,
  'Content-Length and Transfer-Encoding': `${ok}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
  'no reason phrase': `HTTP/1.1 200\r\n${empty}`,
  'a reason phrase that is empty': `HTTP/1.1 200 \r\n${empty}`,
  'a reason phrase in Latin-1': Buffer.from(`HTTP/1.1 200 bien re\u00e7u\r\n${empty}`, 'latin1'),
  'header names in lower case': `${ok}content-length: 2\r\ncontent-type: text/plain\r\n\r\nok`,
  'HTTP/1.0': `HTTP/1.0 200 OK\r\n\r\nok`,
  'no headers, and the end of the connection': `${ok}\r\nok`,
  'data after the body': `${ok}Content-Length: 2\r\n\r\nok and more`,
  'a second response': `${ok}${empty}HTTP/1.1 500 No\r\n${empty}`,
  'line feeds without carriage returns': 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
  'an empty line before the status': `\r\n${ok}${empty}`,
  'chunks with extensions and trailers': `${ok}Transfer-Encoding: chunked\r\n\r\n2;a=b;c="d"\r\nok\r\n0;last\r\nX-Sum: 1\r\n\r\n`,
  'Upgrade headers in a 200': `${ok}Upgrade: h2,h2c\r\nConnection: Upgrade, close\r\n${empty}`,
  'a header without a colon': `${ok}nonsense\r\n${empty}`,
  'a header without a name': `${ok}: nonsense\r\n${empty}`,
  'a space before a colon': `${ok}X-Space : a\r\n${empty}`,
  'a space in a header name': `${ok}X Space: a\r\n${empty}`,
  'a control character in a header': `${ok}X-Control: a\u0001b\u0000c\r\n${empty}`,
  'an unknown transfer coding': `${ok}Transfer-Encoding: identity\r\n\r\nok`,
  'a body that never ends, and the end of the connection': `${ok}Content-Length: 100\r\n\r\nok`,
};

describe('a receiver that answers with 200', () => {
  for (const [scheme, postOver] of Object.entries(over)) {
    it.each(Object.entries(accepted))(
      `acknowledges the event over ${scheme} if the response has %s`,
      async (_form, bytes) => {
        const result = await postOver((socket) => void socket.end(bytes));
        expect(result).toMatchObject({ status: 200 });
        expect(result.error).toBeUndefined();
      },
    );
  }

  it.each(Object.entries(accepted).filter(([, bytes]) => bytes.length < 1_000))(
    'acknowledges the event if the response arrives byte by byte and has %s',
    async (_form, bytes) => {
      const result = await over.http((socket) => {
        socket.setNoDelay(true);
        const left = [...Buffer.from(bytes)];
        const next = () => {
          const byte = left.shift();
          if (byte === undefined) socket.end();
          else socket.write(Buffer.of(byte), () => setImmediate(next));
        };
        next();
      });
      expect(result).toMatchObject({ status: 200 });
      expect(result.error).toBeUndefined();
    },
  );

  it('acknowledges the event if it sends 1xx first and the 200 later', async () => {
    const result = await over.http((socket) => {
      socket.write(interim(102));
      setTimeout(() => socket.end(`${ok}${empty}`), 50);
    });
    expect(result).toMatchObject({ status: 200 });
    expect(result.durationMs).toBeGreaterThanOrEqual(49);
  });

  it('needs no end of the connection if the length of the body is known', async () => {
    const result = await over.http((socket) => void socket.write(`${ok}Content-Length: 2\r\n\r\nok`));
    expect(result).toMatchObject({ status: 200 });
    expect(result.durationMs).toBeLessThan(900);
  });

  it('does not acknowledge it with headers above 64 KiB, and the detail names them', async () => {
    const result = await over.https((socket) => void socket.end(`${ok}${headerOf(64 * 1024 + 1)}\r\n`));
    expect(result).toMatchObject({
      error: 'http',
      detail: 'the headers of the answer are larger than 64 KiB',
    });
  });

  it('does not acknowledge it with another status after 1xx, or with a repeated Content-Length', async () => {
    const failed = `HTTP/1.1 500 No\r\n${empty}`;
    expect(await over.http((socket) => void socket.end(`${interim(100)}${failed}`))).toMatchObject({
      status: 500,
      error: 'http',
    });
    const repeated = `HTTP/1.1 302 Found\r\nContent-Length: 0\r\n${empty}`;
    expect(await over.http((socket) => void socket.end(repeated))).toMatchObject({
      status: 302,
      error: 'http',
    });
  });

  it.each([
    ['before the end of the status line', 'HTTP/1.1 200 O'],
    ['within the headers', `${ok}Content-Le`],
    ['after 1xx', interim(103)],
  ])('does not acknowledge it if the connection ends %s', async (_when, bytes) => {
    const result = await over.http((socket) => void socket.end(bytes));
    expect(result).toMatchObject({ error: 'reset' });
    expect(result.status).toBeUndefined();
  });
});
