import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import type { TestServer } from '../harness/server.ts';
import { newStart, startUrl } from '../journey/pkce.ts';

type ClientSettings = NonNullable<Parameters<typeof createPartner>[1]>['client'];

export interface Shop {
  origin: string;
  partner: TestPartner;
  /** Returns the query of the last callback. */
  last(): Record<string, string>;
  /** Returns the number of callbacks. */
  returns(): number;
  /** Makes the callback redirect to another origin. */
  leadOn(to: string | undefined): void;
  /** Returns a start link for a new session. `scope` and `ui_locales` can be set. */
  link(changes?: { scope?: string; uiLocales?: string }): string;
  close(): Promise<void>;
}

const scope = 'age_18_plus country';

/** Starts a partner's site with a callback page, and creates the partner at the service. */
export async function openShop(
  service: Pick<TestServer, 'admin' | 'baseUrl'>,
  client: ClientSettings = {},
): Promise<Shop> {
  const returned: Record<string, string>[] = [];
  let onward: string | undefined;
  const site = createServer(({ url = '/' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://shop');
    if (pathname === '/callback') {
      returned.push(Object.fromEntries(searchParams));
      if (onward) return void response.writeHead(302, { location: onward }).end();
    }
    response.setHeader('content-type', 'text/html').setHeader('cache-control', 'no-store');
    response.end(
      '<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>Shop</h1>',
    );
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const origin = `http://localhost:${(site.address() as AddressInfo).port}`;
  const redirectUri = `${origin}/callback`;
  const partner = await createPartner(service, {
    client: { redirectUris: [redirectUri], ...client },
  });

  return {
    origin,
    partner,
    last: () => returned.at(-1) ?? {},
    returns: () => returned.length,
    leadOn(to) {
      onward = to;
    },
    link({ scope: wanted = scope, uiLocales } = {}) {
      const { state, codeChallenge } = newStart();
      const { clientId } = partner;
      const { baseUrl } = service;
      const url = startUrl({ baseUrl, clientId, redirectUri, scope: wanted, state, codeChallenge });
      return uiLocales === undefined ? url : `${url}&ui_locales=${encodeURIComponent(uiLocales)}`;
    },
    async close() {
      site.closeAllConnections();
      await new Promise((resolve) => site.close(resolve));
    },
  };
}
