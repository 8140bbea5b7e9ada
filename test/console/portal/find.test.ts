import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeOf } from '../../../server/console/portal/views/find.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { createPortalBrowser, type SignedInMember, signedIn } from './signed-in.ts';

let server: TestServer;
let partner: TestPartner;
let member: SignedInMember;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  partner = await createPartner(server);
  member = await signedIn(server, partner.partnerId, 'viewer');
});
afterAll(() => server.stop());

/** Sends the search, and opens the page that it leads to. */
async function find(id: string, { browser } = member) {
  const answer = await browser.open(`/find?id=${encodeURIComponent(id)}`);
  const location = answer.response.headers.get('location');
  return location === null ? answer : browser.open(location.replace('/portal', ''));
}

describe('the search by any id', () => {
  it('is in the header of every page, and leads to the page of the record', async () => {
    expect((await member.browser.open('/news')).html).toMatch(
      /<form method="get" action="[^"]*\/portal\/find"/,
    );
    expect((await find(` ${partner.clientId} `)).html).toContain(`>${partner.clientId}<`);
    expect((await find(partner.keyId)).html).toContain(partner.keyId);
  });

  it('says that a record is not found if there is none, or if another partner has it', async () => {
    const other = await createPartner(server, { name: 'Other' });
    for (const id of [other.clientId, 'ses_0000000000000000000000', 'opr_1', 'a b', '']) {
      const { status, html } = await find(id);
      expect([id, status, html.includes('Not found')]).toEqual([id, 404, true]);
    }
  });

  it('needs a signed-in member', async () => {
    const { html } = await find(partner.clientId, { ...member, browser: createPortalBrowser(server) });
    expect(html).toContain('Use passkey');
  });

  it.each([
    ['evt_1', '/deliveries?eventId=evt_1'],
    ['dlv_1', '/deliveries/dlv_1'],
    ['enr_1', '/users/enr_1'],
    ['blk_1', '/bulk/blk_1'],
    ['A'.repeat(43), `/users?sub=${'A'.repeat(43)}`],
    ['req-1', '/requests/req-1'],
    ['opr_1', undefined],
    ['../log', undefined],
  ])('knows the page of %s: %s', (id, place) => {
    expect(placeOf(id)).toBe(place);
  });
});

it('a page loads its script by the policy, and says each time with its date for the script', async () => {
  const response = await member.browser.open(`/clients/${partner.clientId}`);
  expect(response.html).toMatch(/<script src="[^"]*\/portal\/assets\/page[^"]*\.js" defer>/);
  expect(response.html).toMatch(
    /<time class="whole" datetime="[\d-]{10}T[\d:.]+Z">[\d-]{10} [\d:]{8}<\/time>/,
  );
});
