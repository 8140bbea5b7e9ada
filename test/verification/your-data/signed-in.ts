import { expect } from 'vitest';
import type { TestAuthenticator } from '../../harness/authenticator.ts';
import type { Answer } from '../browser.ts';
import type { Hosted } from '../hosted.ts';
import { openPasskeyBrowser } from '../passkeys/passkey-browser.ts';

export const root = '/verify/you';

/** A browser at the user data page, not signed in yet. The clock advances by a second. */
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

    /** Opens the page with the question, and confirms it. */
    async confirm(path: string): Promise<Answer> {
      const question = await browser.open(`${root}${path}`);
      expect(question.status).toBe(200);
      const { action, fields } = browser.form(question);
      return browser.follow(await browser.request(action, fields));
    },
  };
}

/** A browser whose user is signed in. */
export async function signedIn(hosted: Pick<Hosted, 'send' | 'clock'>, authenticator: TestAuthenticator) {
  const browser = await openYourData(hosted);
  const page = await browser.signIn(authenticator);
  expect(page.status).toBe(200);
  expect(page.body).toContain('You are signed in for 15 minutes');
  return browser;
}
