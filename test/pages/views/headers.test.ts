import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, startHosted } from '../hosted.ts';

let hosted: Hosted;
let clientId: string;
beforeAll(async () => {
  // Pages that offer passkeys allow a script, so they have another policy.
  hosted = await startHosted({ env: { SVC_PASSKEYS: 'off' } });
  ({ clientId } = await onboard(hosted));
});
afterAll(() => hosted.close());

describe('the security headers of the hosted flow', () => {
  const policyOf = (headers: Record<string, unknown>) =>
    Object.fromEntries(
      String(headers['content-security-policy'])
        .split('; ')
        .map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1)]),
    ) as Record<string, string[]>;

  it('allow a form to redirect to any https address, and name no host of the partner', async () => {
    const browser = openBrowser(hosted);
    const { headers } = await browser.start(clientId);
    expect(policyOf(headers)['form-action']).toEqual(["'self'", 'https:']);
  });

  it.each([
    ['a page', async () => openBrowser(hosted).start(clientId), 200],
    ['a refused start', async () => openBrowser(hosted).open('/verify/start'), 400],
    ['an unknown session', async () => openBrowser(hosted).open('/verify/session/x'), 404],
    ['an unknown path', async () => openBrowser(hosted).open('/verify/x/y'), 404],
  ])('are sent with %s', async (_what, open, status) => {
    const answer = await open();
    expect(answer.status).toBe(status);
    const { headers } = answer;
    const policy = policyOf(headers);
    expect(policy).toMatchObject({ 'default-src': ["'none'"], 'style-src': ["'self'"] });
    expect(policy).toMatchObject({ 'frame-ancestors': ["'none'"], 'base-uri': ["'none'"] });
    expect(String(headers['content-security-policy'])).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'same-origin',
      'strict-transport-security': expect.stringContaining('max-age=') as unknown,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  it('are on pages without script or inline style; the files of these pages may be cached as immutable', async () => {
    const browser = openBrowser(hosted);
    const { body } = await browser.start(clientId);
    expect(body).not.toMatch(/<script|<style|\sstyle=|\son\w+=/);
    const links = [...body.matchAll(/<(?:link|img|script)[^>]* (?:href|src)="([^"?]+)"/g)].map(
      ([, link = '']) => link,
    );
    expect(links.length).toBeGreaterThan(1);
    for (const link of new Set(links)) {
      const asset = await hosted.send(link);
      expect(asset.status).toBe(200);
      expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    }
  });
});
