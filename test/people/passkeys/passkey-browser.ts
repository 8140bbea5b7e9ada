import { expect } from 'vitest';
import { hmac } from '../../../server/platform/ids.ts';
import { TestAuthenticator } from '../../harness/authenticator.ts';
import { openBrowser } from '../../pages/browser.ts';
import { baseUrl, type Hosted } from '../../pages/hosted.ts';

const text = (attribute: string) =>
  attribute
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

type Options = Parameters<TestAuthenticator['create']>[0] & Parameters<TestAuthenticator['get']>[0];

export const newAuthenticator = () => new TestAuthenticator(baseUrl);

/** Creates an authenticator that counts no uses, as if its passkeys were synchronised between devices. */
export const newCounterlessAuthenticator = () => new TestAuthenticator(baseUrl, { counts: false });

/** Acts as a browser with JavaScript and a platform authenticator. */
export function openPasskeyBrowser(hosted: Pick<Hosted, 'send'>) {
  const browser = openBrowser(hosted);

  /** Returns the options, the target and the fields of the passkey form. */
  function passkeyForm(page = browser.page) {
    const form = /<form[^>]* action="([^"]*)" class="passkey" data-passkey="([^"]*)"[\s\S]*?<\/form>/.exec(
      page.body,
    );
    if (!form) return undefined;
    const [whole, action = '', options = ''] = form;
    const hidden = [...whole.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
    return { action, fields, options: JSON.parse(text(options)) as Options };
  }

  return {
    ...browser,
    get page() {
      return browser.page;
    },
    passkeyForm,

    /** Sends the passkey form. @param answer made from the page's options */
    async sendPasskey(answer: (options: Options) => string) {
      const form = passkeyForm() ?? expect.fail('the page asks for no passkey');
      const credential = answer(form.options);
      const sent = { ...form.fields, credential };
      return {
        answer: await browser.request(form.action, sent),
        again: () => browser.request(form.action, sent),
      };
    },

    /** Declines to save a passkey. */
    async decline() {
      const { fields } = passkeyForm() ?? expect.fail('the page asks for no passkey');
      const action = `/verify/session/${browser.sessionId()}`;
      return browser.request(action, { ...fields, decision: 'no-passkey' });
    },

    /** Leads from the start to the offer of a passkey, or to the redirect if there is none. */
    async verify(clientId: string, person = 'new-adult') {
      await browser.start(clientId);
      await browser.press({ decision: 'accept', passkey: 'can' });
      return browser.press({ person });
    },
  };
}

/**
 * Verifies as a user who has verified before. The people of the sandbox who stay the same have no passkeys, so a new one gets the
 * identity of the user.
 */
export async function verifyAgain(
  { stores, db, services }: Pick<Hosted, 'stores' | 'db' | 'services'>,
  browser: ReturnType<typeof openPasskeyBrowser>,
  { clientId, userId }: { clientId: string; userId: string },
) {
  await browser.start(clientId);
  await browser.press({ decision: 'accept', passkey: 'can' });
  const { _id, mode, source, partnerId } =
    (await stores.sessions.find(browser.sessionId())) ?? expect.fail('no session');
  const subject = [partnerId, 'new-adult', _id].join('|');
  const key = services.portalParts.keyring.id;
  const identity = hmac(key, JSON.stringify(['identity', mode, source, subject]));
  await db.collection<{ _id: string }>('users').insertOne({ _id: `idn_${identity}`, userId } as never);
  return browser.press({ person: 'new-adult' });
}

/** Verifies as `person`, and saves a passkey. */
export async function saved(
  hosted: Hosted,
  clientId: string,
  person = 'new-adult',
  authenticator = newAuthenticator(),
) {
  const browser = openPasskeyBrowser(hosted);
  await browser.verify(clientId, person);
  const { answer } = await browser.sendPasskey((options) => authenticator.create(options));
  expect(answer.location).toContain('code=');
  const session = await hosted.stores.sessions.find(browser.sessionId());
  return { authenticator, browser, userId: session?.userId ?? '', sub: session?.sub ?? '' };
}
