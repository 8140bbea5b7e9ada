import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks, readDoc } from '../contract/markdown.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const names = readdirSync(new URL('../../docs/', import.meta.url))
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.slice(0, -3));
const addressOf = (name: string) => (name === 'README' ? '/docs/guides' : `/docs/guides/${name}`);

async function open(path: string) {
  const response = await fetch(`${server.baseUrl}${path}`);
  return { status: response.status, headers: response.headers, html: await response.text() };
}

const asText = (html: string) =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
/** What a reader sees, without white space. */
const visible = (html: string) => asText(html.replaceAll(/<[^>]*>/g, '')).replaceAll(/\s/g, '');

describe.each(names)('/docs/guides: %s', (name) => {
  it('is a page under a strict policy that loads its own style sheet and nothing else', async () => {
    const { status, headers, html } = await open(addressOf(name));
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self';/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(html).not.toMatch(/<(?:script|img|iframe|style)|\bon\w+=|style=/i);
    const loaded = [...html.matchAll(/<link [^>]*href="([^"]*)"/g)].map(([, href]) => href);
    expect(loaded).toEqual(['/docs/guides/guide.css']);
  });

  it('shows every code block byte for byte, and no mark of the source', async () => {
    const { html } = await open(addressOf(name));
    const shown = [...html.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code><\/pre>/g)].map(([, code = '']) =>
      asText(code),
    );
    expect(shown).toEqual(codeBlocks(`${name}.md`).map(({ code }) => code));
    const prose = html.replaceAll(/<pre[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>/g, '');
    expect(prose).not.toMatch(/\*\*|`|\]\(|^\||^#+ |\|--/m);
  });

  it('leaves out no word', async () => {
    const { html } = await open(addressOf(name));
    const all = visible(html);
    const source = readDoc(`${name}.md`).replaceAll(/^```.*$/gm, '');
    const words = source
      .replaceAll(/\]\([^)\s]+\)/g, '')
      // Numbers of a list are the browser's.
      .replaceAll(/^\d+\. /gm, '')
      .split(/[\s|`*[\]]+/)
      .map((word) => word.replaceAll(/^[<#-]+$|\\$/g, ''))
      .filter((word) => /^[\p{L}\p{N}.,:;()/_-]+$/u.test(word) && !/^[-:]+$/.test(word));
    expect(words.length).toBeGreaterThan(20);
    expect(words.filter((word) => !all.includes(word))).toEqual([]);
  });
});

it('every link of every guide leads somewhere on this server, with its anchor', async () => {
  const pages = new Map(
    await Promise.all(names.map(async (name) => [addressOf(name), await open(addressOf(name))] as const)),
  );
  for (const [from, { html }] of pages) {
    for (const [, href = ''] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      if (/^https?:/.test(href)) continue;
      const [path = '', anchor] = href.split('#');
      const to = path === '' ? from : path;
      const page = pages.get(to) ?? (await open(to));
      expect(page.status, `${from}: ${href}`).toBe(200);
      if (anchor) expect(page.html, `${from}: ${href}`).toContain(`id="${anchor}"`);
    }
  }
});

it('the reference and the guides lead to each other', async () => {
  const reference = await open('/docs');
  const scripts = [...reference.html.matchAll(/src="([^"]+)"/g)].map(([, src = '']) => src);
  const own = await open(`/${(scripts.find((src) => src.endsWith('own.js')) ?? '').replace(/^\.?\//, '')}`);
  expect(own.status).toBe(200);
  expect(own.html).toContain("'/docs/guides'");
  expect((await open('/docs/guides')).html).toContain('<a href="/docs">API reference</a>');
});

it.each(['nothing', '..%2F..%2Fpackage', 'README.md', 'quickstart.md'])(
  'answers 404 for %s',
  async (name) => {
    expect((await open(`/docs/guides/${name}`)).status).toBe(404);
  },
);

it('serves its style sheet', async () => {
  const { status, headers, html } = await open('/docs/guides/guide.css');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
  expect(html).not.toMatch(/url\(|@import/);
  expect(html).toBe(readFileSync(new URL('../../server/guides/pages/guide.css', import.meta.url), 'utf8'));
});
