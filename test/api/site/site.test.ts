import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorTable } from '../../../contracts/errors.ts';
import { readDoc } from '../../contract/markdown.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Pages for maintainers, which the site does not have. */
const notOnSite = ['architecture', 'contract-coverage'];
const names = readdirSync(new URL('../../../docs/', import.meta.url))
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.slice(0, -3))
  .filter((name) => !notOnSite.includes(name));
/** Why the site may differ from `docs/`: a failing test says so. */
const howToRenew = 'the site is built from docs/ by npm run build';
const addressOf = (name: string) => (name === 'README' ? '/docs/' : `/docs/${name}`);

async function open(path: string, init?: RequestInit) {
  const response = await fetch(`${server.baseUrl}${path}`, init);
  return { status: response.status, headers: response.headers, html: await response.text() };
}

it('each page of the site has a strict content security policy', async () => {
  for (const name of [...names, 'reference']) {
    const { status, headers } = await open(addressOf(name), { method: 'HEAD' });
    const answered = [name, status, headers.get('content-type')];
    expect(answered, howToRenew).toEqual([name, 200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self'; script-src 'self';/,
    );
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

it('the Markdown source of each page is served at the same address with .md', async () => {
  for (const name of names) {
    const { status, headers, html } = await open(`/docs/${name}.md`);
    expect([status, headers.get('content-type')], howToRenew).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(html, howToRenew).toBe(readDoc(`${name}.md`));
  }
});

it('the site has separate lists of pages for partners and operators, and answers 404 for pages of maintainers', async () => {
  const listed = async (path: string) => {
    const { html } = await open(path);
    const [, nav = ''] = /<nav class="contents"([\s\S]*?)<\/nav>/.exec(html) ?? [];
    return [...nav.matchAll(/href="\/docs\/([^"]*)"/g)].map(([, name = '']) => name || 'README');
  };
  const [partner, operator] = [await listed('/docs/quickstart'), await listed('/docs/operations')];
  expect(partner).toContain('webhooks');
  expect(operator).toContain('configuration');
  expect(partner.filter((name) => operator.includes(name))).toEqual([]);
  expect([...partner, ...operator].sort(), howToRenew).toEqual([...names, 'reference'].sort());
  for (const name of notOnSite) expect((await open(`/docs/${name}`)).status).toBe(404);
});

it('/docs/errors has an anchor for every error code', async () => {
  const { html } = await open('/docs/errors');
  for (const code of Object.keys(errorTable)) expect(html, howToRenew).toContain(`<h3 id="${code}">`);
});

it('/docs/quickstart colours code by CSS classes', async () => {
  const { html } = await open('/docs/quickstart');
  expect(html).toContain('<span class="hljs-keyword">import</span>');
});

it('/docs/webhooks has code in four languages in one tab group, none of it hidden without a script', async () => {
  const { html } = await open('/docs/webhooks');
  const [, group = ''] = /<div class="tabs">([\s\S]*?)<\/section><\/div>/.exec(html) ?? [];
  const labels = [...group.matchAll(/<section data-label="(\w+)"/g)].map(([, label]) => label);
  expect(labels).toEqual(['Node', 'Python', 'PHP', 'Go']);
  expect(group).not.toContain('hidden');
});

describe('/docs/reference', () => {
  it('shows every operation, field and event of the OpenAPI document', async () => {
    const { html } = await open('/docs/reference');
    const { status, html: json } = await open('/docs/openapi.json');
    expect(status, json).toBe(200);
    const document = JSON.parse(json) as {
      paths: Record<string, Record<string, { operationId: string; parameters?: { name: string }[] }>>;
      webhooks: Record<string, { post: { operationId: string } }>;
      components: { schemas: Record<string, { properties?: object }> };
    };
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    expect(operations.length).toBeGreaterThan(8);
    const events = Object.entries(document.webhooks);
    const parts = [
      ...operations.flatMap(({ operationId, parameters = [] }) => [
        `<h3 id="${operationId}">`,
        ...parameters.map(({ name }) => `<code>${name}</code>`),
      ]),
      ...events.flatMap(([event, { post }]) => [`<h3 id="${post.operationId}">`, `<code>${event}</code>`]),
    ];
    expect(
      parts.filter((part) => !html.includes(part)),
      howToRenew,
    ).toEqual([]);
    const fields = Object.values(document.components.schemas).flatMap(({ properties }) =>
      Object.keys(properties ?? {}),
    );
    // The name of a nested field starts with its parent field; errors are on a separate page.
    const missing = fields.filter(
      (name) => !new RegExp(`<code>(?:[\\w.[\\]]+\\.)?${name}</code>`).test(html),
    );
    expect(missing.filter((name) => name !== 'error_description')).toEqual([]);
  });
});

describe('the path /', () => {
  it.each(['text/html,application/xhtml+xml,*/*;q=0.8', '*/*', 'application/json'])(
    'answers with the first page of the site, as the pages of /docs answer, whatever is accepted: %s',
    async (accept) => {
      const pages = await Promise.all(
        ['/', '/docs/quickstart'].map((path) => open(path, { headers: { accept } })),
      );
      for (const { status, headers } of pages)
        expect([status, headers.get('content-type'), headers.get('vary')]).toEqual([
          200,
          'text/html; charset=utf-8',
          'accept-encoding',
        ]);
      expect(pages[0]?.html).toContain('href="/docs/quickstart"');
    },
  );
});

describe('responses of the site', () => {
  it('are compressed if the caller accepts gzip, with the same content', async () => {
    const url = `${server.baseUrl}/docs/cli`;
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const compressed = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(
      Number(plain.headers.get('content-length')) / 3,
    );
    expect(await compressed.text()).toBe(await plain.text());
    const refused = await fetch(url, { headers: { 'accept-encoding': 'gzip;q=0, identity' } });
    expect(refused.headers.get('content-encoding')).toBeNull();
    await refused.arrayBuffer();
  });

  it('include the client libraries as packages, without tests', async () => {
    for (const name of ['svc-sdk', 'svc-gateway-python', 'svc-gateway-php']) {
      const response = await fetch(`${server.baseUrl}/docs/downloads/${name}-0.8.0.tgz`);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/gzip']);
      expect(response.headers.get('content-encoding')).toBeNull();
      const listed = execFileSync('tar', ['-tz'], { input: Buffer.from(await response.arrayBuffer()) });
      expect(listed.toString()).toMatch(
        /^(?:package\/dist\/index\.js|svc_gateway\/client\.py|svc-gateway\/autoload\.php)$/m,
      );
      expect(listed.toString()).not.toMatch(/\/tests?\/|pycache/);
    }
  });

  it('are 304 without a body if the request has the current ETag, and 200 if it has another one', async () => {
    const { headers } = await open('/docs/site.css');
    const again = await open('/docs/site.css', { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect([again.status, again.html]).toEqual([304, '']);
    const other = await open('/docs/site.css', { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
  });

  it('are 405 for a POST', async () => {
    expect((await open('/docs/quickstart', { method: 'POST' })).status).toBe(405);
  });
});

it.each([
  ['/docs', '/docs/'],
  ['/docs/guides', '/docs/'],
  ['/docs/guides/', '/docs/'],
  ['/docs/guides/errors', '/docs/errors'],
])('the old address %s redirects to %s', async (from, to) => {
  const response = await fetch(`${server.baseUrl}${from}`);
  await response.arrayBuffer();
  expect([response.status, response.url]).toEqual([200, `${server.baseUrl}${to}`]);
});

it.each(['nothing', '..%2F..%2Fpackage', '..%2Findex', 'quickstart.html', 'guides/nothing'])(
  'the site answers 404 for /docs/%s',
  async (name) => {
    expect((await open(`/docs/${name}`)).status).toBe(404);
  },
);

describe('/llms.txt', () => {
  it('lists the Markdown address of every page', async () => {
    const { status, headers, html } = await open('/llms.txt');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const listed = [...html.matchAll(/\]\((http[^)]+\.md)\)/g)].map(([, url = '']) => url);
    expect(listed.sort()).toEqual(names.map((name) => `${server.baseUrl}/docs/${name}.md`).sort());
  });
});

describe('the search index', () => {
  interface Index {
    pages: [address: string, title: string, area: string][];
    sections: [page: number, anchor: string, heading: string][];
    words: Record<string, string>;
  }

  it('finds the sections that contain a word', async () => {
    const { pages, sections, words } = JSON.parse((await open('/docs/search.json')).html) as Index;
    const found = (word: string) =>
      (words[word] ?? '').split(' ').map((id) => {
        const [page, anchor] = sections[Number.parseInt(id, 36)] ?? [-1, ''];
        return `${pages[page]?.[0]}#${anchor}`;
      });
    expect(found('invalid_grant')).toContain('errors#invalid_grant');
    expect(found('replay')).toContain('cli#svcadmin-webhooks-replay-key');
    expect(found('userinfo')).toContain('reference#readUserinfo');
    for (const address of new Set(pages.map(([each]) => each)))
      expect((await open(new URL(address, 'http://site/docs/').pathname)).status).toBe(200);
  });
});

it('links in pages contain the base URL of the server, also if that URL has a path', async () => {
  const below = await startTestServer({ env: { SVC_BASE_URL: 'http://localhost:8080/auth' } });
  const read = async (path: string) => (await fetch(`${below.publicUrl}${path}`)).text();
  const pages = await Promise.all(['/docs/', '/docs/errors', '/llms.txt', '/docs/site.css'].map(read));
  await below.stop();
  for (const page of pages) expect(page).not.toContain('__SVC_');
  const [overview = '', , llms = ''] = pages;
  expect(overview).toContain('href="/auth/docs/quickstart"');
  expect(overview).not.toMatch(/(?:href|src)="\/(?!auth\/)/);
  expect(llms).toContain('(http://localhost:8080/auth/docs/quickstart.md)');
});

it('the build of the site throws for raw HTML in Markdown, and escapes < and & in text', () => {
  const renderer = new URL('../../../.config/site/markdown.mjs', import.meta.url).href;
  const program = `const { renderMarkdown } = await import(${JSON.stringify(renderer)});
    const attempt = (text) => { try { return renderMarkdown(text, () => undefined).html; } catch ({ message }) { return message; } };
    process.stdout.write(JSON.stringify(['a <b>c</b>', '<script>', 'a < b & \`<i>\`'].map(attempt)));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const [inline, block, text] = JSON.parse(output) as string[];
  expect([inline, block]).toEqual([expect.stringContaining('raw HTML'), expect.stringContaining('raw HTML')]);
  expect(text).toBe('<p>a &lt; b &amp; <code>&lt;i&gt;</code></p>\n');
});
