import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createHandles,
  destinationOfToken,
  type Handle,
} from '../../server/identity-wallet/protocol/handles.ts';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';
import { askIdentityWallet, digitalRequestIn, linkIn, postFields } from './asking.ts';
import { identityWalletSources } from './attested.ts';
import { otherIdentityWallet } from './other-wallet.ts';
import { rotatingKeys } from './rotating-keys.ts';

const handle: Handle = {
  source: 'age',
  sessionId: `ses_${'1'.repeat(22)}`,
  device: 'computer',
  binding: 'hash-of-the-cookie',
  number: 0,
  keyId: 'code-1',
};
const others: [part: string, other: Handle][] = [
  ['source', { ...handle, source: 'pid' }],
  ['session', { ...handle, sessionId: `ses_${'2'.repeat(22)}` }],
  ['device', { ...handle, device: 'phone' }],
  ['cookie of its browser', { ...handle, binding: 'hash-of-another-cookie' }],
  ['number', { ...handle, number: 1 }],
  ['key', { ...handle, keyId: 'code-2' }],
];

describe('token, nonce and key of a wallet request', () => {
  const handles = createHandles(rotatingKeys());
  const publicKeyOf = (each: Handle) =>
    createPublicKey(handles.decryptionKeyOf(each)).export({ format: 'jwk' }).x;
  /** Returns the last part of a token, which cannot be derived without the key. */
  const secretOf = (each: Handle) => handles.tokenOf(each).split('.').at(-1);

  it('are the same each time for the same request', () => {
    expect(handles.isTokenOf({ ...handle }, handles.tokenOf(handle))).toBe(true);
    expect(handles.nonceOf({ ...handle })).toBe(handles.nonceOf(handle));
    expect(publicKeyOf({ ...handle })).toBe(publicKeyOf(handle));
  });

  it.each(others)('change if the request has another %s', (_part, other) => {
    expect(handles.isTokenOf(other, handles.tokenOf(handle))).toBe(false);
    expect(secretOf(other)).not.toBe(secretOf(handle));
    expect(handles.nonceOf(other)).not.toBe(handles.nonceOf(handle));
    expect(publicKeyOf(other)).not.toBe(publicKeyOf(handle));
  });

  it('stay the same after the key has rotated, and a later request is derived from the new key', () => {
    const keys = rotatingKeys();
    const rotating = createHandles(keys);
    const { keyId: _none, ...request } = handle;
    const before = rotating.begin(request);
    const token = rotating.tokenOf(before);
    keys.rotate();
    const after = rotating.begin(request);
    expect([before.keyId, after.keyId]).toEqual(['code-1', 'code-2']);
    expect(rotating.isTokenOf({ ...request, keyId: destinationOfToken(token)?.keyId ?? '' }, token)).toBe(
      true,
    );
    expect(rotating.nonceOf(after)).not.toBe(rotating.nonceOf(before));
    expect(rotating.isTokenOf({ ...handle, keyId: 'code-9' }, token)).toBe(false);
  });

  it('change with the key of the service, and the token does not contain the nonce', () => {
    const foreign = createHandles(rotatingKeys());
    expect(foreign.isTokenOf(handle, handles.tokenOf(handle))).toBe(false);
    expect(foreign.nonceOf(handle)).not.toBe(handles.nonceOf(handle));
    expect(secretOf(handle)).not.toBe(handles.nonceOf(handle));
  });
});

let service: TestServer;
let partner: TestPartner;
const clock = manualClock();

beforeAll(async () => {
  service = await startTestServer({
    clock,
    env: { SVC_IDENTITY_WALLET_SOURCES: JSON.stringify(identityWalletSources) },
  });
  partner = await createPartner(service, { client: { sources: ['age'] } });
});
afterAll(() => service.stop());

const ask = () => askIdentityWallet(service, 'age', { partner });

/** Shows a hand-off link at a computer, and opens it on a phone. `join` enters the code there. */
async function startHandoff() {
  const computer = await ask();
  const { page, pages } = computer;
  const offer = await pages.open(page.at, { ...page.fields, decision: 'phone' });
  const code = /<p class="code"[^>]*>([\d ]+)</.exec(offer.html)?.[1] ?? '';
  const address = /<code dir="ltr">(.*?)<\/code>/.exec(offer.html)?.[1]?.replaceAll(/<[^>]*>/g, '') ?? '';
  const phone = openPages(service);
  const form = await phone.open(address);
  return { computer, offer, phone, join: () => phone.open(address, { ...form.fields, code }) };
}

describe('the token of a wallet request', () => {
  it('is answered with 404 if its secret belongs to another session', async () => {
    const [mine, other] = [await ask(), await ask()];
    const [one, two] = [await mine.asked(), await other.asked()];
    const secretOf = (uri: string) => uri.slice(uri.lastIndexOf('.') + 1);
    const mixed = one.response_uri.replace(secretOf(one.response_uri), secretOf(two.response_uri));
    expect((await postFields(mixed, { error: 'access_denied' })).status).toBe(404);
    expect((await mine.show()).timeline).toHaveLength(2);
    expect((await postFields(one.response_uri, { error: 'access_denied' })).status).toBe(200);
  });

  it('has no effect in the form of another session', async () => {
    const [mine, other] = [await ask(), await ask()];
    const data = await otherIdentityWallet.pick(mine.request, service.baseUrl);
    const page = await mine.post(data, { token: other.page.fields['token'] ?? '' });
    expect(page.returned).toBeUndefined();
    expect((await mine.show()).timeline).toHaveLength(2);
    expect((await mine.post(data)).returned).toHaveProperty('code');
  });

  it('is accepted after the key from which it was derived has rotated', async () => {
    const mine = await ask();
    clock.advance(60_000);
    await service.admin.keyring.rotate.mutate({ use: 'code', lead: 60 });
    clock.advance(61_000);
    expect((await ask()).link).toContain('code-2');
    expect(mine.link).toContain('code-1');
    const { status, back } = await otherIdentityWallet.open(mine.link);
    expect(status).toBe(200);
    expect((await mine.pages.open(back)).returned).toHaveProperty('code');
  });

  it('is answered with 404 after the session has expired', async () => {
    const { link } = await ask();
    clock.advance(31 * 60_000);
    expect((await otherIdentityWallet.open(link)).status).toBe(404);
  });

  it('is answered with 404 after the user has cancelled the session', async () => {
    const { link, page, pages } = await ask();
    await pages.open(page.at, { ...page.fields, decision: 'cancel' });
    expect((await otherIdentityWallet.open(link)).status).toBe(404);
  });
});

describe('a wallet request', () => {
  it('is answered with 404 after the cookie of its browser was replaced, and the new request is accepted', async () => {
    const { computer, offer } = await startHandoff();
    const { pages, page, link, show } = computer;
    expect((await otherIdentityWallet.open(link)).status).toBe(404);
    const again = await pages.open(page.at, { ...offer.fields, decision: 'stay' });
    expect(digitalRequestIn(again.html).data['nonce']).not.toBe(computer.request.data['nonce']);
    expect((await otherIdentityWallet.open(link)).status).toBe(404);
    expect((await show()).failure).toBeNull();
    const { status, back } = await otherIdentityWallet.open(linkIn(again.html));
    expect(status).toBe(200);
    expect((await pages.open(back)).returned).toHaveProperty('code');
  });

  it("gets 404 at the computer after a phone claimed the hand-off, and the phone's request succeeds", async () => {
    const { computer, phone, join } = await startHandoff();
    const atPhone = await join();
    const data = await otherIdentityWallet.pick(computer.request, service.baseUrl);
    expect((await otherIdentityWallet.open(computer.link)).status).toBe(404);
    expect((await computer.post(data)).returned).toBeUndefined();
    const { status, back } = await otherIdentityWallet.open(linkIn(atPhone.html));
    expect(status).toBe(200);
    expect(new URL(back).pathname).toMatch(/^\/verify\/phone\//);
    expect((await computer.pages.open(back)).status).toBe(401);
    expect((await phone.open(back)).html).toContain('Is this your computer?');
  });

  it('gets 404 at the phone after the user returned to the computer, and the new request at the computer succeeds', async () => {
    const { computer, offer, join } = await startHandoff();
    const atPhone = await join();
    const { pages, page, show } = computer;
    const waiting = await pages.open(page.at);
    const again = await pages.open(page.at, { ...offer.fields, ...waiting.fields, decision: 'stay' });
    expect((await otherIdentityWallet.open(linkIn(atPhone.html))).status).toBe(404);
    expect((await show()).failure).toBeNull();
    const { back } = await otherIdentityWallet.open(linkIn(again.html));
    expect((await pages.open(back)).returned).toHaveProperty('code');
  });
});
