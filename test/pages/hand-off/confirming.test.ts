import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, returned, startHosted } from '../hosted.ts';

let hosted: Hosted;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted();
  ({ clientId } = await onboard(hosted));
});
afterAll(() => hosted.close());

/** Verifies on a phone, which then asks whether the computer belongs to the user. */
async function reachQuestion() {
  const computer = openBrowser(hosted);
  await computer.start(clientId);
  const sessionId = computer.sessionId();
  await computer.press({ decision: 'accept' });
  const { body } = await computer.press({ decision: 'phone' });
  const link = /(https:\/\/verify\.example\/verify\/p\/[0-9a-z]+)/.exec(body)?.[1] ?? '';
  const code = /<p class="code"[^>]*>([\d ]+)</.exec(body)?.[1] ?? '';
  const phone = openBrowser(hosted);
  await phone.open(link);
  await phone.press({ code });
  await phone.press({ person: 'adult' });
  return { computer, phone, sessionId };
}

describe('the question on the phone "Is this your computer?"', () => {
  it.each([
    ['no field', {}],
    ['decision=accept, of the consent page', { decision: 'accept' }],
    ['decision=phone, of the computer', { decision: 'phone' }],
    ['decision=stay, of the computer', { decision: 'stay' }],
    ['person=adult, of the sandbox', { person: 'adult' }],
  ])('stays unanswered after a form with %s, and the user can then confirm', async (_, fields) => {
    const { computer, phone, sessionId } = await reachQuestion();
    const question = phone.form();
    await phone.request(question.action, { ...question.fields, ...(fields as Record<string, string>) });
    const session = await hosted.stores.sessions.find(sessionId);
    expect(session?.handoff?.state).toBe('claimed');
    expect(session?.timeline.map(({ event }) => event)).not.toContain('handoff_confirmed');
    expect((await computer.open(computer.at)).location).toBe('');
    // The question is still open, so the user can still confirm.
    await phone.request(question.action, { ...question.fields, decision: 'confirm' });
    expect(returned((await computer.open(computer.at)).location)).toHaveProperty('code');
  });

  it.each(['deny', 'cancel'])(
    'ends the session with verification_failed if the user answers %s',
    async (decision) => {
      const { computer, phone } = await reachQuestion();
      await phone.press({ decision });
      const end = returned((await computer.open(computer.at)).location);
      expect(end).toMatchObject({ error: 'verification_failed' });
      expect(end).not.toHaveProperty('code');
    },
  );
});
