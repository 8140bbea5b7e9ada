import { afterAll, beforeAll, expect, it } from 'vitest';
import { faultMessages } from '../../../server/console/portal/messages/faults.ts';
import { createShop } from '../../api/storefront/shop.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type SignedInMember, signedIn } from './signed-in.ts';

let server: TestServer;
let partnerId: string;
/** The pages with forms, in parts: the limit of a member's requests in a minute is enough for one of them. */
let paths: string[][];
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  const { keyId, clientId, integrationId, ...shop } = await createShop(server);
  partnerId = shop.partnerId;
  const lists = ['/clients', '/webhooks', '/deliveries', '/requests', '/sessions', '/users', '/log'];
  const others = ['/keys', '/wallet', '/warnings', '/members', '/devices', '/passkeys', '/logo'];
  const records = [`/clients/${clientId}`, `/integrations/${integrationId}`, `/keys/${keyId}`];
  paths = [lists, others, [...records, `/webhooks/${keyId}`]];
});
afterAll(() => server.stop());

const attributeOf = (attributes: string, name: string) =>
  new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
const mainOf = (html: string) => html.split('<main')[1] ?? '';

/** The forms of a page: their values, and the names of the fields that a member can fill. */
function formsIn(html: string) {
  return [...mainOf(html).matchAll(/<form method="(get|post)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, method, body = '']) => {
      const fields = [
        ...body.matchAll(
          // Of the two buttons of a form, the first is that of the key Enter.
          /<(input|select|textarea|button(?= name="act"))([^>]*)>(?:<option value="([^"]*)")?/g,
        ),
      ].map(([, tag, attributes = '', option = '']) => ({
        tag,
        name: attributeOf(attributes, 'name') ?? attributeOf(attributes, 'data-into') ?? '',
        value: attributeOf(attributes, 'value') ?? option,
        type: attributeOf(attributes, 'type') ?? 'text',
      }));
      return {
        isSearch: method === 'get',
        values: Object.fromEntries(fields.map(({ name, value }) => [name, value])),
        filled: fields
          .filter(({ tag, type }) => tag !== 'button' && ['text', 'date', 'file'].includes(type))
          .map(({ name }) => name),
        chosen: fields
          .filter(({ tag, type }) => tag === 'select' || type === 'checkbox')
          .map(({ name }) => name),
      };
    },
  );
}

/** The id of the API key that has a page. */
const keyOf = (all: string[][]) =>
  all
    .flat()
    .find((path) => path.startsWith('/keys/'))
    ?.slice('/keys/'.length) ?? '';

const badValues = ['', '\u202e@ ,', 'y'.repeat(3_000), '-1', 'http://10.0.0.1/#x'];

/** Sends each form of a page with a bad value in each of its fields. @returns the pages that answer */
async function sendBadInput({ browser }: SignedInMember, path: string, language: string) {
  const headers = { 'accept-language': language };
  const pages: { sent: string; status: number; html: string }[] = [];
  for (const form of formsIn((await browser.open(path, headers)).html))
    for (const name of form.filled)
      for (const bad of badValues) {
        const values = { ...form.values, [name]: bad };
        const { status, html } = form.isSearch
          ? await browser.open(`${path}?${new URLSearchParams(values)}`, headers)
          : await browser.post(path, values, headers);
        pages.push({
          sent: `${path} ${form.values['act'] ?? 'search'} ${name}=${bad.slice(0, 20)}`,
          status,
          html,
        });
      }
  return pages;
}

// One language stands for all: each has the same messages, as the last test says.
it('bad input in the portal is refused in the language of the page, in every form', async () => {
  const english: string[] = [];
  let refused = 0;
  for (const [n, part] of paths.entries()) {
    const owner = await signedIn(server, partnerId, 'owner', `walk${n}`);
    for (const path of part)
      for (const { sent, status, html } of await sendBadInput(owner, path, 'de')) {
        if (status < 400) continue;
        refused += 1;
        const [, text] = / lang="en" dir="ltr">([^<]*)/.exec(mainOf(html)) ?? [];
        if (text !== undefined || !html.includes('class="error"')) english.push(`${sent}: ${status} ${text}`);
      }
  }
  expect(english).toEqual([]);
  expect(refused).toBeGreaterThan(100);
});

it('a value that a field does not offer is refused, and so is a field that is given twice, in every form', async () => {
  const taken: string[] = [];
  let refused = 0;
  for (const [n, part] of paths.entries()) {
    const { browser } = await signedIn(server, partnerId, 'owner', `choices${n}`);
    const send = (path: string, isSearch: boolean, values: URLSearchParams) =>
      isSearch ? browser.open(`${path}?${values}`) : browser.post(path, values as never);
    for (const path of part)
      for (const { isSearch, values, chosen } of formsIn((await browser.open(path)).html)) {
        const { csrf: _csrf, act = '', ...others } = values;
        const sent: [string, URLSearchParams][] = chosen.map((name) => [
          name,
          new URLSearchParams({ ...values, [name]: 'x' }),
        ]);
        const [name = 'act'] = Object.keys(others);
        sent.push([
          `${name} twice`,
          new URLSearchParams([...Object.entries(values), [name, values[name] ?? '']]),
        ]);
        for (const [what, fields] of sent) {
          const { status } = await send(path, isSearch, fields);
          if ([400, 404, 422].includes(status)) refused += 1;
          else taken.push(`${path} ${act || 'search'} ${what}: ${status}`);
        }
      }
  }
  expect(taken).toEqual([]);
  expect(refused).toBeGreaterThan(30);
});

it('a fault in English names the field by its label, and says what to do', async () => {
  const { browser, csrf } = await signedIn(server, partnerId, 'owner', 'labels');
  const post = async (path: string, form: Record<string, string>) =>
    mainOf((await browser.post(path, { csrf: await csrf(), ...form })).html);
  const client = paths.flat().find((path) => path.startsWith('/clients/')) ?? '';
  const key = keyOf(paths);
  const summaries: [path: string, form: Record<string, string>, text: string][] = [
    [client, { act: 'addUri', uri: '' }, 'Redirect URI: must not be empty'],
    [client, { act: 'addUri', uri: 'https://a.example:99999/' }, 'must have a port from 1 to 65535'],
    [client, { act: 'brand', brandName: 'a\u200bb' }, 'Name on the pages: must not'],
    [
      '/wallet?mode=test',
      { act: 'caps', mode: 'test', perMinute: '1.5', perHour: '5' },
      'must be a whole number',
    ],
    ['/deliveries', { act: 'resendSpan', key, since: '', status: 'failed' }, 'From (UTC): needed to resend'],
  ];
  for (const [path, form, text] of summaries) {
    const [, summary = ''] = /role="alert"[^>]*>(.*?)<\/p>/s.exec(await post(path, form)) ?? [];
    expect([form, summary]).toEqual([form, expect.stringContaining(text)]);
    expect(summary).not.toMatch(/\w\.\d|[a-z][A-Z]\w*:|of type|expected/);
  }
});

it('a period that ends before it begins is refused, at the field of its end, in each list with a period', async () => {
  const { browser } = await signedIn(server, partnerId, 'owner', 'periods');
  let found = 0;
  for (const path of paths.flat()) {
    const searches = formsIn((await browser.open(path)).html).filter(
      ({ isSearch, filled }) => isSearch && filled.includes('since'),
    );
    if (searches.length === 0) continue;
    found += 1;
    const { status, html } = await browser.open(`${path}?since=2026-07-02&until=2026-07-01`);
    expect([path, status]).toEqual([path, 400]);
    expect(html).toContain('Until (UTC): must be later than the beginning of the period');
  }
  expect(found).toBe(2);
});

it('a fault names the value or the limit, and stands beside its field', async () => {
  const { browser, csrf } = await signedIn(server, partnerId, 'owner', 'values');
  const headers = { 'accept-language': 'de' };
  const invite = { csrf: await csrf(), act: 'invite', email: 'x', role: 'viewer' };
  const { html } = await browser.post('/members', invite, headers);
  expect(html).toMatch(/class="fault">Geben Sie eine E-Mail-Adresse ein/);
  const caps = { csrf: await csrf(), act: 'caps', perMinute: '-1', perHour: '5' };
  expect((await browser.post('/wallet?mode=test', caps, headers)).html).toMatch(
    /class="fault">Der kleinste Wert ist 0\./,
  );
  const half = { ...caps, perMinute: '1.5' };
  expect((await browser.post('/wallet?mode=test', half, headers)).html).toMatch(
    /class="fault">Geben Sie eine ganze Zahl ein\./,
  );
  const key = keyOf(paths);
  const client = { csrf: await csrf(), act: 'create', name: 'Shop', kind: 'oauth', keyId: key };
  const refused = { ...client, redirectUris: 'ftp://x/', claim_age_18_plus: 'yes' };
  expect((await browser.post('/clients', refused, headers)).html).toMatch(
    /<textarea[^>]* name="redirectUris"[^>]* aria-invalid="true"[^>]* autofocus/,
  );
  const span = { csrf: await csrf(), act: 'resendSpan', key, since: '', until: '', status: 'failed' };
  expect((await browser.post('/deliveries', span, headers)).html).toMatch(/class="fault">Bitte ausfüllen\./);
});

it('a refusal that no typed value causes stays English, and is marked as such', async () => {
  const { browser, csrf } = await signedIn(server, partnerId, 'owner', 'refused');
  const rotate = { csrf: await csrf(), act: 'switch', last4: 'abcd' };
  const path = paths.flat().at(-1) ?? '';
  const { html } = await browser.post(path, rotate, { 'accept-language': 'de' });
  expect(html).toMatch(/Abgelehnt|abgelehnt/);
  expect(html).toMatch(/<span lang="en" dir="ltr">API key key_\w+ has no /);
});

it('every message for a fault is translated into each language', () => {
  const all = Object.values(faultMessages).flatMap((messages) => Object.values(messages));
  expect(new Set(all).size).toBe(all.length);
  const values = Object.values(faultMessages).map((messages) =>
    Object.values(messages).map((text) => /\{1\}/.test(text)),
  );
  expect(new Set(values.map((one) => JSON.stringify(one))).size).toBe(1);
});
