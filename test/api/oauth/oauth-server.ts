import type { CommandStartedEvent } from 'mongodb';
import { expect } from 'vitest';
import { completeSession } from '../../harness/completed-session.ts';
import { type Code, createPartner, post, type TestPartner, tokenForm } from '../../harness/partner.ts';
import { type QuickResponse, quickFetch } from '../../harness/quick-fetch.ts';
import { manualClock, startTestServer } from '../../harness/server.ts';

const hour = 3_600_000;

/** `minutes:seconds` after the next full hour, so that the windows of the limits are known. */
export function momentAt(minutes: number, seconds = 0): number {
  return Math.ceil(Date.now() / hour) * hour + (minutes * 60 + seconds) * 1000;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined for an empty body. */
  body: unknown;
  /** Fields of an OAuth error or token response, if the body has them. */
  error?: string;
  error_description?: string;
  access_token?: string;
  scope?: string;
}

/** Reads a response of an OAuth endpoint, and checks the headers that all must have. */
export async function answerOf(call: Promise<QuickResponse>): Promise<Answer> {
  const { status, headers, ...response } = await call.then(async (given) => ({
    status: given.status,
    headers: given.headers,
    text: await given.text(),
  }));
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('pragma')).toBe('no-cache');
  expect(headers.get('x-request-id')).toMatch(/^req_/);
  if (response.text === '') return { status, headers, body: undefined };
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  const body: object = JSON.parse(response.text);
  if (status !== 200) {
    // Interface 2.4: an error body has these two fields and no others.
    expect(body).toEqual({ error: expect.any(String), error_description: expect.stringMatching(/.{8}/) });
  }
  return { status, headers, body, ...body };
}

export const basic = (id: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

export const bearer = (token = ''): Record<string, string> => ({ authorization: `Bearer ${token}` });

/**
 * Starts the service with a manual clock, and returns helper calls for the OAuth tests. The clock starts 10 s into a
 * minute, so that 50 s of this minute remain. The caller stops the service.
 */
export async function startOAuth(
  env: Record<string, string> = {},
  onCommand?: (event: CommandStartedEvent) => void,
) {
  let trusted = true;
  const clock = { ...manualClock(momentAt(30, 10)), trusted: () => trusted };
  const server = await startTestServer({ clock, env, ...(onCommand ? { onCommand } : {}) });
  const url = (name: string) => `${server.baseUrl}/api/oauth/${name}`;

  /** Wallet data that a refused call must not change. */
  async function wallet({ partnerId }: Pick<TestPartner, 'partnerId'>) {
    const { balance, entries } = await server.admin.wallets.show.query({ partnerId, mode: 'test' });
    return { balance, entries };
  }

  return {
    server,
    clock,
    trust(on: boolean): void {
      trusted = on;
    },
    wallet,
    partner: (wanted?: Parameters<typeof createPartner>[1]) => createPartner(server, wanted),
    verified: (partner: TestPartner, person?: string, scope?: string) =>
      completeSession(server, partner, person, scope),

    /** Posts to `token` or `revoke`. `init` replaces body and headers. */
    send: (name: 'token' | 'revoke', init: RequestInit) =>
      answerOf(fetch(url(name), { method: 'POST', ...init })),

    /** Exchanges a code with some changed fields. A field that is undefined is omitted. */
    exchange(
      partner: TestPartner,
      code: Code,
      changed: Record<string, string | undefined> = {},
    ): Promise<Answer> {
      const fields = Object.entries({ ...tokenForm(partner, code), ...changed });
      return answerOf(
        post(url('token'), Object.fromEntries(fields.filter(([, value]) => value !== undefined))),
      );
    },

    revoke: (partner: TestPartner, token: string, changed: Record<string, string> = {}) =>
      answerOf(
        post(url('revoke'), {
          token,
          client_id: partner.clientId,
          client_secret: partner.clientSecret,
          ...changed,
        }),
      ),

    userinfo: (headers: Record<string, string>, query = '') =>
      answerOf(quickFetch(`${url('userinfo')}${query}`, { headers })),

    stop: server.stop,
  };
}
export type OAuthServer = Awaited<ReturnType<typeof startOAuth>>;
