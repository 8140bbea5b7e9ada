import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHostRedirect } from '../../server/pages/other-host.ts';
import { baseUrl, type Hosted, onboard, startHosted, startQuery } from './hosted.ts';

describe('the host name of a start', () => {
  const url = '/verify/start?client_id=c&state=%C3%A4%26';

  it.each([
    ['verify.example', undefined],
    ['VERIFY.example:8443', undefined],
    ['', undefined],
    ['a b', undefined],
    ['127.0.0.1:8080', `https://verify.example/svc${url}`],
    ['www.verify.example', `https://verify.example/svc${url}`],
    ['[::1]:8080', `https://verify.example/svc${url}`],
  ])('%s leads to %s', (host, address) => {
    expect(createHostRedirect('https://verify.example/svc')({ host, url })).toBe(address);
  });

  it('causes one redirect if a proxy sends a Host of its own', () => {
    const redirect = createHostRedirect(baseUrl);
    expect(redirect({ host: 'backend', url })).toBe(`${baseUrl}${url}`);
    expect(redirect({ host: 'backend', url })).toBeUndefined();
  });

  it('causes a redirect again after the address has arrived at the base URL, as when a user reloads', () => {
    const redirect = createHostRedirect(baseUrl);
    for (const _ of [1, 2]) {
      expect(redirect({ host: '127.0.0.1', url })).toBe(`${baseUrl}${url}`);
      expect(redirect({ host: 'verify.example', url })).toBeUndefined();
    }
  });
});

describe('GET /verify/start at another host name', () => {
  let hosted: Hosted;
  beforeAll(async () => {
    hosted = await startHosted();
  });
  afterAll(() => hosted.close());

  it('redirects to the same path and query at the base URL, and makes no session', async () => {
    const { clientId } = await onboard(hosted);
    const path = `/verify/start?${startQuery(clientId)}`;
    const elsewhere = await hosted.send(path, { headers: { host: '127.0.0.1:8080' } });
    expect(elsewhere).toMatchObject({ status: 302, headers: { location: `${baseUrl}${path}` } });
    expect(elsewhere.headers).not.toHaveProperty('set-cookie');
    expect((await hosted.admin.sessions.list.query({ clientId })).rows).toEqual([]);
    expect((await hosted.send(path)).headers['location']).toMatch(/\/verify\/session\/ses_/);
  });
});
