import { createHmac } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createShop, shopDomain } from '../api/storefront/shop.ts';
import { createPartner, redirectUri, type TestPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createBrowser, passFlow } from '../journey/browser.ts';
import { collectionRequests, renderBruno, renderPostman, variables } from './collections.ts';
import { expectGenerated } from './generated.ts';

const requests = collectionRequests();
const postman = 'docs/collections/svc-gateway.postman.json';
const bruno = 'docs/collections/bruno';
const fileOf = (index: number) => `${bruno}/${String(index + 1).padStart(2, '0')}.bru`;

describe('the collections for Postman and Bruno', () => {
  it('are the files that are generated from the OpenAPI document', async () => {
    mkdirSync(new URL(`../../${bruno}/environments`, import.meta.url), { recursive: true });
    await expectGenerated(postman, renderPostman(requests));
    const meta = { version: '1', name: 'SVC Gateway 0.8.0', type: 'collection' };
    await expectGenerated(`${bruno}/bruno.json`, `${JSON.stringify(meta, null, 2)}\n`);
    const values = variables.map((pair) => `  ${pair.join(': ')}`.trimEnd()).join('\n');
    await expectGenerated(`${bruno}/environments/local.bru`, `vars {\n${values}\n}\n`);
    for (const [index, request] of requests.entries())
      await expectGenerated(fileOf(index), renderBruno(request, index + 1));
    const files = readdirSync(new URL(`../../${bruno}`, import.meta.url)).filter((name) =>
      name.endsWith('.bru'),
    );
    expect(files).toHaveLength(requests.length);
  });
});

it("the script of a signed Bruno request signs with the integration secret from Bruno's environment", () => {
  const index = requests.findIndex(({ signed }) => signed);
  const text = renderBruno(requests[index] ?? expect.fail('no signed request'), index + 1);
  const [, script = ''] = /^script:pre-request \{\n([\s\S]*?)\n\}$/m.exec(text) ?? [];
  const environment = new Map([
    ['integration_id', 'int_1'],
    ['integration_secret', 'intsec_1'],
  ]);
  const ofRun = new Map<string, string>();
  let sent = '';
  runInNewContext(script, {
    require: () => ({
      HmacSHA256: (message: string, key: string) => createHmac('sha256', key).update(message).digest('hex'),
    }),
    bru: {
      interpolate: (body: string) => body.replaceAll(/\{\{(\w+)\}\}/g, '$1'),
      getEnvVar: (name: string) => environment.get(name),
      getVar: (name: string) => ofRun.get(name),
      setVar: (name: string, value: string) => ofRun.set(name, value),
    },
    req: {
      setBody(body: string) {
        sent = body;
      },
    },
  });
  const message = `int_1.${ofRun.get('timestamp')}.${sent}`;
  expect(ofRun.get('signature')).toBe(createHmac('sha256', 'intsec_1').update(message).digest('hex'));
});

interface Item {
  name: string;
  event?: { script: { exec: string[] } }[];
  request: {
    method: string;
    header: { key: string; value: string }[];
    url: { raw: string };
    body?: { urlencoded?: { key: string; value: string }[]; raw?: string };
  };
}

describe('every request of the Postman collection', () => {
  let server: TestServer;
  let partner: TestPartner;
  beforeAll(async () => {
    server = await startTestServer();
    partner = await createPartner(server);
  });
  afterAll(() => server.stop());

  const file = JSON.parse(renderPostman(requests)) as {
    item: Item[];
    variable: { key: string; value: string }[];
  };
  const values = new Map(file.variable.map(({ key, value }) => [key, value]));
  const filled = (text: string) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => values.get(name) || whole);

  /** Acts as Postman: runs the script, then sends the request with its variables. */
  function send({ event = [], request: { method, header, url, body } }: Item): Promise<Response> {
    const shim = {
      require: () => ({
        HmacSHA256: (text: string, key: string) => createHmac('sha256', key).update(text).digest('hex'),
      }),
      pm: {
        collectionVariables: {
          get: (name: string) => values.get(name),
          set: (name: string, value: string) => values.set(name, value),
        },
        variables: { replaceIn: filled },
        request: { body },
      },
    };
    for (const { script } of event) runInNewContext(script.exec.join('\n'), shim);
    const pairsOf = (list: { key: string; value: string }[]) =>
      list.map(({ key, value }): [string, string] => [key, filled(value)]);
    const form = body?.urlencoded && new URLSearchParams(pairsOf(body.urlencoded));
    const sent = form ?? (body?.raw === undefined ? undefined : filled(body.raw));
    const [address = '', query] = filled(url.raw).split('?');
    const whole = query === undefined ? address : `${address}?${new URLSearchParams(query).toString()}`;
    expect(whole + String(sent ?? ''), 'a variable has no value').not.toContain('{{');
    return fetch(whole, {
      method,
      redirect: 'manual',
      headers: Object.fromEntries(pairsOf(header)),
      ...(sent === undefined ? {} : { body: sent }),
    });
  }

  /** Completes the hosted pages as a sandbox user, and sets the variable `code`. */
  async function visitAs(person: string, item: Item | undefined): Promise<void> {
    const end = await passFlow(createBrowser(server.baseUrl), filled(item?.request.url.raw ?? ''), person);
    values.set('code', end.searchParams.get('code') ?? '');
  }
  const starts = file.item.filter(({ name }) => name.startsWith('Start, then choose '));
  const others = file.item.filter((item) => !starts.includes(item));
  const setClient = ({ clientId, clientSecret }: TestPartner) => {
    values.set('client_id', clientId).set('client_secret', clientSecret);
  };

  it('is answered with 302 or 200 by the service, in the order of the collection', async () => {
    values.set('base_url', server.baseUrl).set('redirect_uri', redirectUri).set('api_key', partner.apiKey);
    setClient(partner);
    for (const item of starts) {
      const begun = await send(item);
      expect(begun.status, item.name).toBe(302);
      values.set('session_id', begun.headers.get('location')?.split('/').at(-1) ?? '');
    }
    expect(starts.length).toBeGreaterThan(10);
    await visitAs('adult', starts[0]);
    for (const item of others) {
      const isStorefront = item.event !== undefined;
      if (isStorefront) {
        const shop = await createShop(server);
        setClient(shop);
        values.set('integration_id', shop.integrationId).set('integration_secret', shop.integrationSecret);
        values.set('shop_domain', shopDomain).set('api_key', shop.apiKey);
        await visitAs('adult', starts[0]);
      }
      const answer = await send(item);
      const text = await answer.text();
      expect(answer.status, `${item.name}: ${text}`).toBe(200);
      const body = (text ? JSON.parse(text) : {}) as Record<string, string>;
      for (const name of ['access_token', 'enrollment_id']) if (body[name]) values.set(name, body[name]);
    }
    expect(others.length).toBeGreaterThanOrEqual(11);
  });
});
