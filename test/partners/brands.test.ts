import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brandTextFault } from '../../contracts/brand-text.ts';
import { type SignedInMember, signedIn } from '../console/portal/signed-in.ts';
import { createPartner, redirectUri, type TestPartner } from '../harness/partner.ts';
import { refusal, startTestServer, type TestServer } from '../harness/server.ts';
import { consentPageOf } from './consent-page.ts';

let server: TestServer;
let live: TestPartner;
let test: TestPartner;
let member: SignedInMember;
const brand = { brandName: 'Shop', brandColor: '#0a7f5c', purpose: 'To sell wine' };

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  const client = { redirectUris: ['https://shop.example/cb'] };
  live = await createPartner(server, { name: 'Acme Ltd', mode: 'live', client });
  const { partnerId } = live;
  const { id: keyId } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
  const redirectUris = [redirectUri];
  const fields = { partnerId, keyId, name: 'Try', redirectUris, claims: ['age_18_plus' as const] };
  const made = await server.admin.clients.create.mutate(fields);
  test = { ...live, keyId, clientId: made.id, redirectUri };
  member = await signedIn(server, partnerId, 'owner');
});
afterAll(() => server.stop());

const shown = (clientId = live.clientId) => server.admin.clients.show.query({ clientId });
const waiting = () => server.admin.brands.list.query({ partnerId: live.partnerId });
const unbranded = { brandName: null, brandColor: null, purpose: null };
function logo(shade: number): string {
  const image = new PNG({ width: 32, height: 32 });
  image.data.fill(shade);
  return PNG.sync.write(image).toString('base64');
}

describe("a member's change of a live brand", () => {
  it('is not on the pages before an operator has approved it', async () => {
    const { clientId } = live;
    const asked = await member.api.clients.update.mutate({ clientId, ...brand });
    expect(asked).toMatchObject({ ...unbranded, brandRequest: { status: 'waiting', changes: brand } });
    const [first] = await waiting();
    expect(first).toMatchObject({
      id: clientId,
      partnerName: 'Acme Ltd',
      present: unbranded,
      changes: brand,
    });
    const page = (await member.browser.open(`/clients/${clientId}`)).html;
    expect(page).toContain('Waits for the operator');
    await server.admin.brands.approve.mutate({ brandId: clientId, requestedAt: first?.requestedAt });
    expect(await shown()).toMatchObject({ ...brand, brandRequest: null });
    expect(await waiting()).toEqual([]);
    expect(await refusal(server.admin.brands.approve.mutate({ brandId: clientId }))).toBe('refused');
  });

  it('is refused with a reason that members read, and withdrawn by the present values', async () => {
    const { clientId } = live;
    const before = await shown();
    await member.api.clients.update.mutate({ clientId, brandName: 'Federal Tax Office' });
    await server.admin.brands.refuse.mutate({ brandId: clientId, reason: 'Another body has this name' });
    const refused = await member.api.clients.show.query({ clientId });
    expect(refused).toMatchObject({ brandName: before.brandName, brandRequest: { status: 'refused' } });
    expect((await member.browser.open(`/clients/${clientId}`)).html).toContain('Another body has this name');
    await member.api.clients.update.mutate({ clientId, brandName: 'Federal Tax Office' });
    expect(await waiting()).toHaveLength(1);
    await member.api.clients.update.mutate({ clientId, brandName: before.brandName });
    expect(await waiting()).toEqual([]);
  });

  it('is not approved (`conflict`) if it was replaced after the operator saw it', async () => {
    const { clientId } = live;
    const { brandName } = await shown();
    await member.api.clients.update.mutate({ clientId, brandName: 'Shop North' });
    const [seen] = await waiting();
    const other = new Date(new Date(seen?.requestedAt ?? 0).getTime() - 1).toISOString();
    const approval = server.admin.brands.approve.mutate({ brandId: clientId, requestedAt: other });
    expect(await refusal(approval)).toBe('conflict');
    expect((await shown()).brandName).toBe(brandName);
    await server.admin.brands.refuse.mutate({ brandId: clientId, reason: 'no' });
  });

  it('waits for a new live client and for the logo too; test pages show both the change and the name of the operator', async () => {
    const { partnerId, keyId } = live;
    const fields = { partnerId, keyId, name: 'Two', redirectUris: ['https://shop.example/2'] };
    const second = await member.api.clients.create.mutate({ ...fields, claims: ['age_18_plus'], ...brand });
    expect(second).toMatchObject({ ...unbranded, brandRequest: { changes: brand } });
    await member.api.clients.update.mutate({ clientId: test.clientId, brandName: 'Trial' });
    const asked = await member.api.partners.setLogo.mutate({ partnerId, image: logo(90) });
    const wanted = asked.brandRequest?.changes.logo ?? '';
    expect(asked.logo).toBeNull();
    const html = await consentPageOf(server, test);
    expect(html).toContain('Trial (Acme Ltd)');
    expect(html).toContain(`/logo/${wanted}.png`);
    const rows = await waiting();
    expect(rows.map(({ id }) => id)).toEqual([second.id, partnerId]);
    expect(rows[1]?.logoUrl).toBe(`${server.baseUrl}/verify/assets/logo/${wanted}.png`);
    const paged = await server.admin.brands.list.query({ partnerId, after: second.id });
    expect(paged.map(({ id }) => id)).toEqual([partnerId]);
    await server.admin.brands.refuse.mutate({ brandId: partnerId, reason: 'blurred' });
    expect(await consentPageOf(server, test)).not.toContain('class="logo"');
    expect((await fetch(rows[1]?.logoUrl ?? '')).status).toBe(404);
    await member.api.partners.setLogo.mutate({ partnerId, image: logo(90) });
    await server.admin.brands.approve.mutate({ brandId: partnerId });
    expect((await server.admin.partners.show.query({ partnerId })).logo).toBe(wanted);
  });

  it('is an audit entry of the operator who decided', async () => {
    const { clientId } = live;
    await member.api.clients.update.mutate({ clientId, brandName: 'Shop East' });
    await server.admin.brands.approve.mutate({ brandId: clientId });
    await member.api.clients.update.mutate({ clientId, brandName: 'Shop West' });
    await server.admin.brands.refuse.mutate({ brandId: clientId, reason: 'no' });
    const entries = await server.admin.auditLog.list.query({ target: clientId, limit: 100 });
    const actions = entries.map(({ action }) => action);
    expect(actions).toContain('brands.approve');
    expect(actions).toContain('brands.refuse');
  });

  it('is made immediately by an operator', async () => {
    const { clientId } = live;
    await server.admin.clients.update.mutate({ clientId, brandName: 'By support' });
    expect(await shown()).toMatchObject({ brandName: 'By support' });
  });
});

describe('the text of a brand', () => {
  const refused = [
    ['\u3164', 'invisible'],
    ['a\u200bb', 'invisible'],
    ['Shop\u00a0', 'invisible'],
    ['\u2800\u2800', 'invisible'],
    ['x\u{e0041}', 'invisible'],
    ['!?', 'letter'],
    [`a${'\u0301'.repeat(100)}`, 'combining'],
    ['Shop סוק', 'direction'],
  ] as const;
  for (const [text, why] of refused)
    it(`is refused: ${JSON.stringify(text.slice(0, 8))}`, () => {
      expect(brandTextFault(text)).toContain(why);
    });

  it('may be of any script', () => {
    for (const text of [
      ...['Weinhaus Grün & Söhne', 'سوق الطعام 24', 'חנות', 'ร้านน้ำ', 'क्रिकेट', 'Phở Hà Nội', '東京ストア'],
    ])
      expect([text, brandTextFault(text)]).toEqual([text, undefined]);
  });

  it('is checked for operators and in test mode too', async () => {
    const { clientId } = test;
    const named = server.admin.clients.update.mutate({ clientId, brandName: 'a\u3164' });
    expect(await refusal(named)).toBe('bad_input');
    const purposed = member.api.clients.update.mutate({ clientId, purpose: `a${'\u0301'.repeat(9)}` });
    expect(await refusal(purposed)).toBe('bad_input');
  });
});
