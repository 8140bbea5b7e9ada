import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { baseUrl, type Hosted, onboard, returned, startHosted } from '../hosted.ts';
import { createHandoffs, iphone, shown } from './two-browsers.ts';

let hosted: Hosted;
let clientId: string;
let { offerHandoff, claimHandoff } = {} as ReturnType<typeof createHandoffs>;
beforeAll(async () => {
  hosted = await startHosted();
  ({ clientId } = await onboard(hosted));
  ({ offerHandoff, claimHandoff } = createHandoffs(hosted, clientId));
});
afterAll(() => hosted.close());

const session = async (id: string) => (await hosted.stores.sessions.find(id)) ?? expect.fail('no session');
const events = async (id: string) => (await session(id)).timeline.map(({ event }) => event);

const wrongCode = (code: string) => String((Number(code.replace(' ', '')) + 1) % 1_000_000).padStart(6, '0');

it('a decision to stay at the computer appears once in the timeline, even if its form is sent three times', async () => {
  const { computer, sessionId } = await offerHandoff();
  const form = computer.form();
  for (let sent = 0; sent < 3; sent += 1)
    await computer.request(form.action, { ...form.fields, decision: 'stay' });
  expect(await events(sessionId)).toEqual(['started', 'consented', 'handoff_offered', 'handoff_cancelled']);
});

describe('a verification on a phone', () => {
  it('continues at the phone, and ends at the computer after the user has confirmed the computer', async () => {
    const { computer, phone, sessionId } = await claimHandoff();
    expect(phone.page.body).toContain('Choose who to be');
    expect((await computer.open(computer.at)).body).toContain('Safari on iPhone');
    const confirm = await phone.press({ person: 'adult' });
    expect(confirm.body).toContain('Is this your computer?');
    expect(confirm.body).toContain('Chrome on Windows');
    // The computer waits for the phone's confirmation.
    expect((await computer.open(computer.at)).body).toContain('Now continue on your phone');
    expect((await phone.press({ decision: 'confirm' })).body).toContain('Continue on your computer');
    const end = await computer.open(computer.at);
    expect(returned(end.location)).toHaveProperty('code');
    expect(await events(sessionId)).toEqual([
      'started',
      'consented',
      'handoff_offered',
      'handoff_claimed',
      'handoff_authenticated',
      'handoff_confirmed',
      'verified',
      'completed',
    ]);
    expect((await phone.open(phone.at)).body).toContain('Continue on your computer');
  });

  it('is not confirmed by "accept", the answer of the consent form, which gets 403', async () => {
    const { phone, sessionId } = await claimHandoff();
    await phone.press({ person: 'adult' });
    const { action, fields } = phone.form();
    expect((await phone.request(action, { ...fields, decision: 'accept' })).status).toBe(403);
    expect((await session(sessionId)).handoff?.state).toBe('claimed');
  });

  it("shows the purpose and the computer's browser before the code is entered", async () => {
    const { link } = await offerHandoff();
    const { body, headers } = await openBrowser(hosted, iphone).open(link);
    expect(body).toContain('Verify for Weinhaus &lt;Grün&gt;');
    expect(body).toContain('Chrome on Windows');
    expect(body).toContain('Whether you are 18 or older');
    expect(String(headers['content-security-policy'])).toContain("form-action 'self';");
  });

  it.each([
    ['says no', { decision: 'deny' }],
    ['cancels', { decision: 'cancel' }],
  ])('ends without a code if the user at the phone %s', async (_what, fields) => {
    const { computer, phone, sessionId } = await claimHandoff();
    await phone.press({ person: 'adult' });
    expect((await phone.press(fields)).body).toContain('This verification has ended');
    expect(returned((await computer.open(computer.at)).location)).toMatchObject({
      error: 'verification_failed',
    });
    expect((await session(sessionId)).code).toBeUndefined();
  });

  it('can be cancelled at the computer: then the phone gets 401, and the user verifies at the computer', async () => {
    const { computer, phone } = await claimHandoff();
    await computer.open(computer.at);
    expect((await computer.press({ decision: 'stay' })).body).toContain('Choose who to be');
    expect((await phone.press({ person: 'adult' })).status).toBe(401);
    expect(returned((await computer.press({ person: 'teen' })).location)).toHaveProperty('code');
  });

  it('cannot be cancelled at the computer after a user has authenticated at the phone', async () => {
    const { computer, phone, sessionId } = await claimHandoff();
    await computer.open(computer.at);
    const stale = computer.form();
    await phone.press({ person: 'adult' });
    await computer.request(stale.action, { ...stale.fields, decision: 'stay' });
    await computer.request(stale.action, { ...stale.fields, decision: 'confirm' });
    expect((await computer.open(computer.at)).body).toContain('Now continue on your phone');
    expect((await session(sessionId)).handoff?.state).toBe('claimed');
    expect((await session(sessionId)).status).toBe('pending');
  });

  it("stays pending if a sandbox user is sent from the computer's page that shows the link", async () => {
    const { computer, sessionId } = await claimHandoff();
    const { action, fields } = computer.form();
    await computer.request(action, { ...fields, person: 'adult' });
    expect((await session(sessionId)).status).toBe('pending');
  });

  it("ignores a sandbox user who is sent from the computer's waiting page, and the phone continues", async () => {
    const { computer, phone, sessionId } = await claimHandoff();
    await computer.open(computer.at);
    expect((await computer.press({ person: 'adult' })).body).toContain('Now continue on your phone');
    expect(await session(sessionId)).not.toHaveProperty('userId');
    expect((await events(sessionId)).at(-1)).toBe('handoff_claimed');
    expect((await phone.press({ person: 'teen' })).body).toContain('Is this your computer?');
  });

  it("changes the answer that the computer's page polls, while another browser gets 401 there", async () => {
    const { computer, phone, sessionId } = await claimHandoff();
    const at = `/verify/session/${sessionId}/state`;
    const stateBefore = (await computer.request(at)).body;
    expect((await computer.request(at)).body).toBe(stateBefore);
    await phone.press({ person: 'adult' });
    expect((await computer.request(at)).body).not.toBe(stateBefore);
    expect((await openBrowser(hosted).request(at)).status).toBe(401);
  });
});

describe('a hand-off link', () => {
  it('is answered with 404 in a second browser after its code was entered', async () => {
    const { link, code } = await claimHandoff();
    const second = openBrowser(hosted, iphone);
    expect((await second.open(link)).body).toContain('This link no longer works');
    expect(second.page.status).toBe(404);
    expect(code).toMatch(/^\d{3} \d{3}$/);
  });

  it('expires after two minutes, and the computer can show a new one', async () => {
    const { computer, link, code } = await offerHandoff();
    const phone = openBrowser(hosted, iphone);
    await phone.open(link);
    hosted.clock.advance(120_000);
    expect((await phone.press({ code })).status).toBe(404);
    const page = await computer.open(computer.at);
    expect(page.body).toContain('This link has expired');
    expect(shown(page).link).toBe('');
    const renewed = shown(await computer.press({ decision: 'phone' }));
    expect(renewed.link).not.toBe(link);
    await phone.open(renewed.link);
    expect((await phone.press({ code: renewed.code })).body).toContain('Choose who to be');
  });

  it.each([
    ['Arabic-Indic', 0x660],
    ['Persian', 0x6f0],
    ['Devanagari', 0x966],
    ['full-width', 0xff10],
    ['bold', 0x1d7ce],
    ['monospaced', 0x1d7f6],
  ])('accepts the code in %s digits, with words around it', async (_name, zero) => {
    const { link, code } = await offerHandoff();
    const phone = openBrowser(hosted, iphone);
    await phone.open(link);
    const typed = code.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
    const longest = Number(/name="code"[^>]* maxlength="(\d+)"/.exec(phone.page.body)?.[1]);
    const pasted = `The code on that screen is: ${typed}`;
    expect(pasted.length).toBeLessThanOrEqual(longest);
    expect((await phone.press({ code: pasted })).body).toContain('Choose who to be');
  });

  it('does not count an empty or blank code as a try', async () => {
    const { link, code, sessionId } = await offerHandoff();
    const phone = openBrowser(hosted, iphone);
    await phone.open(link);
    for (const blank of ['', ' ', '\u00a0\u200f', '– –'])
      expect((await phone.press({ code: blank })).body).toContain('aria-invalid="true" autofocus');
    expect((await session(sessionId)).handoff?.wrongCodes).toBe(0);
    expect((await phone.press({ code })).body).toContain('Choose who to be');
  });

  it('is answered with 404 after three wrong codes', async () => {
    const { link, code, sessionId } = await offerHandoff();
    const phone = openBrowser(hosted, iphone);
    await phone.open(link);
    for (const _try of [1, 2])
      expect((await phone.press({ code: wrongCode(code) })).body).toContain('not the code');
    await phone.press({ code: wrongCode(code) });
    expect((await phone.open(link)).status).toBe(404);
    expect(await events(sessionId)).toEqual([
      'started',
      'consented',
      'handoff_offered',
      'handoff_mistyped',
      'handoff_mistyped',
      'handoff_mistyped',
    ]);
  });

  it('accepts three wrong codes at most and counts each, if 30 wrong codes are sent simultaneously', async () => {
    const { link, code, sessionId } = await offerHandoff();
    const phone = openBrowser(hosted, iphone);
    await phone.open(link);
    const { action, fields } = phone.form();
    const codes = Array.from({ length: 30 }, (_, n) => String(Number(code.replace(' ', '')) + n + 1));
    const answers = await Promise.all(codes.map((each) => phone.request(action, { ...fields, code: each })));
    const wrongCodeAnswers = answers.filter(({ location }) => location.endsWith('?wrong'));
    expect(wrongCodeAnswers).toHaveLength((await session(sessionId)).handoff?.wrongCodes ?? -1);
    expect(wrongCodeAnswers.length).toBeLessThanOrEqual(3);
  });

  it('is claimed once by the phone, even if the form with the right code is sent three times', async () => {
    const { link, code, sessionId } = await offerHandoff();
    const phone = openBrowser(hosted, iphone);
    await phone.open(link);
    const { action, fields } = phone.form();
    const twice = await Promise.all([1, 2].map(() => phone.request(action, { ...fields, code })));
    const again = await phone.request(action, { ...fields, code });
    for (const { location } of [...twice, again]) expect(location).toContain(`/verify/phone/${sessionId}`);
    expect((await phone.open(again.location)).body).toContain('Choose who to be');
    expect((await events(sessionId)).filter((event) => event === 'handoff_claimed')).toHaveLength(1);
  });

  it('is issued ten times in a session at most: further requests leave the tenth link in place', async () => {
    const { computer, sessionId } = await offerHandoff();
    for (let times = 0; times < 12; times += 1) await computer.press({ decision: 'phone' });
    expect((await session(sessionId)).handoff?.number).toBe(10);
  });

  it('is answered with 404 after the user has verified at the computer', async () => {
    const { computer, link } = await offerHandoff();
    await computer.press({ decision: 'stay' });
    await computer.press({ person: 'adult' });
    expect((await openBrowser(hosted, iphone).open(link)).status).toBe(404);
  });

  it.each([
    ['from another site', { origin: 'https://evil.example' }],
    ['from another site with a false Origin', { 'sec-fetch-site': 'cross-site' }],
    ['without the cookie that came with the form', { cookie: '' }],
  ])(
    'answers 403 to the right code in a form that is sent %s',
    async (_how, headers: Record<string, string>) => {
      const { link, code, sessionId } = await offerHandoff();
      const phone = openBrowser(hosted, iphone);
      await phone.open(link);
      const { action, fields } = phone.form();
      expect((await phone.request(action, { ...fields, code }, headers)).status).toBe(403);
      expect((await session(sessionId)).handoff?.state).toBe('offered');
    },
  );

  it('shows, after its use or with a wrong secret, the same page as a link that never existed', async () => {
    const { link } = await claimHandoff();
    const { link: open } = await offerHandoff();
    const wrongSecret = open.slice(0, -10) + (open.endsWith('0000000000') ? '1' : '0').repeat(10);
    const never = `${baseUrl}/verify/p/${'0123456789'.repeat(4).slice(0, 36)}`;
    const text = async (url: string) => {
      const { status, body } = await openBrowser(hosted).open(url);
      return { status, body: body.replace(/req_\w+/, '') };
    };
    const ofNone = await text(never);
    for (const url of [link, wrongSecret, `${baseUrl}/verify/p/0123456789`])
      expect(await text(url)).toEqual(ofNone);
    expect((await text(open)).status).toBe(200);
  });

  it('is stored as a hash, and its code is not stored', async () => {
    const { link, code, sessionId } = await offerHandoff();
    const text = JSON.stringify(await session(sessionId));
    expect(text).not.toContain(link.split('/').at(-1));
    expect(text).not.toContain(code.replace(' ', ''));
  });
});

describe('the devices of a hand-off', () => {
  it('are one computer and one phone: a phone does not offer to continue on another phone', async () => {
    const phone = openBrowser(hosted, iphone);
    await phone.start(clientId);
    expect((await phone.press({ decision: 'accept' })).body).not.toContain('Continue on my phone');
  });

  it("have separate cookies: the phone's cookie gets 401 at the computer's page, and vice versa", async () => {
    const { computer, phone, sessionId } = await claimHandoff();
    const swap = (browser: typeof phone, from: string) => browser.jar.get(from)?.value ?? '';
    const ofPhone = swap(phone, `svc_${sessionId}_phone`);
    const ofComputer = swap(computer, `svc_${sessionId}`);
    const asComputer = { cookie: `svc_${sessionId}=${ofPhone}` };
    const asPhone = { cookie: `svc_${sessionId}_phone=${ofComputer}` };
    const otherBrowser = openBrowser(hosted);
    expect((await otherBrowser.request(`/verify/session/${sessionId}`, undefined, asComputer)).status).toBe(
      401,
    );
    expect((await otherBrowser.request(`/verify/phone/${sessionId}`, undefined, asPhone)).status).toBe(401);
  });
});
