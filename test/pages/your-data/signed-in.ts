import { expect } from 'vitest';
import type { TestAuthenticator } from '../../harness/authenticator.ts';
import { openPasskeyBrowser } from '../../people/passkeys/passkey-browser.ts';
import type { Answer } from '../browser.ts';
import type { Hosted } from '../hosted.ts';

export const root = '/verify/you';

/** Opens the user data page without a sign-in. The clock advances, so that each sign-in has its own time. */
export async function openYourData(hosted: Pick<Hosted, 'send' | 'clock'>) {
  hosted.clock.advance(1_000);
  const browser = openPasskeyBrowser(hosted);
  await browser.request(root);
  return {
    ...browser,
    get page() {
      return browser.page;
    },

    signIn: async (authenticator: TestAuthenticator): Promise<Answer> =>
      browser.follow((await browser.sendPasskey((options) => authenticator.get(options))).answer),

    /** Opens the page that asks for a confirmation at `path`, and confirms. */
    async confirm(path: string): Promise<Answer> {
      const question = await browser.open(`${root}${path}`);
      expect(question.status).toBe(200);
      const { action, fields } = browser.form(question);
      return browser.follow(await browser.request(action, fields));
    },
  };
}

/** Opens the user data page, and signs in with a passkey. */
export async function signedIn(hosted: Pick<Hosted, 'send' | 'clock'>, authenticator: TestAuthenticator) {
  const browser = await openYourData(hosted);
  const page = await browser.signIn(authenticator);
  expect(page.status).toBe(200);
  expect(page.body).toContain('You are signed in for 15 minutes');
  return browser;
}
