import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../../server/console/portal/feature.ts';
import { dryRunnable } from '../../../server/platform/admin-api/dry-runs.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { fieldIn, type SignedInMember, signedIn } from './signed-in.ts';

/** Every action of a page: `asks` before it ends something live, or why it does not. */
const actions: Record<string, Record<string, string>> = {
  '/warnings': { set: 'asks', wish: "the member's own e-mails" },
  '/clients': { create: 'adds' },
  '/clients/:client': {
    ...{ addUri: 'adds', integrate: 'adds', enable: 'starts' },
    ...{ brand: 'waits for an operator', preview: 'saves nothing' },
    ...{ removeUri: 'asks', settings: 'asks', disable: 'asks', rotate: 'asks', openid: 'asks' },
  },
  '/integrations/:integration': { addShop: 'adds', removeShop: 'asks', disable: 'asks', rotate: 'asks' },
  '/keys': { create: 'adds' },
  '/keys/:key': { rotate: 'asks', revoke: 'asks' },
  '/webhooks/:key': {
    ...{ set: 'asks', change: 'asks', rotate: 'asks', switch: 'asks', unset: 'asks' },
    ...{ pause: 'asks', notices: 'asks', prepare: 'the present secret still signs', resume: 'starts' },
    ...{ trigger: 'adds', verify: 'reads', test: 'adds' },
  },
  '/deliveries': { resendSpan: 'adds' },
  '/deliveries/:delivery': { resend: 'adds', now: 'sends earlier', cancel: 'asks' },
  '/bulk/:bulk': { cancel: 'asks' },
  '/wallet': { refill: 'adds', caps: 'asks' },
  '/logo': { set: 'the operator approves it', remove: 'the pages show the first letter of the name' },
  '/members': { invite: 'adds' },
  '/members/:member': {
    ...{ again: 'asks', role: 'asks', remove: 'asks' },
    ...{ confirmInvitation: 'adds', refuseInvitation: 'an invitation that waits is not in use' },
  },
};

const clock = manualClock();
let server: TestServer;
let live: TestPartner;
let owner: SignedInMember;
let viewer: SignedInMember;
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SVC_PORTAL: 'on' } });
  const redirectUris = ['https://shop.example/cb', 'https://shop.example/2'];
  live = await createPartner(server, { mode: 'live', client: { redirectUris } });
  await server.admin.webhooks.set.mutate({ keyId: live.keyId, url: 'https://shop.example/hooks' });
  owner = await signedIn(server, live.partnerId, 'owner');
  viewer = await signedIn(server, live.partnerId, 'viewer');
});
afterAll(() => server.stop());

async function submit(path: string, form: Record<string, string>, by = owner) {
  clock.advance(1_000);
  const { html } = await by.browser.open(path);
  return by.browser.post(path, { csrf: fieldIn(html, 'csrf'), ...form });
}
const paths = () => ({
  key: `/keys/${live.keyId}`,
  client: `/clients/${live.clientId}`,
  hooks: `/webhooks/${live.keyId}`,
  member: `/members/${viewer.id}`,
});
/** The records that the actions of this test could change. */
async function records() {
  const { partnerId } = live;
  const read = (name: string) =>
    server.db
      .collection(name)
      .find({ partnerId }, { projection: { passkey: 0 } })
      .toArray();
  const partner = await server.db.collection<{ _id: string }>('partners').findOne({ _id: partnerId });
  return [await read('clients'), await read('apiKeys'), await read('members'), partner];
}

describe('an action of the portal', () => {
  it('asks before it ends something live, or this test says why not', () => {
    const found = Object.fromEntries(
      pages
        .filter((page) => page.actions)
        .map(({ path, actions: rows = {} }) => [
          path,
          Object.fromEntries(
            Object.entries(rows).map(([act, action]) => [act, 'ask' in action ? 'asks' : 'runs']),
          ),
        ]),
    );
    const declared = Object.fromEntries(
      Object.entries(actions).map(([path, rows]) => [
        path,
        Object.fromEntries(Object.entries(rows).map(([act, why]) => [act, why === 'asks' ? 'asks' : 'runs'])),
      ]),
    );
    expect(found).toEqual(declared);
  });

  it('changes nothing in live mode before the answer, names what ends, and offers the gentle way first', async () => {
    const { key, client, hooks, member } = paths();
    const uri = 'https://shop.example/2';
    const asked: [path: string, form: Record<string, string>, names: string, gentle?: string][] = [
      [key, { act: 'rotate', keepOld: '0' }, live.clientId, '86400'],
      [key, { act: 'rotate', keepOld: '3600' }, live.clientId],
      [key, { act: 'revoke' }, 'https://shop.example/hooks', '86400'],
      [client, { act: 'rotate', keepOld: '0' }, live.clientId, '86400'],
      [client, { act: 'disable' }, live.clientId],
      [client, { act: 'removeUri', uri }, uri],
      [client, { act: 'settings', name: 'x', keyId: live.keyId, claim_country: 'yes' }, 'country'],
      [hooks, { act: 'rotate' }, live.keyId, 'prepare'],
      [hooks, { act: 'unset' }, live.keyId, 'pause'],
      [hooks, { act: 'pause', hours: '168' }, live.keyId],
      [hooks, { act: 'set', url: 'https://evil.example/' }, 'https://shop.example/hooks'],
      [hooks, { act: 'change', url: 'https://evil.example/' }, 'https://shop.example/hooks'],
      [hooks, { act: 'notices', notices: 'off' }, live.keyId],
      [member, { act: 'remove' }, viewer.email],
      [member, { act: 'role', role: 'finance' }, viewer.email],
      [member, { act: 'again' }, viewer.email],
      ['/wallet', { act: 'caps', mode: 'live', perMinute: '1', perHour: '1' }, '→ 1'],
      ['/warnings', { act: 'set', emails: 'x@evil.example', lowBalance: 'off' }, 'x@evil.example'],
    ];
    const before = await records();
    for (const [path, form, names, gentle] of asked) {
      const { status, html } = await submit(path, form);
      expect([path, form, status]).toEqual([path, form, 200]);
      expect([path, form, html.includes('Please confirm'), html.includes(names)]).toEqual([
        ...[path, form, true, true],
      ]);
      const [first = '', ...others] = html.split('<form method="post"').slice(-(gentle ? 2 : 1));
      expect([form, first.includes('class="danger"')]).toEqual([form, gentle === undefined]);
      if (gentle) expect(first).toContain(`value="${gentle}"`);
      for (const other of others) expect(other).toContain('class="danger"');
    }
    expect(await records()).toEqual(before);
  });

  it('checks before the question what the change would be refused for, or does not change anything typed', () => {
    const unchecked = pages.flatMap(({ path, actions: rows = {} }) =>
      Object.entries(rows).flatMap(([act, action]) =>
        'ask' in action && !dryRunnable.has(action.needs) ? [`${path} ${act}`] : [],
      ),
    );
    // Its form has no field. Its e-mail address is that of the member.
    expect(unchecked).toEqual(['/members/:member again']);
  });

  it('is refused before it asks for a bad value, which is named at its field', async () => {
    const { key, client, hooks, member } = paths();
    const emails = Array.from({ length: 30 }, (_, n) => `${n}@shop.example`).join('\n');
    const warn = { act: 'set', emails: 'x@shop.example', lowBalance: 'off' };
    const caps = { act: 'caps', mode: 'live', perMinute: '1', perHour: '1' };
    const openid = { act: 'openid', openid: 'off', idTokenAlg: 'RS256' };
    const settings = { act: 'settings', name: 'x', keyId: live.keyId, claim_country: 'yes' };
    const refused: [path: string, form: Record<string, string>][] = [
      ...['-1', '99999', 'many'].map((amount): [string, Record<string, string>] => [
        '/warnings',
        { ...warn, lowBalance: 'days', amount },
      ]),
      ...['1e9', '1000000000', '1.234', '-1'].map((amount): [string, Record<string, string>] => [
        '/warnings',
        { ...warn, lowBalance: 'dollars', amount },
      ]),
      ['/warnings', { ...warn, emails }],
      ['/warnings', { ...warn, emails: 'bcc: x@y.example' }],
      ['/wallet', { ...caps, perMinute: '-1' }],
      ['/wallet', { ...caps, perHour: '1.5' }],
      [key, { act: 'rotate', keepOld: '-1' }],
      [client, { act: 'rotate', keepOld: '9999999999' }],
      [client, { ...settings, name: '' }],
      [client, { ...openid, idTokenAlg: 'none' }],
      [hooks, { act: 'change', url: 'http://127.0.0.1:9/' }],
      [hooks, { act: 'pause', hours: '99999999' }],
      [member, { act: 'role', role: 'king' }],
    ];
    await server.admin.clients.update.mutate({ clientId: live.clientId, openid: true });
    // Refusals are recorded, which copies the audit entries of changed records.
    await server.services.admin.auditLog.sweep();
    const before = await records();
    for (const [path, form] of refused) {
      const { status, html } = await submit(path, form);
      expect([path, form, status >= 400 && status < 500]).toEqual([path, form, true]);
      expect([path, form, html.includes('Please confirm')]).toEqual([path, form, false]);
      expect([path, form, html.includes('class="fault"')]).toEqual([path, form, true]);
    }
    // The button has a hidden field, which shows no fault.
    const { status } = await submit(hooks, { act: 'notices', notices: 'maybe' });
    expect(status).toBe(400);
    expect(await records()).toEqual(before);
  });

  it('runs after the answer, by the fields of the question', async () => {
    const { client } = paths();
    const { html } = await submit(client, { act: 'disable' });
    expect(fieldIn(html, 'confirmed')).toBe('yes');
    expect((await submit(client, { act: 'disable', confirmed: 'yes' })).status).toBe(303);
    const shown = () => server.admin.clients.show.query({ clientId: live.clientId });
    expect(await shown()).toMatchObject({ status: 'disabled' });
    expect((await submit(client, { act: 'enable' })).status).toBe(303);
    expect(await shown()).toMatchObject({ status: 'active' });
  });

  it('is refused before it asks: 403 for another role, and for a passkey of long ago', async () => {
    const { key } = paths();
    expect((await submit(key, { act: 'revoke' }, viewer)).status).toBe(403);
    clock.advance(31 * 60_000);
    expect((await submit(key, { act: 'revoke' })).html).toContain('Sign in again');
  });
});

describe('the key Enter in a form of the portal', () => {
  it('changes nothing in the form of a URL that is set already', async () => {
    const { keyId } = await server.admin.keys.create
      .mutate({ partnerId: live.partnerId, mode: 'test' })
      .then(({ id }) => ({ keyId: id }));
    const url = 'https://shop.example/hooks';
    const fresh = await signedIn(server, live.partnerId, 'developer');
    expect((await submit(`/webhooks/${keyId}`, { act: 'set', url }, fresh)).html).toContain('whsec_');
    const shown = () => server.admin.webhooks.show.query({ keyId });
    const before = await shown();
    const { html } = await fresh.browser.open(`/webhooks/${keyId}`);
    const [, form = ''] = /(<form method="post"(?:(?!<\/form>).)*name="url".*?<\/form>)/s.exec(html) ?? [];
    const act = fieldIn(form, 'act');
    for (const each of [act, 'set', 'change'])
      expect((await submit(`/webhooks/${keyId}`, { act: each, url }, fresh)).status).toBe(303);
    expect(await shown()).toEqual(before);
  });

  /** Makes a record of each kind that a page with forms shows, and returns the ids by the parameter of the page's path. */
  async function exampleIds(): Promise<Record<string, string>> {
    const { admin } = server;
    const { partnerId, keyId, clientId } = live;
    const client = { partnerId, keyId, kind: 'storefront' as const, claims: ['age_18_plus' as const] };
    const shop = await admin.clients.create.mutate({
      ...client,
      name: 'Shop',
      redirectUris: ['https://shop.example/cb'],
    });
    const integration = await admin.integrations.create.mutate({
      ...{ partnerId, clientId: shop.id, shops: ['shop.example'] },
    });
    const { id: testKey } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    await admin.webhooks.set.mutate({ keyId: testKey, url: 'https://shop.example/hooks' });
    const delivery = await admin.webhooks.trigger.mutate({ keyId: testKey, event: 'vae.resolved' });
    clock.advance(1_000);
    const filter = { partnerId, keyId: testKey, since: new Date(clock.now() - 60_000).toISOString() };
    // Another URL, because events whose delivery to the webhook URL is pending are left out.
    const replay = { action: 'replay' as const, filter, to: 'http://localhost:9/again' };
    const { job } = await admin.bulk.start.mutate(replay);
    return {
      ...{ ':key': keyId, ':client': clientId, ':member': viewer.id, ':integration': integration.id },
      ...{ ':delivery': delivery.id, ':bulk': job?.id ?? '' },
    };
  }

  it('never presses a red button: a form with one has no field to type in, and forms keep an old secret for a day', async () => {
    clock.advance(60_000);
    const ids = await exampleIds();
    const seen = new Set<string>();
    for (const { path, actions: rows } of [...pages, { path: '/devices', actions: {} }]) {
      if (!rows) continue;
      const address = path.replace(/:\w+/, (name) => ids[name] ?? expect.fail(`no example of ${name}`));
      const { html, status } = await owner.browser.open(address);
      expect([path, status]).toEqual([path, 200]);
      for (const [form] of html.matchAll(/<form method="post".*?<\/form>/gs)) {
        seen.add(path);
        const isTyped = /<input id=|<textarea/.test(form);
        expect([path, form.includes('class="danger"') && isTyped]).toEqual([path, false]);
        if (form.includes('name="keepOld"')) expect(form).toContain('<option value="86400" selected>');
      }
    }
    expect([...Object.keys(actions), '/devices'].filter((path) => !seen.has(path))).toEqual([]);
  });
});
