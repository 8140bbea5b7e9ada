import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages } from '../../../server/pages/views/languages.ts';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, startHosted } from '../hosted.ts';

const minute = 60_000;
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1';

let hosted: Hosted;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted();
  ({ clientId } = await onboard(hosted));
});
afterAll(() => hosted.close());

const decisions = (body: string) =>
  [...body.matchAll(/name="decision" value="(\w+)"/g)].map(([, value]) => value);
const steps = (body: string) =>
  [
    ...(/<ol role="list" class="steps">([\s\S]*?)<\/ol>/.exec(body)?.[1] ?? '').matchAll(
      /<li([^>]*)>([^<]+)</g,
    ),
  ].map(([, attributes = '', name = '']) => (attributes.includes('aria-current') ? `[${name}]` : name));

describe('the consent page', () => {
  it.each(Object.keys(languages))(
    'offers one button to accept and one to decline in the language %s',
    async (language) => {
      const { body } = await openBrowser(hosted).start(clientId, { ui_locales: language });
      expect(decisions(body)).toEqual(['accept', 'decline']);
    },
  );

  it('is followed by a page with a cancel button', async () => {
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    expect(decisions((await browser.press({ decision: 'accept' })).body)).toContain('cancel');
  });
});

describe('the time left in a session', () => {
  it.each([
    ['not shown', '1 minute', 1],
    ['not shown', '24 minutes', 24],
    ['shown as 4 minutes', '26 minutes', 26],
    ['shown as 2 minutes', '28.5 minutes', 28.5],
  ])('is %s on its page %s after the start', async (shown, _, passed) => {
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    hosted.clock.advance(passed * minute);
    const { body } = await browser.open(browser.at);
    hosted.clock.advance(-passed * minute);
    const [, left] = /(?:About|Less than) ([^.<]+) left/.exec(body) ?? [];
    expect(left === undefined ? 'not shown' : `shown as ${left}`).toBe(shown);
  });

  it('makes the page reload when the time left has to be shown', async () => {
    const { headers } = await openBrowser(hosted).start(clientId);
    const seconds = Number(headers['refresh']);
    expect(seconds).toBeGreaterThan(24 * 60);
    expect(seconds).toBeLessThanOrEqual(25 * 60 + 1);
  });
});

describe('the steps on the phone', () => {
  it('are Consent, Verify and Confirm; Confirm is the present one while the phone asks "Is this your computer?"', async () => {
    const computer = openBrowser(hosted);
    expect(steps((await computer.start(clientId)).body)).toEqual(['[Consent]', 'Verify', 'Done']);
    await computer.press({ decision: 'accept' });
    const { body } = await computer.press({ decision: 'phone' });
    expect(steps(body)).toEqual(['Consent', '[Verify]', 'Done']);

    const phone = openBrowser(hosted, iphone);
    const typing = await phone.open(
      /https:\/\/verify\.example(\/verify\/p\/[0-9a-z]+)/.exec(body)?.[1] ?? '',
    );
    expect(steps(typing.body)).toEqual(['Consent', '[Verify]', 'Confirm']);
    const choosing = await phone.press({ code: /([\d]{3} [\d]{3})/.exec(body)?.[1] ?? '' });
    expect(steps(choosing.body)).toEqual(['Consent', '[Verify]', 'Confirm']);
    const asking = await phone.press({ person: 'adult' });
    expect(asking.body).toContain('Is this your computer?');
    expect(steps(asking.body)).toEqual(['Consent', 'Verify', '[Confirm]']);
  });
});
