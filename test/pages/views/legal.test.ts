import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages } from '../../../server/pages/views/languages.ts';
import { spanInWords } from '../../../server/pages/views/legal.ts';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, startHosted } from '../hosted.ts';

const day = 86_400_000;
const privacyUrl = 'https://shop.example/privacy';
const imprint = {
  legalName: 'Prüf & Söhne Ltd',
  privacyUrl: 'https://svc.example/privacy?a=1&b=2',
  termsUrl: 'https://svc.example/terms',
  helpAddress: 'help@svc.example',
};

let hosted: Hosted;
let plain: string;
let own: string;
beforeAll(async () => {
  hosted = await startHosted({
    env: {
      SVC_LEGAL_NAME: imprint.legalName,
      SVC_PRIVACY_URL: imprint.privacyUrl,
      SVC_TERMS_URL: imprint.termsUrl,
      SVC_HELP_ADDRESS: imprint.helpAddress,
      SVC_CLAIM_FRESHNESS: '90d,country=1d',
    },
  });
  plain = (await onboard(hosted)).clientId;
  own = (await onboard(hosted, { privacyUrl })).clientId;
});
afterAll(() => hosted.close());

const footer = (body: string) => /<footer[\s\S]*<\/footer>/.exec(body)?.[0] ?? '';
const links = (html: string) =>
  [...html.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)</g)].map(([, href = '', text = '']) => [
    href.replaceAll('&amp;', '&'),
    text,
  ]);
const ours = [
  [imprint.privacyUrl, 'Privacy notice'],
  [imprint.termsUrl, 'Terms'],
  ['mailto:help@svc.example', 'Help'],
];

/** Each function opens a page of the flow for a client. @returns the page's HTML */
const handoffPage = 'the page that shows a hand-off link';
const otherBrowser = 'the error page for a browser without the session cookie';
const pages: Record<string, (clientId: string) => Promise<string>> = {
  'the consent page': async (clientId) => (await openBrowser(hosted).start(clientId)).body,
  async 'the list of sandbox users'(clientId) {
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    return (await browser.press({ decision: 'accept' })).body;
  },
  async [handoffPage](clientId) {
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    await browser.press({ decision: 'accept' });
    return (await browser.press({ decision: 'phone' })).body;
  },
  async 'the page that a phone opens'(clientId) {
    const [link = ''] = /\/verify\/p\/[0-9a-z]+/.exec((await pages[handoffPage]?.(clientId)) ?? '') ?? [];
    return (await openBrowser(hosted).open(link)).body;
  },
  async [otherBrowser](clientId) {
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    return (await openBrowser(hosted).open(browser.at)).body;
  },
};
const openPages: Record<string, string> = {
  'the error page of a refused start': '/verify/start',
  'the error page for an unknown session': '/verify/session/x',
  'the error page for an unknown path': '/verify/nowhere',
  'the error page for an unknown hand-off link': '/verify/p/0123456789',
};

describe('the page footer of the hosted flow', () => {
  it.each(Object.entries(pages))(
    'names the operator, with links to its privacy notice, terms and help, on %s',
    async (_name, open) => {
      const html = footer(await open(plain));
      expect(html).toContain('A service of Prüf &amp; Söhne Ltd');
      expect(links(html)).toEqual(ours);
    },
  );

  it.each(Object.entries(openPages))(
    'names the operator, with links to its privacy notice, terms and help, on %s',
    async (_name, path) => {
      const html = footer((await openBrowser(hosted).open(path)).body);
      expect(html).toContain('A service of Prüf &amp; Söhne Ltd');
      expect(links(html)).toEqual(ours);
    },
  );

  // The page for another browser has no such link, because that browser must not learn the session's client.
  const ofClient = Object.entries(pages).filter(([name]) => name !== otherBrowser);
  it.each(ofClient)(
    "links to the client's own privacy notice too, if the client has one, on %s",
    async (_name, open) => {
      const html = footer(await open(own));
      const [privacy, ...others] = ours;
      expect(links(html)).toEqual([
        privacy,
        [privacyUrl, 'Privacy notice of Weinhaus &lt;Grün&gt;'],
        ...others,
      ]);
    },
  );
});

describe('the consent page', () => {
  const textOf = (body: string) => body.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

  it('states that claims are kept for 90 days and used again, and how to withdraw consent', async () => {
    const { body } = await openBrowser(hosted).start(plain);
    const text = textOf(body);
    expect(text).toContain('We keep the answers for up to 90 days,');
    expect(text).toContain('we use them again');
    expect(text).toContain(
      'You can withdraw at any time: tell Weinhaus &lt;Grün&gt;. Or write to us: help@svc.example',
    );
    expect(links(body)).toContainEqual(['mailto:help@svc.example', 'help@svc.example']);
  });

  it.each(Object.entries(languages))(
    'states in the language %s that claims are kept for 90 days',
    async (language, { consent, code }) => {
      const { body } = await openBrowser(hosted).start(plain, { ui_locales: language });
      const text = textOf(body);
      const expectedTexts = [
        code.title,
        consent.keeping.title,
        spanInWords(90 * day, language),
        consent.keeping.help,
      ];
      for (const part of expectedTexts) expect(text).toContain(part.replace(/\s+/g, ' '));
    },
  );
});

it.each([
  ['365 days', 'in English', '365 days', 365 * day, 'en'],
  ['24 hours', 'in English', '1 day', day, 'en'],
  ['12 hours', 'in German', '12 Stunden', 12 * 3_600_000, 'de'],
  ['36 hours', 'in French', '36 heures', 36 * 3_600_000, 'fr'],
])('spanInWords writes %s %s as "%s"', (_span, _in, words, ms, language) => {
  expect(spanInWords(ms, language).replace('\u00a0', ' ')).toBe(words);
});

it('a page has a footer without links if the service has no imprint configured', async () => {
  const bare = await startHosted();
  const { clientId } = await onboard(bare);
  const { body } = await openBrowser(bare).start(clientId);
  await bare.close();
  expect(footer(body)).toContain('We keep the answers');
  expect(links(footer(body))).toEqual([]);
  expect(body).toContain('We keep the answers for up to 365 days');
  expect(body).not.toContain('Or write to us');
});
