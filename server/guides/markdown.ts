const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes all text of a guide, so that none of it becomes markup. */
const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** The anchor of a heading, as the links between the guides write it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');
}

/** Where a link of a guide leads on this server; undefined for one that is shown as text only. */
export type Resolve = (target: string) => string | undefined;

export interface RenderedGuide {
  /** Text of the first heading. */
  title: string;
  html: string;
}

const inlinePattern =
  /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)|<(https?:\/\/[^>\s]+)>/g;

/** Code, bold, emphasis and links; everything else is text. */
function inline(text: string, resolve: Resolve): string {
  let html = '';
  let end = 0;
  const link = (target: string, content: string) => {
    const href = resolve(target);
    return href === undefined ? content : `<a href="${escapeText(href)}">${content}</a>`;
  };
  for (const found of text.matchAll(inlinePattern)) {
    const [whole, code, bold, emphasis, label, target, address] = found;
    html += escapeText(text.slice(end, found.index));
    end = found.index + whole.length;
    if (code !== undefined) html += `<code>${escapeText(code)}</code>`;
    else if (bold !== undefined) html += `<strong>${inline(bold, resolve)}</strong>`;
    else if (emphasis !== undefined) html += `<em>${inline(emphasis, resolve)}</em>`;
    else if (target !== undefined) html += link(target, inline(label ?? '', resolve));
    else if (address !== undefined) html += link(address, escapeText(address));
  }
  return html + escapeText(text.slice(end));
}

/** Cells of a table's row; `\|` is a bar within one. */
function cellsOf(row: string): string[] {
  return row
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function table([head = '', , ...rows]: readonly string[], resolve: Resolve): string {
  const row = (line: string, tag: string) =>
    `<tr>${cellsOf(line)
      .map((cell) => `<${tag}>${inline(cell, resolve)}</${tag}>`)
      .join('')}</tr>`;
  const named = cellsOf(head).some((cell) => cell !== '');
  const body = rows.map((line) => row(line, 'td')).join('\n');
  return `<div class="table" tabindex="0"><table>${named ? `<thead>${row(head, 'th')}</thead>` : ''}<tbody>${body}</tbody></table></div>`;
}

/** Items with the lines that continue them. */
function list(lines: readonly string[], resolve: Resolve): string {
  const items: string[] = [];
  for (const line of lines) {
    const [, content] = /^(?:-|\d+\.) (.*)$/.exec(line) ?? [];
    if (content === undefined) items[items.length - 1] += ` ${line.trim()}`;
    else items.push(content);
  }
  const tag = lines[0]?.startsWith('-') ? 'ul' : 'ol';
  return `<${tag}>${items.map((item) => `<li>${inline(item, resolve)}</li>`).join('')}</${tag}>`;
}

function code(info: string, lines: readonly string[]): string {
  const [, file] = /\bfile=(\S+)/.exec(info) ?? [];
  const caption = file ? `<figcaption>${escapeText(file)}</figcaption>` : '';
  return `<figure>${caption}<pre tabindex="0"><code>${escapeText(lines.join('\n'))}\n</code></pre></figure>`;
}

function heading(line: string, resolve: Resolve): string {
  const [, marks = '#', text = ''] = /^(#+) (.*)$/.exec(line) ?? [];
  const level = Math.min(marks.length, 6);
  return `<h${level} id="${escapeText(anchorOf(text))}">${inline(text, resolve)}</h${level}>`;
}

const beginsBlock = /^(?:#{1,6} |\||```|(?:-|\d+\.) )/;

/**
 * A guide as HTML. Reads what our guides are written in: headings, paragraphs, lists of one level, tables, fenced code,
 * and `inline`. Raw HTML is text.
 */
export function renderGuide(markdown: string, resolve: Resolve): RenderedGuide {
  const lines = markdown.split('\n');
  const blocks: string[] = [];
  let at = 0;
  /** The next lines, while `belongs` is true. */
  const take = (belongs: (line: string) => boolean): string[] => {
    const from = at;
    do at += 1;
    while (at < lines.length && belongs(lines[at] ?? ''));
    return lines.slice(from, at);
  };

  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.trim() === '') at += 1;
    else if (line.startsWith('```')) {
      const [, ...content] = take((next) => next !== '```');
      at += 1;
      blocks.push(code(line.slice(3), content));
    } else if (/^#{1,6} /.test(line)) blocks.push(heading(take(() => false)[0] ?? '', resolve));
    else if (line.startsWith('|'))
      blocks.push(
        table(
          take((next) => next.startsWith('|')),
          resolve,
        ),
      );
    else if (/^(?:-|\d+\.) /.test(line)) {
      const isItem = (next: string) => next.trim() !== '' && !/^(?:#{1,6} |\||```)/.test(next);
      blocks.push(list(take(isItem), resolve));
    } else {
      const text = take((next) => next.trim() !== '' && !beginsBlock.test(next)).join(' ');
      blocks.push(`<p>${inline(text, resolve)}</p>`);
    }
  }
  const [, title = ''] = /^# (.*)$/m.exec(markdown) ?? [];
  return { title: title.replaceAll('`', ''), html: blocks.join('\n') };
}
