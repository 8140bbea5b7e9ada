import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderGuide } from '../../server/guides/markdown.ts';

const resolve = (target: string) => (target.startsWith('flow.md') ? '/flow' : undefined);
const html = (markdown: string) => renderGuide(markdown, resolve).html;

describe('renderGuide', () => {
  it('renders headings, paragraphs and lists', () => {
    expect(html('## A `b` c\n\none\ntwo\n\n1. x\n2. y\n   z')).toBe(
      '<h2 id="a-b-c">A <code>b</code> c</h2>\n<p>one two</p>\n<ol><li>x</li><li>y z</li></ol>',
    );
  });

  it('renders inline code, bold, emphasis and links', () => {
    expect(html('**bold `x`**, *em*, [`a`](flow.md#b), [c](other.md)')).toBe(
      '<p><strong>bold <code>x</code></strong>, <em>em</em>, <a href="/flow"><code>a</code></a>, c</p>',
    );
  });

  it('renders tables, with or without a heading, and bars within a cell', () => {
    expect(html('| a | b |\n|---|---|\n| `x\\|y` | 1 |')).toContain(
      '<thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>x|y</code></td><td>1</td></tr></tbody>',
    );
    expect(html('| | |\n|---|---|\n| x | y |')).not.toContain('thead');
  });

  it('names the file of a code block', () => {
    expect(html('```js file=a.mjs\n1 < 2\n```')).toBe(
      '<figure><figcaption>a.mjs</figcaption><pre tabindex="0"><code>1 &lt; 2\n</code></pre></figure>',
    );
  });

  it('takes its title from the first heading', () => {
    expect(renderGuide('# `svc` guide\n\ntext', resolve).title).toBe('svc guide');
  });

  it('lets nothing of the text become markup', () => {
    const dangerous = fc.string();
    const marks = fc.constantFrom(
      '<script>',
      '"',
      "'",
      '&',
      '[x](flow.md"onclick=)',
      '**',
      '`',
      '|',
      '\n',
      '# ',
      '```\n',
      '- ',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(dangerous, marks), { maxLength: 12 }), (parts) => {
        const rendered = html(parts.join(''));
        const tags = rendered.match(/<[^>]*>?/g) ?? [];
        const ours =
          /^<\/?(?:h[1-6](?: id="[^"<>]*")?|p|ul|ol|li|code|pre(?: tabindex="0")?|strong|em|figure|figcaption|a(?: href="\/flow")?|div(?: class="table" tabindex="0")?|table|thead|tbody|tr|th|td)>$/;
        for (const tag of tags) expect(tag).toMatch(ours);
      }),
    );
  });
});
