import { type Answer, openBrowser } from '../browser.ts';
import type { Hosted } from '../hosted.ts';

const desktop =
  'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36';
export const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1';

/** Returns the link and the code that the computer's page shows. */
export const shown = ({ body }: Pick<Answer, 'body'>) => ({
  link: /(https:\/\/verify\.example\/verify\/p\/[0-9a-z]+)/.exec(body)?.[1] ?? '',
  code: /<p class="code"[^>]*>([\d ]+)</.exec(body)?.[1] ?? '',
});

export const headingOf = ({ body }: Answer) => /<h1>([^<]*)</.exec(body)?.[1];

/** Begins hand-offs, each with a computer and a phone of its own. */
export function createHandoffs(hosted: Hosted, clientId: string) {
  /** Asks for the phone. @returns the computer at the page with a link and a code */
  async function offerHandoff() {
    const computer = openBrowser(hosted, desktop);
    await computer.start(clientId);
    const sessionId = computer.sessionId();
    await computer.press({ decision: 'accept' });
    const page = await computer.press({ decision: 'phone' });
    return { computer, sessionId, ...shown(page) };
  }

  /** Opens the link on a phone, and enters the code. `form` is the form of the code, as it was sent. */
  async function claimHandoff() {
    const offer = await offerHandoff();
    const phone = openBrowser(hosted, iphone);
    await phone.open(offer.link);
    const { action, fields } = phone.form();
    await phone.press({ code: offer.code });
    return { ...offer, phone, form: { action, fields: { ...fields, code: offer.code } } };
  }

  return { offerHandoff, claimHandoff };
}
