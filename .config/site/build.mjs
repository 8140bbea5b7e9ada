// Renders the documentation site into dist/site/, one file for each address. A server answers with these files as they are,
// but for its own address, which it puts in when it starts.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Eta } from 'eta';
import { writeDownloads } from './downloads.mjs';
import { renderMarkdown } from './markdown.mjs';
import { addressOf, areas, basePath, baseUrl, pages } from './navigation.mjs';
import { renderReference } from './reference.mjs';
import { searchIndex } from './search-index.mjs';

const site = 'dist/site';
const here = new URL('.', import.meta.url);
const eta = new Eta({ cache: true, views: here.pathname });

function write(path, content) {
  mkdirSync(dirname(`${site}/${path}`), { recursive: true });
  writeFileSync(`${site}/${path}`, content);
}

const known = new Set(pages.map(({ name }) => name));

/** Links of a page: other pages, the OpenAPI document, and addresses of the web. What the site does not have is text. */
function resolve(target) {
  if (/^https?:\/\//.test(target) || target.startsWith('#')) return target;
  const [file, anchor] = target.split('#');
  if (file === 'openapi.json') return `${basePath}/docs/openapi.json`;
  const name = file.replace(/\.md$/, '');
  return known.has(name) ? addressOf(name) + (anchor ? `#${anchor}` : '') : undefined;
}

/** A page of docs/, or the reference, which has no Markdown of its own. */
function rendered(name) {
  if (name === 'reference')
    return renderReference(JSON.parse(readFileSync('docs/openapi.json', 'utf8')), addressOf('errors'));
  const markdown = readFileSync(`docs/${name}.md`, 'utf8');
  return { markdown, ...renderMarkdown(markdown, resolve) };
}

/** The first sentence of a page, for lists of pages. */
function summaryOf({ sections }) {
  const [, sentence = ''] = /^\s*([^|]+?[.:])(?:\s|$)/.exec(sections[0] ?? '') ?? [];
  return sentence.replaceAll(/\s+/g, ' ').replace(/:$/, '.');
}

rmSync(site, { recursive: true, force: true });
const built = pages.map((page) => ({ ...page, address: addressOf(page.name), ...rendered(page.name) }));
/** Links at the top of a page: its area, or the reference, is the present one. */
function topLinks(page) {
  const areaLinks = areas.map((area) => {
    const [first] = area.groups[0].entries;
    const current = area === page?.area && page.name !== 'reference';
    return { label: area.label, href: addressOf(first.name), current };
  });
  const [guides, ...others] = areaLinks;
  const reference = { label: 'API reference', href: addressOf('reference'), current: page?.name === 'reference' };
  return [guides, reference, ...others];
}

for (const page of built) {
  const groups = page.area.groups.map(({ label, entries }) => ({
    label,
    links: entries.map((entry) => ({ ...entry, href: addressOf(entry.name), current: entry.name === page.name })),
  }));
  // The reference is looked through by endpoint, a guide by chapter.
  const deepest = page.name === 'reference' ? 3 : 2;
  const onPage = page.headings.filter(({ depth }) => depth > 1 && depth <= deepest);
  const data = { ...page, basePath, groups, top: topLinks(page), onPage: onPage.length > 1 ? onPage : [] };
  const file = page.name === 'README' ? 'index' : page.name;
  write(`docs/${file}.html`, eta.render('./page', data));
  if (page.markdown) write(`docs/${page.name}.md`, page.markdown);
}

write('index.html', eta.render('./landing', { basePath, top: topLinks() }));
write('status.html', eta.render('./status', { basePath, top: topLinks() }));
writeDownloads(`${site}/docs/downloads`);
write('docs/search.json', searchIndex(built));
for (const name of ['site.css', 'site.js']) cpSync(new URL(name, here), `${site}/docs/${name}`);
cpSync('server/pages/templates/styles/icon.svg', `${site}/docs/icon.svg`);

const listOf = (area) =>
  built
    .filter((page) => page.area === area && page.markdown)
    .map((page) => `- [${page.label}](${baseUrl}/docs/${page.name}.md): ${summaryOf(page) || page.title}`)
    .join('\n');
write(
  'llms.txt',
  `# SVC Gateway

> Hosted identity verification: users prove their age or identity on hosted pages, and partners read verified claims.
> OAuth 2.0 authorization code with PKCE, a prepaid wallet, signed webhooks.

The API is described by the [OpenAPI document](${baseUrl}/docs/openapi.json).

${areas.map((area) => `## ${area.label}\n\n${listOf(area)}\n`).join('\n')}`,
);
