import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFirstAnswerNear } from '../../../server/console/portal/views/deliveries.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { createDevice } from './device/device-harness.ts';
import { createPortalBrowser, openInvitation, type SignedInMember, signedIn } from './signed-in.ts';

let server: TestServer;
let partner: TestPartner;
let owner: SignedInMember;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  partner = await createPartner(server);
  owner = await signedIn(server, partner.partnerId, 'owner');
});
afterAll(() => server.stop());

const submit = async (path: string, form: Record<string, string>) =>
  owner.browser.post(path, { csrf: await owner.csrf(), ...form });
const titleOf = (html: string) => /<title>([^<]*)/.exec(html)?.[1];
/** The element that has the focus when the page opens: its name or its role. */
const focusOf = (html: string) =>
  [...html.matchAll(/<[^>]* autofocus>/g)].map(([tag]) => /(?:name|role)="(\w+)"/.exec(tag)?.[1]);
/** The fault beside a field. */
const faultOf = (html: string, name: string) => {
  const id = new RegExp(`name="${name}"[^>]* aria-invalid="true" aria-describedby="(\\w+)"`).exec(html)?.[1];
  return id && new RegExp(`id="${id}"[^>]*>([^<]*)`).exec(html)?.[1];
};

describe('a refused form of the portal', () => {
  it('says what is wrong beside the field, which has the focus, and in the title', async () => {
    const { html, status } = await submit('/members', { act: 'invite', email: 'a@@b', role: 'viewer' });
    expect([status, faultOf(html, 'email')]).toEqual([400, 'expected an e-mail address']);
    expect(focusOf(html)).toEqual(['email']);
    expect(titleOf(html)).toBe('That did not work · Members · SVC partner portal');
  });

  it('has the refusal of a rule beside its only field', async () => {
    const path = `/clients/${partner.clientId}`;
    const { html } = await submit(path, { act: 'addUri', uri: 'http://shop.example/' });
    expect(faultOf(html, 'uri')).toContain('must be https');
    expect(focusOf(html)).toEqual(['uri']);
  });

  it('puts the focus on the error if it is about no single field', async () => {
    const form = { act: 'create', name: 'X', keyId: partner.keyId, redirectUris: 'http://localhost/' };
    const { html } = await submit('/clients', { ...form, kind: 'oauth' });
    expect(html).toContain('at least one claim');
    expect(focusOf(html)).toEqual(['alert']);
  });
});

describe('an accepted form of the portal', () => {
  it('has its result in the title, and the focus on it', async () => {
    const { html } = await submit('/keys', { act: 'create', mode: 'test' });
    expect([titleOf(html), focusOf(html)]).toEqual(['Done. · API keys · SVC partner portal', ['status']]);
    const done = await owner.browser.open('/warnings?done');
    expect([titleOf(done.html), focusOf(done.html)]).toEqual([
      'Done. · Warnings · SVC partner portal',
      ['status'],
    ]);
    const plain = await owner.browser.open('/warnings');
    expect([titleOf(plain.html), focusOf(plain.html)]).toEqual(['Warnings · SVC partner portal', []]);
  });
});

it('a new client has an .env to copy, with its id, its secret and its redirect URI', async () => {
  const form = { act: 'create', name: 'X', keyId: partner.keyId, kind: 'oauth', claim_country: 'yes' };
  const { html } = await submit('/clients', { ...form, redirectUris: 'http://localhost:3000/cb' });
  const [, secret = ''] = /<pre>(svc_secret_\w+)<\/pre>/.exec(html) ?? [];
  const [, id = ''] = /Secret: (cli_\w+)/.exec(html) ?? [];
  expect(html).toContain(
    `SVC_CLIENT_ID=${id}\nSVC_CLIENT_SECRET=${secret}\nSVC_API_KEY=\nSVC_REDIRECT_URI=http://localhost:3000/cb`,
  );
});

describe('the answer to a rotation in the portal', () => {
  it.each([
    ['client', () => `/clients/${partner.clientId}`],
    ['API key', () => `/keys/${partner.keyId}`],
    ['integration', async () => `/integrations/${await createIntegration()}`],
  ])('says until when the old secret of a %s is accepted', async (_of, pathOf) => {
    const path = await pathOf();
    const kept = await submit(path, { act: 'rotate', keepOld: '3600' });
    const [, until = ''] = /The old one is accepted until ([\d-]+ [\d:]+) UTC\./.exec(kept.html) ?? [];
    const { html } = await owner.browser.open(path);
    expect(html).toContain(`>${until}</time>`);
    const ended = await submit(path, { act: 'rotate', keepOld: '0' });
    expect(ended.html).toContain('The old one is refused from now on.');
  });

  async function createIntegration(): Promise<string> {
    const { partnerId, keyId } = partner;
    const shop = await server.admin.clients.create.mutate({
      ...{ partnerId, keyId, name: 'Shop', kind: 'storefront', claims: ['age_18_plus'] },
      redirectUris: ['http://localhost:9999/shop'],
    });
    const of = { partnerId, clientId: shop.id, shops: ['shop.example'] };
    return (await server.admin.integrations.create.mutate(of)).id;
  }
});

describe('a delivery in the portal', () => {
  it('says what the receiver of a test event answered, with the focus on it, and is not said to be done', async () => {
    const path = `/webhooks/${partner.keyId}`;
    await submit(path, { act: 'set', url: 'http://localhost:9/hooks' });
    const { response } = await submit(path, { act: 'test' });
    const [, page = ''] =
      /\/portal(\/deliveries\/dlv_\w{22}\?done)$/.exec(response.headers.get('location') ?? '') ?? [];
    const sentTo = /<dt>URL<\/dt><dd>([^<]*)/;
    const open = async () => sentTo.exec((await owner.browser.open(page)).html)?.[1];
    // The URL of an attempt is known after it. It stays when the endpoint has another one.
    await expect.poll(open, { timeout: within(10_000) }).toBe('http://localhost:9/hooks');
    await submit(path, { act: 'change', url: 'http://localhost:9/other' });
    expect(await open()).toBe('http://localhost:9/hooks');
    const { html } = await owner.browser.open(page);
    expect([titleOf(html), focusOf(html), /role="status"[^>]*>([^<]*)/.exec(html)?.[1]]).toEqual([
      'The receiver did not answer: refused. · verification.session.failed · SVC partner portal',
      ['status'],
      'The receiver did not answer: refused.',
    ]);
  });

  it('reloads its page while the first answer is near: for 30 s, and not after an attempt', () => {
    const now = Date.now();
    const made = {
      status: 'pending' as const,
      createdAt: new Date(now - 29_000).toISOString(),
      attempts: [],
      waiting: null,
    };
    expect(isFirstAnswerNear(made, now)).toBe(true);
    expect(isFirstAnswerNear({ ...made, status: 'in_flight' }, now)).toBe(true);
    expect(isFirstAnswerNear(made, now + 1000)).toBe(false);
    const underWay = { status: null, error: null };
    expect(isFirstAnswerNear({ ...made, attempts: [underWay] }, now)).toBe(true);
    expect(isFirstAnswerNear({ ...made, attempts: [{ ...underWay, status: 500 }] }, now)).toBe(false);
    expect(isFirstAnswerNear({ ...made, status: 'skipped' }, now)).toBe(false);
    expect(isFirstAnswerNear({ ...made, waiting: 'paused' }, now)).toBe(false);
  });

  it(
    'says what has become of it to the member who held, sent or cancelled it',
    async () => {
      const path = `/webhooks/${partner.keyId}`;
      const saidAfter = async (from: string, form: Record<string, string>) => {
        const { response } = await submit(from, form);
        const to = (response.headers.get('location') ?? '').replace(/^.*\/portal/, '');
        const { html } = await owner.browser.open(to);
        return [/role="status"[^>]*>([^<]*)/.exec(html)?.[1], to.replace(/\?.*/, '')] as const;
      };
      // Without a URL, the attempt would skip the event, before or after the page is read.
      await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'https://receiver.example/hooks' });
      await submit(path, { act: 'pause', hours: '1' });
      // A test event waits for its end, but not for that of a pause.
      const [sent, delivery] = await saidAfter(path, { act: 'test' });
      expect(['It is sent now. This page shows the answer in a moment.', 'Not sent: paused']).toContain(sent);
      expect((await saidAfter(delivery, { act: 'now' }))[0]).toBe('Not sent: paused');
      expect((await saidAfter(delivery, { act: 'cancel' }))[0]).toBe('Not sent: cancelled');
      await submit(path, { act: 'resume' });
      expect((await owner.browser.open(delivery)).html).not.toContain('role="status"');
    },
    within(12_000),
  );
});

it('a search in the portal says what it has found, with the focus on it, and a list without a search does not', async () => {
  const saidAt = async (path: string) => {
    const { html } = await owner.browser.open(path);
    return [titleOf(html), /role="status"[^>]*>([^<]*)/.exec(html)?.[1], focusOf(html)];
  };
  expect(await saidAt('/clients')).toEqual(['Clients · SVC partner portal', undefined, []]);
  expect(await saidAt(`/clients?key=${partner.keyId}&status=disabled`)).toEqual([
    'Nothing matches this search. · Clients · SVC partner portal',
    'Nothing matches this search.',
    ['status'],
  ]);
  const { id: keyId } = await server.admin.keys.create.mutate({ partnerId: partner.partnerId, mode: 'test' });
  await submit('/clients', {
    ...{ act: 'create', name: 'X', keyId, kind: 'oauth', claim_country: 'yes' },
    redirectUris: 'http://localhost:3000/cb',
  });
  expect(await saidAt(`/clients?key=${keyId}`)).toEqual([
    'Results: 1 · Clients · SVC partner portal',
    'Results: 1',
    ['status'],
  ]);
  expect((await saidAt('/wallet?mode=live&from=2026-01-01'))[1]).toMatch(/^No entry in this time/);
});

it('the text that a member has to read before an answer has the focus', async () => {
  const { id } = await signedIn(server, partner.partnerId, 'viewer', 'read');
  const asked = await submit(`/members/${id}`, { act: 'remove' });
  expect(asked.html).toContain('autofocus>The person is signed out');
  const { user_code: code } = await createDevice(server).start();
  const found = await submit('/devices', { act: 'find', code });
  expect(found.html).toContain('autofocus>Confirm only a login');
  expect(titleOf(found.html)).toBe('Command line · SVC partner portal');
});

describe('a refused search of the portal', () => {
  it('stays on its page, with what was typed and no rows, and says what is wrong beside the field', async () => {
    const { status, html } = await owner.browser.open('/deliveries?mode=test&since=yesterday&status=failed');
    expect([status, faultOf(html, 'since')]).toEqual([400, 'expected a time such as 2026-07-01T09:00:00Z']);
    expect(html).toContain('value="yesterday"');
    expect(html).toContain('value="failed" selected');
    expect(html).not.toContain('<table>');
    expect(html).toContain('aria-current="page"');
  });

  it('stays on its page if it finds no record, and keeps the status 404', async () => {
    const { status, html } = await owner.browser.open('/sessions?id=ses_0000000000000000000000');
    expect(status).toBe(404);
    expect(html).toContain('value="ses_0000000000000000000000"');
    expect(focusOf(html)).toEqual(['alert']);
    expect((await owner.browser.open('/clients/cli_0000000000000000000000?x=1')).status).toBe(404);
  });
});

describe('a page of the portal', () => {
  it('says in each empty list what would be there, or that nothing matches the search', async () => {
    const { partnerId } = await createPartner(server);
    const { browser } = await signedIn(server, partnerId, 'owner', 'empty');
    for (const [path, text] of [
      ['/deliveries', 'No delivery yet'],
      ['/requests', 'No request yet'],
      ['/sessions', 'No session yet'],
      ['/users', 'No user yet'],
      ['/wallet', 'No entry in this time'],
      ['/', 'No endpoint yet'],
      ['/clients?mode=live', 'Nothing matches this search'],
      ['/deliveries?status=failed', 'Nothing matches this search'],
    ] as const)
      expect([path, (await browser.open(path)).html]).toEqual([path, expect.stringContaining(text)]);
    const { html } = await browser.open('/wallet');
    expect(html).not.toContain('<svg');
  });

  it('leads a partner who was just invited to the first step, and offers no form that needs an API key', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Newcomer' });
    const { browser } = await signedIn(server, partnerId, 'owner', 'newcomer');
    const { html } = await browser.open('/');
    expect(html).toContain('Your account is not active: pending');
    expect(html).toContain('The operator activates it.');
    const clients = await browser.open('/clients');
    expect(clients.html).toContain('<a href="/portal/keys">Make an API key</a>');
    expect(clients.html).not.toContain('name="redirectUris"');
    expect((await browser.open('/deliveries')).html).not.toContain('Send a time span again');
    const key = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
    expect((await browser.open('/clients')).html).toMatch(new RegExp(`name="keyId".*value="${key.id}"`));
    expect((await browser.open('/deliveries')).html).toContain('Send a time span again');
  });

  it('shows the price of one check, each price if they differ, and the prices that begin later', async () => {
    const { partnerId } = partner;
    const shown = async () =>
      [...(await owner.browser.open('/wallet')).html.matchAll(/<dt>(Price[^<]*)<\/dt><dd>([^<]*)/g)].map(
        ([, name, price]) => [name, price],
      );
    expect(await shown()).toEqual([['Price of one check', '0.50 USD']]);
    await server.admin.prices.set.mutate({ partnerId, kind: 'storefront', cents: 40 });
    const from = '2999-01-01T00:00:00.000Z';
    await server.admin.prices.set.mutate({ partnerId, kind: 'token', cents: 60, from });
    expect(await shown()).toEqual([
      ['Price of one check', 'token 0.50 USD · storefront 0.40 USD · checkbox 0.50 USD'],
      ['Price of one check, Valid from 2999-01-01 00:00:00 UTC', 'token 0.60 USD'],
    ]);
  });

  it('names the zone of each time that is typed, and shows no time as programs write it', async () => {
    for (const path of ['/deliveries', '/requests', '/wallet'])
      expect((await owner.browser.open(path)).html).not.toMatch(/<label [^>]*>(From|Until)</);
    const { id } = await server.admin.keys.create.mutate({ partnerId: partner.partnerId, mode: 'test' });
    const path = `/webhooks/${id}`;
    await submit(path, { act: 'set', url: 'http://localhost:9/zones' });
    await submit(path, { act: 'prepare' });
    await submit(path, { act: 'pause', hours: '4' });
    const { html } = await owner.browser.open(path);
    expect(html).toContain('Send what waits');
    expect(html).not.toMatch(/>[^<]*\d{4}-\d{2}-\d{2}T/);
  });

  it.each(['abc', '', '0', '-1', '1e9', '9'.repeat(20), 'NaN', 'Infinity'])(
    'refuses a hold of %j hours as an input',
    async (hours) => {
      const { response } = await submit(`/webhooks/${partner.keyId}`, { act: 'pause', hours });
      expect(response.status).toBeLessThan(500);
      expect(['bad_input', 'refused']).toContain(response.headers.get('x-svc-error'));
    },
  );

  it('leads from a held endpoint to the deliveries that wait', async () => {
    const path = `/webhooks/${partner.keyId}`;
    await submit(path, { act: 'set', url: 'http://localhost:9/hooks' });
    await submit(path, { act: 'pause', hours: '1' });
    const { response } = await submit(path, { act: 'test' });
    const [, delivery = ''] = /(dlv_\w{22})/.exec(response.headers.get('location') ?? '') ?? [];
    const { html } = await owner.browser.open(path);
    const [, list = ''] = /href="\/portal([^"]*)">Deliveries: waiting</.exec(html) ?? [];
    expect((await owner.browser.open(list.replaceAll('&amp;', '&'))).html).toContain(delivery);
    await submit(path, { act: 'resume' });
  });

  it('calls an invitation of another person not “your invitation”', async () => {
    const form = { act: 'invite', email: 'lee@shop.example', role: 'viewer' };
    const { html } = await submit('/members', form);
    expect(html).toContain('<h2>Invitation: lee@shop.example</h2>');
    const [, id = ''] = /members\/(mem_\w{22})">lee@/.exec(html) ?? [];
    const shown = await owner.browser.open(`/members/${id}`);
    expect(shown.html).toContain('<dt>Invitation valid until</dt>');
    expect(html + shown.html).not.toContain('Your invitation');
  });

  it('has a heading for the check boxes of claims', async () => {
    for (const path of ['/clients', `/clients/${partner.clientId}`])
      expect((await owner.browser.open(path)).html).toMatch(
        /<fieldset><legend>Claims<\/legend>((?!<\/fieldset>).)*claim_age_18_plus((?!<fieldset>).)*<\/fieldset>/s,
      );
  });

  it('marks what has no translation as English, so that a screen reader reads it so', async () => {
    const path = `/webhooks/${partner.keyId}`;
    await submit(path, { act: 'set', url: 'http://localhost:9/hooks' });
    await submit(path, { act: 'resume' });
    const { response } = await submit(path, { act: 'test' });
    const [, delivery = ''] = /(\/deliveries\/dlv_\w{22})/.exec(response.headers.get('location') ?? '') ?? [];
    const isMarked = async (language: string) =>
      (await owner.browser.open(delivery, { 'accept-language': language })).html.includes(
        '<span lang="en" dir="ltr">',
      );
    await expect.poll(() => isMarked('ar'), { timeout: within(10_000) }).toBe(true);
    expect(await isMarked('en')).toBe(false);
  });

  it('isolates the values in Arabic, so that they are not mixed with the text around them', async () => {
    const { html } = await owner.browser.open('/wallet', { 'accept-language': 'ar' });
    expect(html).toContain('<bdi>0.00 USD</bdi>');
    expect((await owner.browser.open('/wallet')).html).not.toContain('<bdi>');
  });
});

it('a threshold of a low balance that is no number is refused before the question, which names the change', async () => {
  const form = { act: 'set', emails: '', lowBalance: 'dollars' };
  const refused = await submit('/warnings', { ...form, amount: 'fifty' });
  expect([refused.status, refused.html]).toEqual([
    400,
    expect.stringContaining('as an amount, such as 50.00'),
  ]);
  const large = await owner.browser.post(
    '/warnings?lang=de',
    { csrf: await owner.csrf(), ...form, confirmed: 'yes', amount: '99999999' },
    { 'accept-language': 'de' },
  );
  expect(large.html).toContain('Der größte Wert ist 1000000.00 USD.');
  const asked = await submit('/warnings', { ...form, amount: '50' });
  expect(asked.html).toContain('7 days left (default) → 50.00 USD');
});

it('the page of the command line says how to end all sign-ins of a lost device', async () => {
  const { html } = await owner.browser.open('/devices');
  expect(html).toContain('Remove its passkey. That ends all sign-ins with it');
  expect(html).toMatch(/<ul class="links"><li><a href="\/portal\/passkeys">/);
});

it('the page of an invitation names the company', async () => {
  const { partnerId } = await createPartner(server, { name: 'Fern & Events' });
  const { link } = await server.admin.members.invite.mutate({
    partnerId,
    email: 'a@shop.example',
    role: 'owner',
  });
  const { html } = await openInvitation(createPortalBrowser(server), link);
  expect(html).toContain('Fern &amp; Events');
});

it('the question before a member is removed names no mode, because members have none', async () => {
  const { id } = await signedIn(server, partner.partnerId, 'viewer', 'asked');
  const { html } = await submit(`/members/${id}`, { act: 'remove' });
  expect(html).toContain('The person is signed out');
  expect(html).not.toContain('This is live mode');
});
