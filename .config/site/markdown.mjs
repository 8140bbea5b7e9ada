import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { Marked } from 'marked';

const grammars = { go, js: javascript, json, php, python, sh: bash, ts: typescript, yaml };
for (const [name, grammar] of Object.entries(grammars)) hljs.registerLanguage(name, grammar);

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** @param {string} text that shall not become markup */
export const escapeText = (text) => text.replace(/[&<>"']/g, (character) => entities[character]);

/** Colours are classes: the content security policy admits no style in the markup. */
export function highlight(code, language) {
  return hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : escapeText(code);
}

/** The anchor of a heading, as GitHub makes it: links between the guides work in both places. */
export const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** @param {string} code, @param {string} info what stands after the backticks: a language and `file=NAME` */
export function codeBlock(code, info = '') {
  const [language = ''] = info.split(' ');
  const [, file] = /\bfile=(\S+)/.exec(info) ?? [];
  const caption = file ? `<figcaption>${escapeText(file)}</figcaption>` : '';
  return `<figure>${caption}<pre tabindex="0"><code>${highlight(code, language)}\n</code></pre></figure>`;
}

/** Languages in which a guide shows the same thing, by the word in a heading and by that of a code block. */
const languages = { sh: 'curl', ts: 'TypeScript', js: 'Node', python: 'Python', php: 'PHP', go: 'Go' };
const names = new Set([...Object.values(languages), 'Node.js']);

const isBlank = ({ type }) => type === 'space';
const headingName = (token) => (token?.type === 'heading' && names.has(token.text) ? token.text : undefined);
const blockName = (token) =>
  token?.type === 'code' ? languages[(token.lang ?? '').split(' ')[0]] : undefined;

/** What `tokens` show from `from` on in one language; undefined where that is not how they go on. */
function variantAt(tokens, from, depth) {
  const first = tokens[from];
  const heading = headingName(first);
  if (heading && (depth === undefined || first.depth === depth)) {
    let end = from + 1;
    while (end < tokens.length && !(tokens[end].type === 'heading' && tokens[end].depth <= first.depth)) end += 1;
    return { label: heading, depth: first.depth, end };
  }
  const label = blockName(first);
  if (!label || (depth !== undefined && depth !== 0)) return undefined;
  let end = from + 1;
  while (end < tokens.length && isBlank(tokens[end])) end += 1;
  return { label, depth: 0, end };
}

/** Tokens in groups: one alone, or the variants in several languages that become tabs. */
function* grouped(tokens) {
  for (let at = 0; at < tokens.length; ) {
    const variants = [];
    for (let from = at; from < tokens.length; ) {
      const variant = variantAt(tokens, from, variants[0]?.depth);
      if (!variant || variants.some(({ label }) => label === variant.label)) break;
      variants.push({ label: variant.label, depth: variant.depth, tokens: tokens.slice(from, variant.end) });
      from = variant.end;
    }
    if (variants.length > 1) {
      at += variants.reduce((sum, variant) => sum + variant.tokens.length, 0);
      yield { variants };
    } else {
      yield { tokens: [tokens[at]] };
      at += 1;
    }
  }
}

/**
 * A page as HTML. Raw HTML ends the build, so that no text of a guide becomes markup.
 * @param {string} markdown
 * @param {(target: string) => string | undefined} resolve where a link leads; undefined for one that is shown as text
 * @returns title, HTML, the headings (depth, text, anchor), and the text below each of them for the search
 */
export function renderMarkdown(markdown, resolve) {
  const headings = [];
  const sections = [];
  const anchors = new Map();

  const plain = (text) => text.replaceAll(/[`*]|\]\([^)]*\)|(?<![\w\]])\[(?=[^\]]*\]\()/g, '');

  function anchorFor(text) {
    const anchor = anchorOf(plain(text));
    const times = anchors.get(anchor) ?? 0;
    anchors.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  }

  const renderer = {
    heading({ depth, text, tokens }) {
      const anchor = anchorFor(text);
      headings.push({ depth, text: plain(text), anchor });
      const content = this.parser.parseInline(tokens);
      const linked = depth === 1 ? content : `<a class="anchor" href="#${anchor}">${content}</a>`;
      return `<h${depth} id="${escapeText(anchor)}">${linked}</h${depth}>\n`;
    },
    code: ({ text, lang }) => codeBlock(text, lang),
    link({ href, tokens }) {
      const content = this.parser.parseInline(tokens);
      const target = resolve(href);
      return target === undefined ? content : `<a href="${escapeText(target)}">${content}</a>`;
    },
    table({ header, rows }) {
      // A heading without text is none.
      const tagOf = (cell, tag) => (cell.text === '' ? 'td' : tag);
      const cellOf = (cell, tag) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`;
      const row = (cells, tag) => `<tr>${cells.map((cell) => cellOf(cell, tagOf(cell, tag))).join('')}</tr>`;
      const head = header.some(({ text }) => text !== '') ? `<thead>${row(header, 'th')}</thead>` : '';
      const body = rows.map((cells) => row(cells, 'td')).join('\n');
      return `<div class="table" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`;
    },
    html({ text }) {
      throw new Error(`raw HTML in a page: ${text}`);
    },
    image({ href }) {
      throw new Error(`an image in a page: ${href}`);
    },
  };
  const marked = new Marked({ gfm: true, renderer });

  const tokens = marked.lexer(markdown);
  const parse = (some) => marked.parser(Object.assign([...some], { links: tokens.links }));
  let html = '';
  for (const { variants, tokens: single } of grouped(tokens)) {
    if (single) html += parse(single);
    else
      html += `<div class="tabs">${variants
        .map((variant) => `<section data-label="${variant.label}">${parse(variant.tokens)}</section>`)
        .join('')}</div>\n`;
  }

  let at = -1;
  for (const token of tokens) {
    if (token.type === 'heading') {
      at += 1;
      sections[at] = '';
    } else if (at >= 0 && token.type !== 'code') sections[at] += ` ${plain(token.raw)}`;
  }
  return { title: headings[0]?.text ?? '', html, headings, sections };
}
