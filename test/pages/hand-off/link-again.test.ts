import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, returned, startHosted } from '../hosted.ts';
import { createHandoffs, headingOf, iphone, shown } from './two-browsers.ts';

let hosted: Hosted;
let { offerHandoff, claimHandoff } = {} as ReturnType<typeof createHandoffs>;
beforeAll(async () => {
  hosted = await startHosted();
  const { clientId } = await onboard(hosted);
  ({ offerHandoff, claimHandoff } = createHandoffs(hosted, clientId));
});
afterAll(() => hosted.close());

type Claimed = Awaited<ReturnType<typeof claimHandoff>>;

const authenticate = ({ phone }: Claimed) => phone.press({ person: 'adult' });
const confirm = async (claimed: Claimed) => {
  await authenticate(claimed);
  await claimed.phone.press({ decision: 'confirm' });
};

describe('a hand-off link that the phone opens again', () => {
  it.each<[when: string, heading: string, steps: (claimed: Claimed) => Promise<unknown>]>([
    ['after the code was entered', 'Choose who to be', async () => undefined],
    ['after the authentication', 'Is this your computer?', authenticate],
    ['after the confirmation', 'Done', confirm],
    [
      'after the return to the partner',
      'Done',
      async (claimed) => {
        await confirm(claimed);
        const { location } = await claimed.computer.open(claimed.computer.at);
        expect(returned(location)).toHaveProperty('code');
      },
    ],
    [
      'after the user has refused on the phone',
      'This verification has ended',
      async (claimed) => {
        await authenticate(claimed);
        await claimed.phone.press({ decision: 'deny' });
      },
    ],
    [
      'after the user has cancelled on the computer',
      'This verification has ended',
      async ({ computer }) => {
        await computer.open(computer.at);
        await computer.press({ decision: 'cancel' });
      },
    ],
  ])('leads %s to the page "%s"', async (_when, heading, steps) => {
    const claimed = await claimHandoff();
    const { phone, link, form } = claimed;
    await steps(claimed);
    expect(headingOf(await phone.open(link))).toBe(heading);
    expect(headingOf(await phone.open(`${link}?wrong`))).toBe(heading);
    // The form of another tab, or of a page that the button Back shows.
    expect(headingOf(await phone.follow(await phone.request(form.action, form.fields)))).toBe(heading);
  });

  it('says that the verification has expired, after the time for the session is over', async () => {
    const { phone, link } = await claimHandoff();
    hosted.clock.advance(30 * 60_000);
    expect(headingOf(await phone.open(link))).toBe('This verification has expired');
    expect(phone.page.body).toContain('Nothing about you was shared.');
  });

  it('is dead after the computer has taken the session back, and the next link leads on', async () => {
    const { computer, phone, link } = await claimHandoff();
    await computer.open(computer.at);
    await computer.press({ decision: 'stay' });
    await phone.open(link);
    expect(headingOf(phone.page)).toBe('This link no longer works');
    expect(phone.page.body).toContain('or if you go on at the computer');
    const next = shown(await computer.press({ decision: 'phone' }));
    await phone.open(next.link);
    expect(headingOf(await phone.press({ code: next.code }))).toBe('Choose who to be');
  });

  it('leaves the form of its first tab valid if no code has been entered yet', async () => {
    const { link, code } = await offerHandoff();
    const phone = openBrowser(hosted, iphone);
    await phone.open(link);
    const first = phone.form();
    await phone.open(link);
    const answer = await phone.request(first.action, { ...first.fields, code });
    expect(headingOf(await phone.follow(answer))).toBe('Choose who to be');
  });
});
