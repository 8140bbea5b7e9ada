// Refuses pages of the built documentation site that do not show their Markdown, load other files than the site's, or link to
// what does not exist.
import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { addressOf, basePath, pages } from './site/navigation.mjs';

const site = 'dist/site';
const fewestWords = 20;
let faults = 0;
function fault(name, message) {
  console.error(`${name}: ${message}`);
  faults += 1;
}

/** What a server shows at its own address. */
const read = (file) => readFileSync(`${site}/${file}`, 'utf8').replaceAll(basePath, '');
const fileOf = (address) => (address.endsWith('/') ? `${address.slice(1)}index.html` : `${address.slice(1)}.html`);
const addresses = pages.map(({ name }) => addressOf(name).replace(basePath, ''));
const htmlOf = new Map(['/', ...addresses].map((address) => [address, read(fileOf(address))]));

const asText = (html) =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll(/&#39;|&#x27;/g, "'")
    .replaceAll('&amp;', '&');

function checkLoaded(name, html) {
  if (/<(?:img|iframe|style)|<script(?! src)|\bon\w+="|style="/i.test(html)) fault(name, 'is not plain HTML');
  const loaded = [...html.matchAll(/<(?:link rel="stylesheet"|script)[^>]* (?:href|src)="([^"]*)"/g)].map(([, to]) => to);
  if (!isDeepStrictEqual(loaded, ['/docs/site.css', '/docs/site.js'])) fault(name, `loads ${loaded.join()}`);
}

function checkAnchors(name, html) {
  const anchors = [...html.matchAll(/ id="([^"]+)"/g)].map(([, anchor]) => anchor);
  if (anchors.length < 2) fault(name, 'has no anchors');
  const repeated = anchors.filter((anchor, at) => anchors.indexOf(anchor) < at);
  if (repeated.length > 0) fault(name, `has these anchors more than once: ${repeated.join()}`);
}

/** Every code block byte for byte, every word, and no Markdown syntax. */
function checkContent(name, html) {
  const [, article = ''] = /<article>([\s\S]*)<\/article>/.exec(html) ?? [];
  const markdown = readFileSync(`docs/${name}.md`, 'utf8');
  const shown = [...article.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code><\/pre>/g)].map(([, code]) => asText(code));
  const blocks = [...markdown.matchAll(/^```\w*(?: .*)?\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  if (!isDeepStrictEqual(shown, blocks)) fault(name, 'has other code blocks than its Markdown');
  const prose = article.replaceAll(/<pre[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>/g, '');
  if (/\*\*|`|\]\(|^\||^#+ |\|--/m.test(prose)) fault(name, 'shows Markdown syntax');
  const words = markdown
    .replaceAll(/^```.*$/gm, '')
    .replaceAll(/\]\([^)\s]+\)/g, '')
    // The browser adds the numbers of a list.
    .replaceAll(/^\d+\. /gm, '')
    .split(/[\s|`*[\]]+/)
    .map((word) => word.replaceAll(/^[<#-]+$|\\$/g, ''))
    .filter((word) => /^[\p{L}\p{N}.,:;()/_-]+$/u.test(word) && !/^[-:]+$/.test(word));
  const visible = asText(article).replaceAll(/\s/g, '');
  const missing = words.filter((word) => !visible.includes(word));
  if (words.length < fewestWords || missing.length > 0) fault(name, `lacks words: ${missing.join(' ')}`);
  if (readFileSync(`${site}/docs/${name}.md`, 'utf8') !== markdown) fault(name, 'has other Markdown beside it');
  if (!html.includes(`<link rel="alternate" type="text/markdown" href="/docs/${name}.md">`))
    fault(name, 'does not link to its Markdown');
}

/** Addresses that a server answers without a file of the site. */
const served = ['/docs/openapi.json', '/status'];

function checkLinks(from, html) {
  for (const [, href = ''] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
    if (/^https?:/.test(href) || href === '/') continue;
    const [path = '', anchor] = href.split('#');
    const to = path === '' ? from : new URL(path, `http://site${from}`).pathname;
    const page = htmlOf.get(to);
    if (page === undefined && !served.includes(to) && !existsSync(`${site}${to}`)) fault(from, `links to ${href}`);
    if (anchor && !page?.includes(`id="${anchor}"`)) fault(from, `links to ${href}, which has no such anchor`);
  }
}

for (const [at, { name }] of pages.entries()) {
  const html = htmlOf.get(addresses[at]);
  checkLoaded(name, html);
  checkAnchors(name, html);
  if (name !== 'reference') checkContent(name, html);
}
for (const [address, html] of htmlOf) checkLinks(address, html);
if (faults > 0) process.exit(1);
console.log(`${pages.length} pages of the site show their Markdown, and their links lead somewhere`);
