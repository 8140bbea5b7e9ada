import { randomBytes } from 'node:crypto';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { refusal, startTestServer, type TestServer } from '../harness/server.ts';
import { consentPageOf } from './consent-page.ts';
import { encodeJpeg } from './jpeg-files.ts';

let service: TestServer;
let partner: TestPartner;
beforeAll(async () => {
  service = await startTestServer();
  partner = await createPartner(service);
});
afterAll(() => service.stop());

function file(shade: number): Buffer {
  const image = new PNG({ width: 200, height: 100 });
  image.data.fill(shade);
  return PNG.sync.write(image);
}

/** Returns a PNG file of nearly 256 KiB. Its pixels are random, because random pixels do not compress. */
function largeFile(): Buffer {
  const image = new PNG({ width: 300, height: 210 });
  image.data = randomBytes(image.data.length);
  return PNG.sync.write(image);
}
const set = (image: Buffer, partnerId = partner.partnerId) =>
  service.admin.partners.setLogo.mutate({ partnerId, image: image.toString('base64') });
const addressOf = (id: string | null) => `${service.baseUrl}/verify/assets/logo/${id}.png`;

const consentPage = () => consentPageOf(service, partner);

describe('the logo of a partner', () => {
  it('is read in a worker thread, also a progressive JPEG; the eleventh in a minute is refused (429)', async () => {
    const image = await encodeJpeg({ width: 200, height: 100, data: randomBytes(80_000) });
    const other = await createPartner(service);
    const calls = Array.from({ length: 11 }, () => refusal(set(image, other.partnerId)));
    const results = await Promise.all(calls);
    // A process lets 8 files wait.
    expect(new Set(results)).toEqual(new Set(['no refusal', 'rate_limited', 'service_unavailable']));
    expect(results.filter((result) => result === 'rate_limited')).toHaveLength(1);
    const { logo } = await service.admin.partners.show.query({ partnerId: other.partnerId });
    expect((await fetch(addressOf(logo))).headers.get('content-type')).toBe('image/png');
  });

  it("is shown on the consent page from the service's own origin, with strict headers", async () => {
    expect(await consentPage()).not.toContain('<img class="logo"');
    const { logo } = await set(file(90));
    expect(await consentPage()).toContain(`<img class="logo" src="/verify/assets/logo/${logo}.png" alt=""`);
    const answer = await fetch(addressOf(logo));
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=86400, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    const { width, height } = PNG.sync.read(Buffer.from(await answer.arrayBuffer()));
    expect([width, height]).toEqual([200, 100]);
  });

  it('is not found (404) after it was replaced or removed, and the audit log records the removal', async () => {
    const { logo: first } = await set(file(10));
    const { logo: second } = await set(file(20));
    expect(second).not.toBe(first);
    expect((await fetch(addressOf(first))).status).toBe(404);
    expect((await fetch(addressOf(second))).status).toBe(200);
    const { partnerId } = partner;
    expect(await service.admin.partners.removeLogo.mutate({ partnerId })).toMatchObject({ logo: null });
    expect((await fetch(addressOf(second))).status).toBe(404);
    expect(await consentPage()).toContain('class="tile"');
    await service.sweep();
    const entries = await service.admin.auditLog.list.query({ target: partnerId });
    expect(entries.map(({ action }) => action)).toContain('partners.removeLogo');
  });

  it('has the same URL again if the same file is set again', async () => {
    const { logo } = await set(file(30));
    expect((await set(file(30))).logo).toBe(logo);
    expect((await fetch(addressOf(logo))).status).toBe(200);
  });

  it('is still served if another partner removes the same picture', async () => {
    const other = await createPartner(service);
    const [mine, theirs] = await Promise.all([set(file(40)), set(file(40), other.partnerId)]);
    await service.admin.partners.removeLogo.mutate({ partnerId: other.partnerId });
    expect((await fetch(addressOf(mine.logo))).status).toBe(200);
    expect((await fetch(addressOf(theirs.logo))).status).toBe(404);
  });

  it.each([
    ['a text', Buffer.from('<svg/>'), 'PNG or JPEG'],
    ['empty', Buffer.alloc(0), 'the file is empty'],
    ['more than 256 KiB', Buffer.alloc(256 * 1024 + 3), '256 KiB'],
  ])('causes an error that names the limit or format if the file is %s', async (_what, image, because) => {
    await expect(set(image)).rejects.toThrow(because);
  });

  it.each(['x.png', '../../etc/passwd', `${'0'.repeat(32)}.png`])(
    'answers 404 for the unknown name %s',
    async (name) => {
      const answer = await fetch(`${service.baseUrl}/verify/assets/logo/${encodeURIComponent(name)}`);
      expect(answer.status).toBe(404);
    },
  );

  it('can be a file of nearly 256 KiB', async () => {
    const large = largeFile();
    expect(large.length).toBeGreaterThan(250_000);
    expect((await set(large)).logo).toMatch(/^[0-9a-f]{32}$/);
  });
});
