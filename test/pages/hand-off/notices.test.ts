import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, startHosted } from '../hosted.ts';
import { createHandoffs, headingOf, iphone, shown } from './two-browsers.ts';

let hosted: Hosted;
let { offerHandoff } = {} as ReturnType<typeof createHandoffs>;
beforeAll(async () => {
  hosted = await startHosted();
  const { clientId } = await onboard(hosted);
  ({ offerHandoff } = createHandoffs(hosted, clientId));
});
afterAll(() => hosted.close());

/** Makes all ten offers of a session. @returns the computer, and its page with the last link */
async function useAllOffers() {
  const { computer } = await offerHandoff();
  for (let offers = 1; offers < 10; offers += 1) {
    await computer.press({ decision: 'stay' });
    await computer.press({ decision: 'phone' });
  }
  return { computer, page: computer.page };
}

describe("the computer's page after three wrong codes", () => {
  it('says that three wrong codes were typed, and offers a new link', async () => {
    const { computer, link, code } = await offerHandoff();
    const phone = openBrowser(hosted, iphone);
    await phone.open(link);
    for (let wrong = 0; wrong < 3; wrong += 1) await phone.press({ code: code === '000 000' ? '1' : '0' });
    const page = await computer.open(computer.at);
    expect(headingOf(page)).toBe('Choose who to be');
    expect(page.body).toContain('Three wrong codes were typed');
    const next = await computer.press({ decision: 'phone' });
    expect(shown(next).link).not.toBe('');
    expect((await computer.press({ decision: 'stay' })).body).not.toContain('Three wrong codes');
  });
});

describe("the computer's page after the tenth link", () => {
  const none = 'This verification has had all of its ten links for the phone';

  it('offers no further link once that one has expired, and says how to go on', async () => {
    const { computer, page } = await useAllOffers();
    expect(shown(page).link).not.toBe('');
    hosted.clock.advance(121_000);
    const expired = await computer.open(computer.at);
    expect(expired.body).toContain(none);
    expect(expired.body).not.toContain('value="phone"');
    const alone = await computer.press({ decision: 'stay' });
    expect(headingOf(alone)).toBe('Choose who to be');
    expect(alone.body).toContain(none);
    expect(alone.body).not.toContain('value="phone"');
  });
});
