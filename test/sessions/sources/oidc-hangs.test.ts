import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { OidcSources } from '../../../contracts/oidc-sources.ts';
import { createOidcSource } from '../../../server/sessions/sources/oidc.ts';
import { listen } from '../../harness/receiver.ts';

it('a provider that hangs keeps at most 64 users waiting at their begin; others are answered immediately that it is down', async () => {
  const server = createServer(() => undefined);
  const port = await listen(server);
  const [settings] = OidcSources.parse([
    { name: 'hangs', label: 'Hangs', issuer: `http://localhost:${port}`, clientId: 'svc', modes: ['test'] },
  ]);
  if (!settings) throw new Error('no settings');
  const source = createOidcSource(settings as never, {
    baseUrl: 'http://localhost:1',
    clock: { now: Date.now },
    logger: { warn: () => undefined },
  });
  const attempt = { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) };
  const begin = () => source.begin({} as never, attempt as never);
  const waiting = Array.from({ length: 64 }, begin);
  let ended = 0;
  for (const one of waiting) void one.then(() => (ended += 1));
  expect(await begin()).toEqual({ kind: 'down' });
  expect(ended).toBe(0);
  onTestFinished(() => void Promise.all(waiting));
  server.closeAllConnections();
  server.close();
});
