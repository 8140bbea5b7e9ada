import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';
import { linkIn, postFields } from './asking.ts';

let service: TestServer;
let age: TestPartner;
let person: TestPartner;
const clock = manualClock();

beforeAll(async () => {
  service = await startTestServer({ clock });
  age = await createPartner(service, { client: { sources: ['test-wallet-age'] } });
  person = await createPartner(service, { client: { sources: ['test-wallet-pid'] } });
});
afterAll(() => service.stop());

const walletIn = (html: string) =>
  (/href="([^"]*\/verify\/test-wallet\?[^"]*)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&');

/** Lets the test wallet answer. @returns the address to which it redirects, which is not opened */
async function answer(html: string, act = 'present'): Promise<string> {
  const request = new URL(walletIn(html)).searchParams.get('request') ?? '';
  const response = await fetch(`${service.baseUrl}/verify/test-wallet`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ request, act }),
  });
  return response.headers.get('location') ?? '';
}

describe('the return address of a wallet request', () => {
  it('is answered with 401 in another browser, and the session does not change', async () => {
    const mine = openPages(service);
    const { page, sessionId } = await mine.start(age, 'age_18_plus');
    const back = await answer(page.html);
    const other = openPages(service);
    expect((await other.open(back)).status).toBe(401);
    expect((await service.admin.sessions.show.query({ sessionId })).status).toBe('pending');
    expect((await mine.open(back)).returned).toHaveProperty('code');
  });

  it('is answered with 403 for a wrong response code, and the session page alone yields no code', async () => {
    const mine = openPages(service);
    const { page } = await mine.start(age, 'age_18_plus');
    const back = await answer(page.html);
    const without = await mine.open(page.at);
    expect(without.returned).toBeUndefined();
    expect(without.html).toContain('Your identity wallet has answered.');
    expect((await mine.open(`${back}x`)).status).toBe(403);
  });

  it('is answered with 403 if its response code is that of another session', async () => {
    const [one, other] = [openPages(service), openPages(service)];
    const first = await one.start(age, 'age_18_plus');
    const second = await other.start(age, 'age_18_plus');
    const back = await answer(first.page.html);
    await answer(second.page.html);
    const mixed = back.replace(first.sessionId, second.sessionId);
    expect((await other.open(mixed)).status).toBe(403);
  });
});

describe('the response URI of a wallet request', () => {
  it('answers 404 if any part of its token is changed', async () => {
    const { page } = await openPages(service).start(age, 'age_18_plus');
    const uri = new URL(linkIn(page.html)).searchParams.get('response_uri') ?? '';
    const number = uri.replace('.computer.0.', '.computer.1.');
    const device = uri.replace('.computer.', '.phone.');
    const source = uri.replace('test-wallet-age', 'test-wallet-pid');
    for (const changed of [number, device, source, `${uri.slice(0, -1)}_`]) {
      expect((await postFields(changed, { vp_token: '{}' })).status, changed).toBe(404);
    }
    expect((await postFields(`${uri}/request`, {})).status).toBe(404);
  });

  it('accepts one of four simultaneous answers, and returns a response code only to this one', async () => {
    const { page } = await openPages(service).start(age, 'age_18_plus');
    const backs = await Promise.all([1, 2, 3, 4].map(() => answer(page.html)));
    expect(backs.filter((back) => back.includes('response_code'))).toHaveLength(1);
  });

  it('answers 503 while the clock is not trusted', async () => {
    const { page } = await openPages(service).start(age, 'age_18_plus');
    const uri = new URL(linkIn(page.html)).searchParams.get('response_uri') ?? '';
    clock.trusted = () => false;
    const { status } = await postFields(uri, { vp_token: '{}' });
    clock.trusted = () => true;
    expect(status).toBe(503);
  });
});

describe('users of identity wallets', () => {
  async function verify(partner: TestPartner) {
    const pages = openPages(service);
    const { page, codeVerifier, sessionId } = await pages.start(partner, 'age_18_plus');
    // A user whose claims are fresh has to prove only the identity.
    const end = await pages.open(await answer(page.html));
    const code = end.returned?.['code'] ?? '';
    expect((await exchangeCode(service, partner, { code, codeVerifier })).status).toBe(200);
    return service.admin.sessions.show.query({ sessionId });
  }

  it('are new users in each session if the wallet proves no personal number', async () => {
    const [first, second] = [await verify(age), await verify(age)];
    expect(first.sub).not.toBe(second.sub);
    expect([first.returning, second.returning]).toEqual([false, false]);
  });

  it('are returning users in the second session if the wallet proves a personal number', async () => {
    const [first, second] = [await verify(person), await verify(person)];
    expect(first.sub).toBe(second.sub);
    expect([first.returning, second.returning]).toEqual([false, true]);
  });
});

describe('the content of a credential', () => {
  it('is in no database document and no log line', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const talking = await startTestServer({ logger });
    try {
      for (const source of ['test-wallet-age', 'test-wallet-pid']) {
        const partner = await createPartner(talking, { client: { sources: [source] } });
        for (const act of ['present', 'too-much', 'revoked', 'wrong-nonce']) {
          const pages = openPages(talking);
          const { page } = await pages.start(partner, 'age_18_plus country');
          const request = new URL(walletIn(page.html)).searchParams.get('request') ?? '';
          await pages.open(`${talking.baseUrl}/verify/test-wallet`, { request, act });
        }
      }
      const collections = await talking.db.listCollections().toArray();
      const documents = await Promise.all(
        collections.map(async ({ name }) => talking.db.collection(name).find().toArray()),
      );
      const kept = JSON.stringify(documents) + lines.join('\n');
      expect(lines.join('\n')).toContain('refused a presentation');
      expect(kept).toContain('document_rejected: more than was asked for');
      for (const raw of [
        ...['1990-05-17', 'TEST-0001', 'Mustermann', 'Erika', 'vp_token', 'age_over_18', 'eyJ4NWMi'],
        ...['deviceSign', '~eyJ', 'response_code='],
      ]) {
        expect(kept.includes(raw), raw).toBe(false);
      }
    } finally {
      await talking.stop();
    }
  });
});
