import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished } from 'vitest';
import { startReceiver } from '../../server/demo/receiver.ts';
import { fields } from '../api/storefront/shop.ts';
import { freePort } from '../harness/free-port.ts';
import type { TestPartner } from '../harness/partner.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { type Harness, minute, startHarness } from './harness.ts';
import { isSigned, receive } from './hooks.ts';
import { codeBlocks, fileBlock } from './markdown.ts';
import { start } from './programs.ts';
import { rule } from './rule.ts';

let harness: Harness;
let partner: TestPartner;
beforeAll(async () => {
  harness = await startHarness();
  partner = await harness.partner();
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

describe('the token and revoke endpoints', () => {
  rule(
    '5.1 Client credentials (token and revoke endpoints)',
    'answer 401 to a wrong client secret, and 403 client_inactive to a client of a suspended partner',
    async () => {
      const own = await harness.partner();
      const verified = await harness.verifyUser(own);
      const wrong = { client_secret: 'wrong' };
      expect(await harness.exchange(own, verified, wrong)).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      });
      expect((await harness.revoke(own, 'x', wrong)).status).toBe(401);
      await harness.admin.partners.suspend.mutate({ partnerId: own.partnerId });
      const inactive = { status: 403, body: { error: 'client_inactive' } };
      expect(await harness.exchange(own, verified)).toMatchObject(inactive);
      expect(await harness.revoke(own, 'x')).toMatchObject(inactive);
    },
  );
});

describe('userinfo', () => {
  rule(
    '5.2 Bearer access token (userinfo)',
    'answers 200 to a bearer access token, and 401 to a forged token or another scheme',
    async () => {
      const token = await harness.token(partner);
      expect((await harness.userinfo(`Bearer ${token}`)).status).toBe(200);
      const [head = '', payload = '', signature = ''] = token.split('.');
      const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
      const forged = [
        `${none}.${payload}.`,
        `${head}.${payload}.${signature.slice(0, -4)}AAAA`,
        'x',
        `${token}x`,
      ];
      for (const one of forged) expect((await harness.userinfo(`Bearer ${one}`)).status).toBe(401);
      for (const header of [undefined, token, `Basic ${token}`])
        expect((await harness.userinfo(header)).status).toBe(401);
    },
  );
});

describe('the session query', () => {
  const fault = (error: string) => ({ success: false, error });
  const missing = fault('Missing API key. Use Authorization: Bearer {key}');
  const invalid = fault('Invalid or inactive API key');

  rule(
    '5.3 Partner API key (session query)',
    "answers 200 to the session's own API key, which is svc_test_ and 49 letters or digits",
    async () => {
      const { sessionId } = await harness.open(partner);
      expect((await harness.session(sessionId, `Bearer ${partner.apiKey}`)).status).toBe(200);
      expect(partner.apiKey).toMatch(/^svc_test_[0-9A-Za-z]{49}$/);
    },
  );
  rule(
    '5.3 rule 1',
    'answers 401 "Missing API key" to a missing or malformed Authorization header',
    async () => {
      for (const header of [undefined, '', 'Bearer', `Basic ${partner.apiKey}`, partner.apiKey])
        expect(await harness.session('ses_x', header)).toMatchObject({ status: 401, body: missing });
    },
  );
  rule(
    '5.3 rule 2',
    'answers 401 to an unknown, rotated or revoked API key, and to a key of a suspended partner',
    async () => {
      const own = await harness.partner();
      const ask = (key: string) => harness.session('ses_x', `Bearer ${key}`);
      expect(await ask('svc_test_unknown')).toMatchObject({ status: 401, body: invalid });
      const { apiKey } = await harness.admin.keys.rotate.mutate({ keyId: own.keyId });
      expect(await ask(own.apiKey)).toMatchObject({ status: 401, body: invalid });
      expect((await ask(apiKey)).status).toBe(404);
      await harness.admin.partners.suspend.mutate({ partnerId: own.partnerId });
      expect(await ask(apiKey)).toMatchObject({ status: 401, body: invalid });
      await harness.admin.partners.activate.mutate({ partnerId: own.partnerId });
      await harness.admin.keys.revoke.mutate({ keyId: own.keyId });
      expect(await ask(apiKey)).toMatchObject({ status: 401, body: invalid });
    },
  );
  rule('5.3 rule 3', 'answers 403 to another API key of the same partner', async () => {
    const { sessionId } = await harness.open(partner);
    const other = await harness.admin.keys.create.mutate({ partnerId: partner.partnerId, mode: 'test' });
    expect((await harness.session(sessionId, `Bearer ${other.apiKey}`)).status).toBe(403);
  });
});

describe('the storefront exchange', () => {
  rule(
    '5.4 Signed requests (storefront exchange)',
    'answers 401 without one of its three signature headers, and if signature or timestamp is wrong',
    async () => {
      const shop = await harness.shop();
      const ask = (changes: Record<string, string | undefined>) =>
        harness.storefront(shop, fields('svc_code_unused'), changes);
      for (const name of ['x-svc-integration-id', 'x-svc-timestamp', 'x-svc-signature'])
        expect((await ask({ [name]: undefined })).status).toBe(401);
      expect((await ask({ 'x-svc-signature': `sha256=${'0'.repeat(64)}` })).status).toBe(401);
      // The timestamp is part of the signed text.
      expect((await ask({ 'x-svc-timestamp': String(harness.clock.now() / 1000 + 1) })).status).toBe(401);
      expect((await ask({})).status).toBe(404);
    },
  );
});

describe('webhook signatures', () => {
  const type = 'verification.session.completed';

  rule('5.5 Webhook signatures', 'are made with the signing secret of the API key', async () => {
    const own = await harness.partner();
    const hooks = await receive(harness, own);
    await harness.verifyUser(own);
    expect(isSigned(await hooks.event(type), hooks.signingSecret)).toBe(true);
  });
  rule(
    '5.5 rule 2',
    'are sha256= and the hex HMAC of the raw body, and do not match a changed body',
    async () => {
      const own = await harness.partner();
      const hooks = await receive(harness, own);
      await harness.verifyUser(own);
      const event = await hooks.event(type);
      expect(event.headers['x-svc-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
      expect(isSigned(event, hooks.signingSecret)).toBe(true);
      expect(isSigned({ ...event, raw: Buffer.from(`${event.raw.toString()} `) }, hooks.signingSecret)).toBe(
        false,
      );
    },
  );
  rule(
    '5.5 rule 3',
    'are checked over the raw body, before parsing and in constant time, by the receivers of demo and docs',
    async () => {
      const own = await harness.partner();
      const hooks = await receive(harness, own);
      await harness.verifyUser(own);
      const { raw, body, headers } = await hooks.event(type);
      const signature = String(headers['x-svc-signature']);
      // The product's own verification, which the documentation also gives to partners.
      const demo = await startReceiver(0, () => hooks.signingSecret);
      onTestFinished(() => demo.close());
      const [cwd, port] = [temporaryFolder('docs'), await freePort()];
      writeFileSync(join(cwd, 'receiver.mjs'), fileBlock('webhooks.md', 'receiver.mjs'));
      const env = { SVC_WEBHOOK_SECRET: hooks.signingSecret, PORT: String(port) };
      await start([process.execPath, 'receiver.mjs'], { cwd, env, port });
      for (const url of [`http://localhost:${demo.port}/`, `http://localhost:${port}/`]) {
        const post = async (sent: string, signed?: string) =>
          (
            await fetch(url, {
              method: 'POST',
              headers: { ...(signed && { 'x-svc-signature': signed }) },
              body: sent,
            })
          ).status;
        expect(await post(raw.toString(), signature)).toBe(204);
        // After parsing and serialising, the signature must still cover the original bytes.
        expect(await post(JSON.stringify(body, null, 1), signature)).toBe(401);
        // The signature is checked before parsing, so malformed JSON is refused for its signature.
        expect(await post('{', signature)).toBe(401);
        expect(await post('{')).toBe(401);
        // Lengths are compared first, because the constant-time comparison throws if they differ.
        for (const wrong of ['sha256=00', `${signature}0`, signature.slice(0, -1)])
          expect(await post(raw.toString(), wrong)).toBe(401);
      }
      const inConstantTime = /timingSafeEqual\(|compare_digest\(|hash_equals\(|hmac\.Equal\(/;
      for (const { file, code } of codeBlocks('webhooks.md').filter(({ file }) => file))
        expect([file, inConstantTime.test(code)]).toEqual([file, true]);
    },
  );
  rule(
    '5.5 rule 5',
    'are made with the new secret after a rotation, also for events from before the rotation',
    async () => {
      const own = await harness.partner();
      const hooks = await receive(harness, own, (response, delivered) =>
        response.writeHead(delivered.length > 2 ? 200 : 500).end(),
      );
      await harness.verifyUser(own);
      await expect.poll(() => hooks.delivered.length).toBe(2);
      const { signingSecret } = await harness.admin.webhooks.rotateSecret.mutate({ keyId: own.keyId });
      harness.clock.advance(minute);
      await harness.server.sweep();
      // Later attempts of events from before the rotation are signed with the new secret.
      await expect.poll(() => hooks.delivered.length).toBe(4);
      const [first, , third] = hooks.delivered;
      expect(first && isSigned(first, hooks.signingSecret)).toBe(true);
      expect(third && isSigned(third, signingSecret)).toBe(true);
      expect(third && isSigned(third, hooks.signingSecret)).toBe(false);
    },
  );
});

describe('a webhook URL', () => {
  rule(
    '5.5 rule 1',
    'gets a new signing secret each time it is saved, and the secret cannot be read later',
    async () => {
      const { keyId } = await harness.partner();
      const url = 'https://shop.example/hooks';
      const first = await harness.admin.webhooks.set.mutate({ keyId, url });
      const again = await harness.admin.webhooks.set.mutate({ keyId, url });
      expect(again.signingSecret).toMatch(/^whsec_/);
      expect(again.signingSecret).not.toBe(first.signingSecret);
      expect(await harness.admin.webhooks.show.query({ keyId })).not.toHaveProperty('signingSecret');
    },
  );
  rule(
    '5.5 rule 4',
    'must be https for a live key, and may also be http://localhost for a test key',
    async () => {
      const { partnerId, keyId } = await harness.partner();
      const live = await harness.admin.keys.create.mutate({ partnerId, mode: 'live' });
      const save = (id: string, url: string) => harness.admin.webhooks.set.mutate({ keyId: id, url });
      for (const url of ['http://shop.example/hooks', 'http://localhost:3000/hooks'])
        await expect(save(live.id, url)).rejects.toThrow(/https/);
      expect(await save(live.id, 'https://shop.example/hooks')).toMatchObject({ mode: 'live' });
      expect(await save(keyId, 'http://localhost:3000/hooks')).toMatchObject({ mode: 'test' });
      await expect(save(keyId, 'http://shop.example/hooks')).rejects.toThrow(/https/);
    },
  );
});
