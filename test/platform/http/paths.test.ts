import { get } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
});
afterAll(() => server.stop());

/** Sends a path as it is: `fetch` would remove dot segments. @returns the status, and whether a page was the answer */
function statusOf(base: string, path: string): Promise<number> {
  const { hostname, port } = new URL(base);
  const headers = { authorization: `Bearer ${adminToken}`, accept: 'text/html' };
  return new Promise((done, fail) => {
    get({ hostname, port, path, headers }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    }).on('error', fail);
  });
}

/** Other forms of a path, which a proxy's rule for the path does not recognise. */
function formsOf(path: string): string[] {
  const escaped = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`;
  const [, first = '', rest = ''] = /^\/([^/]+)(.*)$/.exec(path) ?? [];
  const letter = first.charAt(0);
  return [
    ...[
      `/${escaped(letter)}${first.slice(1)}${rest}`,
      `/${escaped(letter).toUpperCase()}${first.slice(1)}${rest}`,
    ],
    ...[`/${first.slice(0, -1)}${escaped(first.slice(-1))}${rest}`, `/${path}`, `//${path}`],
    ...[`/.${path}`, `/x/..${path}`, `/%2e${path}`, `/x/%2e%2e${path}`, `/docs/..${path}`],
    ...[`/;a${path}`, `/${first};a${rest}`, `/\\${first}${rest}`, `/${first.toUpperCase()}${rest}`],
    ...[`/%5c${first}${rest}`, `/${first}.${rest}`, `/${first}%00${rest}`, `/%2f${first}${rest}`],
  ];
}

it.each<[listener: 'publicUrl' | 'adminUrl', path: string]>([
  ['publicUrl', '/portal/sign-in'],
  ['publicUrl', '/status'],
  ['publicUrl', '/docs/'],
  ['publicUrl', '/.well-known/jwks.json'],
  ['adminUrl', '/ops'],
  ['adminUrl', '/metrics'],
  ['adminUrl', '/trpc/operators.whoami'],
])('the listener of %s answers %s, and 404 for every other form of this path', async (listener, path) => {
  const base = server[listener];
  expect(await statusOf(base, path)).toBe(200);
  const answers: [string, number][] = [];
  for (const form of formsOf(path)) answers.push([form, await statusOf(base, form)]);
  expect(answers.filter(([, status]) => status !== 404 && status !== 400)).toEqual([]);
});

it('every HTML page, also of an error, has a content security policy that begins with nothing allowed', async () => {
  const bearer = { authorization: `Bearer ${adminToken}` };
  const missing: string[] = [];
  for (const [base, paths] of [
    [
      server.publicUrl,
      ['/', '/docs/', '/docs/errors', '/status', '/portal/sign-in', '/portal/none', '/portal/'],
    ],
    [server.publicUrl, ['/verify/start', '/verify/session/ses_x', '/verify/none', '/verify/data', '/none']],
    [server.adminUrl, ['/ops', '/ops/none', '/none']],
  ] as const)
    for (const path of paths) {
      const { headers } = await fetch(`${base}${path}`, { headers: { accept: 'text/html', ...bearer } });
      const isPage = headers.get('content-type')?.startsWith('text/html');
      if (isPage && !/^default-src 'none'/.test(headers.get('content-security-policy') ?? ''))
        missing.push(path);
    }
  expect(missing).toEqual([]);
});

it('cookies of the portal have the prefix __Host- if the base URL is https', async () => {
  const secure = await startTestServer({ env: { SVC_PORTAL: 'on', SVC_BASE_URL: 'https://verify.example' } });
  const { headers } = await fetch(`${secure.publicUrl}/portal/sign-in`);
  await secure.stop();
  expect(headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-svc_portal_nonce=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
  ]);
});
