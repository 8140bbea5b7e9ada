import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { adviseReceiver } from '../../../contracts/receiver-advice.ts';
import { createPost, type PostSettings } from '../../../server/webhooks/egress/post.ts';
import { listen } from '../../harness/receiver.ts';
import { certificate, certificateKey, expiredCertificate } from '../certificate.ts';

const route = { resolve: async () => ['127.0.0.1'], allowed: () => true };
const rules = { localhostAllowed: false, ownPorts: () => [] };

/** Makes an attempt at a port of `host`, and returns the advice after it. */
async function adviceAfter(port: number, settings: Partial<PostSettings> = {}, host = 'partner.example') {
  const post = createPost({ rules, route, ...settings });
  const url = `https://${host}:${port}/`;
  const result = await post({ keyId: 'key_1', url, mode: 'test', headers: {}, body: '{}' });
  const { error, status = null, detail = null } = result;
  return adviseReceiver({ error: error ?? expect.fail('the attempt succeeded'), status, detail });
}

const secure = (cert = certificate): Server =>
  createTlsServer({ cert, key: certificateKey }, (_request, response) => response.end());

const rawServer = (serve: (socket: Socket) => void) =>
  listen(createTcpServer((socket) => serve(socket.on('error', () => undefined))));

describe('the advice after an attempt without an HTTP response', () => {
  it('says that the certificate has expired', async () => {
    const port = await listen(secure(expiredCertificate));
    expect(await adviceAfter(port, { ca: expiredCertificate })).toContain('certificate has expired');
  });

  it('says that the certificate does not name the host', async () => {
    const advice = await adviceAfter(await listen(secure()), { ca: certificate }, 'other.example');
    expect(advice).toContain('does not name the host of the URL');
  });

  it('says that no public authority signed the certificate', async () => {
    expect(await adviceAfter(await listen(secure()))).toContain('No public authority signed');
  });

  it('says that the port does not speak TLS, and names no certificate', async () => {
    const advice = await adviceAfter(await listen(createServer((_request, response) => response.end())));
    expect(advice).toContain('does not speak TLS');
    expect(advice).not.toContain('certificate');
  });

  it('says that the connection ended during the TLS handshake', async () => {
    const port = await rawServer((socket) => socket.destroy());
    expect(await adviceAfter(port)).toContain('ended during the TLS handshake');
  });

  it('says that the handshake is not answered, instead of that the receiver works too long', async () => {
    const port = await rawServer(() => undefined);
    expect(await adviceAfter(port, { budget: 200 })).toContain('does not answer the TLS handshake');
  });

  it('is about the host name if the attempt was still at the name server', async () => {
    const resolve = () => new Promise<string[]>(() => undefined);
    const advice = await adviceAfter(443, { budget: 100, route: { ...route, resolve } });
    expect(advice).toContain('host name of the URL');
  });
});
