import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatementEntry } from '../../../contracts/admin/wallets.ts';
import { type IdentifierKind, identifierPrefixes, secretPrefixes } from '../../../contracts/identifiers.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { createParty, type Party } from './party.ts';
import { createPortalBrowser, type SignedInMember, signedIn } from './signed-in.ts';

let server: TestServer;
let partner: TestPartner;
let member: SignedInMember;
let own: Party;
let other: Party;
let entries: StatementEntry[];
const clock = manualClock();
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SVC_PORTAL: 'on' } });
  own = await createParty(server, clock);
  clock.advance(60_000);
  other = await createParty(server, clock);
  ({ entries } = await server.admin.wallets.statement.query({ partnerId: own.ids.partner, mode: 'test' }));
  partner = await createPartner(server);
  member = await signedIn(server, partner.partnerId, 'viewer');
}, within(60_000));
afterAll(() => server.stop());

/** Sends the search, and opens the page that it leads to. */
async function find(id: string, { browser }: Pick<SignedInMember, 'browser'> = member) {
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

  it('leads from an id of each kind to its page, or says why the kind has no page', async () => {
    const given = own.ids;
    const withoutPage = {
      user: 'Find users by sub, user_id or enrollment_id.',
      passkey: 'Find users by sub, user_id or enrollment_id.',
      operator: 'This is the id of an operator of the service.',
    };
    const kinds = Object.keys(identifierPrefixes) as IdentifierKind[];
    expect(kinds.filter((kind) => !(kind in given || kind in withoutPage))).toEqual([]);
    for (const kind of kinds.filter((kind): kind is keyof typeof given & IdentifierKind => kind in given)) {
      const { status, html } = await find(given[kind], own.members.owner);
      expect([kind, status]).toEqual([kind, 200]);
      if (kind !== 'partner') expect([kind, html.includes(given[kind])]).toEqual([kind, true]);
    }
    for (const [kind, reason] of Object.entries(withoutPage)) {
      const id = `${identifierPrefixes[kind as IdentifierKind]}${'0'.repeat(22)}`;
      const { status, html } = await find(id, own.members.owner);
      expect([kind, status, html.includes(reason), html.includes(id)]).toEqual([kind, 404, true, false]);
    }
  });

  it('answers alike for an id of another partner and for an unknown one of each kind', async () => {
    const { auditEntry: _auditEntry, warning: _warning, ...ids } = other.ids;
    for (const [kind, id] of Object.entries(ids)) {
      const unknown = id.replace(/.{6}$/, 'zzzzzz');
      const [foreign, missing] = [await find(id, own.members.owner), await find(unknown, own.members.owner)];
      const textOf = ({ html }: typeof foreign, given: string) =>
        html.replaceAll(given, 'ID').replace(/<code>[^<]*<\/code>|name="csrf" value="[^"]*"/g, '');
      expect([kind, foreign.status]).toEqual([kind, 404]);
      expect([kind, missing.status]).toEqual([kind, 404]);
      expect(textOf(foreign, id)).toBe(textOf(missing, unknown));
    }
  });

  it('says that a secret is no id, and does not show it', async () => {
    for (const prefix of Object.values(secretPrefixes)) {
      const secret = `${prefix}${'s'.repeat(49)}`;
      const { status, html } = await find(secret, own.members.viewer);
      expect([prefix, status, html.includes('This is a secret')]).toEqual([prefix, 404, true]);
      expect(html).not.toContain(secret);
    }
    expect((await find('a b', own.members.viewer)).html).toContain('This is no id.');
  });

  it('shows an entry with its session and the statement of its day, to roles that may read the wallet', async () => {
    const { entry: entryId } = own.ids;
    const charge = entries.find(({ sessionId }) => sessionId !== null);
    const { html } = await find(charge?.id ?? '', own.members.owner);
    expect(html).toContain(`href="/portal/sessions/${own.ids.session}"`);
    const [, day] = /href="\/portal(\/wallet\?mode=test&amp;from=[^"]*)"/.exec(html) ?? [];
    const statement = await own.members.owner.browser.open((day ?? '').replaceAll('&amp;', '&'));
    expect(statement.html).toContain(`href="/portal/wallet/entries/${charge?.id}?mode=test"`);
    // Finance may not open sessions.
    const finance = await find(charge?.id ?? '', own.members.finance);
    expect(finance.html).not.toContain('href="/portal/sessions/');
    expect(finance.html).toContain(own.ids.session);
    expect((await find(entryId, own.members.developer)).status).toBe(403);
    const session = await find(own.ids.session, own.members.developer);
    expect(session.html).not.toContain('href="/portal/wallet/entries/');
  });

  it('needs a signed-in member', async () => {
    const { html } = await find(partner.clientId, { ...member, browser: createPortalBrowser(server) });
    expect(html).toContain('Use passkey');
  });
});

it('a page loads its script by the policy, and says each time with its date for the script', async () => {
  const response = await member.browser.open(`/clients/${partner.clientId}`);
  expect(response.html).toMatch(/<script src="[^"]*\/portal\/assets\/page[^"]*\.js" defer>/);
  expect(response.html).toMatch(
    /<time class="whole" datetime="[\d-]{10}T[\d:.]+Z">[\d-]{10} [\d:]{8}<\/time>/,
  );
});

describe('a page that cannot be shown', () => {
  const open = async (path: string, { browser }: Pick<SignedInMember, 'browser'> = own.members.owner) => {
    const { status, html } = await browser.open(path);
    const [menu = '', main = ''] = html.split('<main');
    const [, current] = /href="([^"]*)" aria-current="page"/.exec(menu) ?? [];
    return { status, current, hasMenu: menu.includes('<nav aria-label="Pages"'), main };
  };

  it.each([
    ['/clients/cli_0000000000000000000000', '/portal/clients'],
    ['/integrations/int_0000000000000000000000', '/portal/clients'],
    ['/bulk/blk_0000000000000000000000', '/portal/deliveries'],
    ['/wallet/entries/txn_0000000000000000000000', '/portal/wallet'],
    ['/requests/req_0000000000000000000000?x=1', '/portal/requests'],
  ])('has the menu for the unknown record %s, and says where to look', async (path, list) => {
    const { status, current, hasMenu, main } = await open(path);
    expect([status, current, hasMenu]).toEqual([404, list, true]);
    expect(main).toContain(/\/(\w+)(\?|$)/.exec(path)?.[1]);
    expect(main).toContain('find any id with the field at the top of the page');
    expect(main).toContain(`<a href="${list}">`);
  });

  it('has the menu for a role that may not open it, which leads to no list that it may not open', async () => {
    const { status, hasMenu, main } = await open(`/deliveries/${own.ids.delivery}`, own.members.finance);
    expect([status, hasMenu]).toEqual([403, true]);
    expect(main).toContain('Your role does not allow this');
    expect(main).not.toContain('href="/portal/deliveries"');
  });

  it('has the menu after a form about a record that does not exist', async () => {
    const { browser, csrf } = own.members.owner;
    const path = '/keys/key_0000000000000000000000';
    const { status, html } = await browser.post(path, { csrf: await csrf(), act: 'rotate', keepOld: '0' });
    expect([status, html.includes('<nav aria-label="Pages"')]).toEqual([404, true]);
  });

  it('has the menu for an unknown path, and none if no member is signed in', async () => {
    expect(await open('/nothing')).toMatchObject({ status: 404, hasMenu: true });
    const stranger = { browser: createPortalBrowser(server) };
    expect(await open('/nothing', stranger)).toMatchObject({ status: 404, hasMenu: false });
  });
});
