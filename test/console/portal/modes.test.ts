import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../../server/console/portal/feature.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { fieldIn, type SignedInMember, signedIn } from './signed-in.ts';

let server: TestServer;
let test: TestPartner;
let live: { keyId: string };
let owner: SignedInMember;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  test = await createPartner(server);
  const { id: keyId } = await server.admin.keys.create.mutate({ partnerId: test.partnerId, mode: 'live' });
  live = { keyId };
  for (const [key, path] of [
    [test.keyId, 'test'],
    [keyId, 'live'],
  ] as const)
    await server.admin.webhooks.set.mutate({ keyId: key, url: `https://shop.example/${path}` });
  owner = await signedIn(server, test.partnerId, 'owner');
});
afterAll(() => server.stop());

const open = async (path: string) => (await owner.browser.open(path)).html;
/** The choices of the switch: each with its address, and whether it is the current one. */
const switchOf = (html: string) => {
  const [, list = ''] = /<ul class="modes">(.*?)<\/ul>/s.exec(html) ?? [];
  return [...list.matchAll(/<a href="([^"]*)"( aria-current="true")?>([^<]*)<\/a>/g)].map(
    ([, href, current, text]) => [text, href?.replaceAll('&amp;', '&'), current !== undefined],
  );
};

describe('the switch between the modes', () => {
  it('is on every list whose records have a mode, and shows both modes first; the wallet shows live', async () => {
    const having = pages.filter(({ modes }) => modes !== undefined).map(({ path }) => path);
    const lists = ['/', '/clients', '/deliveries', '/keys', '/sessions', '/wallet', '/webhooks'];
    expect(having.toSorted()).toEqual(lists);
    for (const path of having) {
      const choices = switchOf(await open(path));
      const both = path === '/wallet' ? [] : [['both', `/portal${path}`, true]];
      expect(choices).toEqual([
        ...both,
        ['live', `/portal${path}?mode=live`, path === '/wallet'],
        ['test', `/portal${path}?mode=test`, false],
      ]);
      expect(switchOf(await open(`${path}?mode=test`)).at(-1)?.[2]).toBe(true);
    }
    expect(switchOf(await open('/requests'))).toEqual([]);
  });

  it('shows only the records of the chosen mode', async () => {
    for (const path of ['/keys', '/webhooks', '/']) {
      expect(await open(path)).toContain(test.keyId);
      const html = await open(`${path}?mode=live`);
      expect([path, html.includes(live.keyId), html.includes(test.keyId)]).toEqual([path, true, false]);
    }
    expect(await open('/clients?mode=test')).toContain(test.clientId);
    expect(await open('/clients?mode=live')).not.toContain(`/clients/${test.clientId}`);
  });

  it('keeps its choice in the menu, links, searches and forms of every page, and in the answer of a form', async () => {
    for (const path of ['/requests', '/keys', `/webhooks/${test.keyId}`]) {
      const html = await open(`${path}?mode=test`);
      const addresses = [...html.matchAll(/(?:href|action)="(\/portal[^"]*)"/g)].map(([, to = '']) => to);
      // The switch leads to both modes.
      const both = `/portal${path}`;
      const fixed = /\/(assets|sign-out|find)|lang=|mode=live/;
      expect(addresses.filter((to) => !fixed.test(to) && to !== both && !to.includes('mode=test'))).toEqual(
        [],
      );
      expect(html).toContain('href="/portal/deliveries?mode=test"');
      expect(html).toContain('<input type="hidden" name="mode" value="test">');
    }
    const found = await owner.browser.open(`/find?mode=test&id=${test.keyId}`);
    expect(found.response.headers.get('location')).toBe(`/portal/keys/${test.keyId}?mode=test`);
    const page = `/webhooks/${test.keyId}?mode=test`;
    const csrf = fieldIn(await open(page), 'csrf');
    const { response } = await owner.browser.post(page, { csrf, act: 'pause', hours: '1' });
    expect(response.headers.get('location')).toBe(`/portal${page}&done`);
  });

  it('starts at the first page of the other mode, and keeps the search', async () => {
    const [, , third] = switchOf(await open(`/clients?status=active&mode=live`));
    expect(third?.[1]).toBe('/portal/clients?status=active&mode=test');
  });

  it('does not keep a mode that does not exist', async () => {
    expect(await open('/requests?mode=other')).not.toContain('mode=other');
  });
});
