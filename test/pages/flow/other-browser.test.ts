import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, startHosted } from '../hosted.ts';

let hosted: Hosted;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted();
  ({ clientId } = await onboard(hosted));
});
afterAll(() => hosted.close());

async function startSession() {
  const browser = openBrowser(hosted);
  await browser.start(clientId, { ui_locales: 'de' });
  return { browser, sessionId: browser.sessionId() };
}

/** Each function creates a session, and brings it to the step that its name states. @returns the session's id */
const progress: Record<string, () => Promise<string>> = {
  begun: async () => (await startSession()).sessionId,
  async declined() {
    const { browser, sessionId } = await startSession();
    await browser.press({ decision: 'decline' });
    return sessionId;
  },
  async rejected() {
    const { browser, sessionId } = await startSession();
    await browser.press({ decision: 'accept' });
    await browser.press({ person: 'rejected' });
    return sessionId;
  },
  async complete() {
    const { browser, sessionId } = await startSession();
    await browser.press({ decision: 'accept' });
    await browser.press({ person: 'adult' });
    return sessionId;
  },
};

const form = 'application/x-www-form-urlencoded';
type Sent = Parameters<Hosted['send']>[1];
const posted = (body: string, headers: Record<string, string> = {}): Sent => ({
  method: 'POST',
  body,
  headers: { 'content-type': form, ...headers },
});

/** Requests that a caller can send who knows the session's id but does not have its cookie. */
const requests: Record<string, readonly [path: string, sent?: Sent]> = {
  'opens the session page': [''],
  'polls the session state': ['/state'],
  'sends a consent form': ['', posted('decision=accept')],
  'sends a form with an unknown decision': ['', posted('decision=nonsense')],
  'sends a consent form from another site': [
    '',
    posted('decision=accept', { origin: 'https://evil.example' }),
  ],
  'sends a body of type text/plain': ['', posted('{}', { 'content-type': 'text/plain' })],
  'sends a form larger than 64 KiB': ['', posted(`csrf=${'x'.repeat(70_000)}`)],
  'returns from an OpenID provider': ['/return/bank?state=x&code=y'],
  'returns from a source with an overlong name': [`/return/${'x'.repeat(65)}`],
  'returns from an identity wallet': ['/wallet?response_code=x'],
  'returns from an identity wallet without a code': ['/wallet'],
  'sends an identity wallet response': ['/wallet', posted('csrf=x&token=x&data=x')],
  'sends an identity wallet form from another site': [
    '/wallet',
    posted('', { origin: 'https://evil.example' }),
  ],
  'sends an incomplete identity wallet response': ['/wallet', posted('csrf=x')],
  'uses the method PUT': ['', { method: 'PUT' }],
};

describe('a browser without session cookie', () => {
  const sessions = new Map<string, string>();
  beforeAll(async () => {
    for (const [name, reach] of Object.entries(progress)) sessions.set(name, await reach());
  });

  async function ask(sessionId: string, device: string, request: string, cookie: string) {
    const [path, sent = {}] = requests[request] ?? [''];
    const headers = { accept: 'text/html', cookie, ...sent.headers };
    const answer = await hosted.send(`/verify/${device}/${sessionId}${path}`, { ...sent, headers });
    return {
      status: answer.status,
      body: answer.body.replaceAll(sessionId, 'ses_…').replace(/req_\w+/g, 'req_…'),
    };
  }

  describe.each(['session', 'phone'])('at /verify/%s/{id}', (device) => {
    it.each(Object.keys(requests))(
      'gets one error page, without the partner, in every session state if it %s',
      async (request) => {
        const answers = [];
        for (const id of sessions.values()) {
          const suffix = device === 'phone' ? '_phone' : '';
          answers.push(
            await ask(id, device, request, ''),
            await ask(id, device, request, `svc_${id}${suffix}=x`),
          );
        }
        const [first] = answers;
        expect(first?.status).toBeGreaterThanOrEqual(400);
        for (const answer of answers) expect(answer).toEqual(first);
        expect(first?.body).not.toContain('Weinhaus');
        expect(first?.body).not.toContain('shop.example');
        expect(first?.body).not.toContain('Nothing was shared.');
        expect(first?.body).toContain('lang="en"');
      },
    );
  });
});

it("an error page in the session's own browser names the partner, in the session's language", async () => {
  const { browser, sessionId } = await startSession();
  await browser.press({ decision: 'accept' });
  await browser.press({ person: 'adult' });
  const wrong = await browser.request(`/verify/session/${sessionId}`, { decision: 'nonsense' });
  expect(wrong.status).toBe(400);
  expect(wrong.body).toContain('Weinhaus &lt;Grün&gt;');
  expect(wrong.body).toContain('lang="de"');
});
