/** Acts as a browser without JavaScript: cookies, redirects and forms only. */

export interface Page {
  url: string;
  status: number;
  html: string;
  forms: Form[];
}

interface Form {
  action: string;
  hidden: Record<string, string>;
  /** The buttons that submit the form, as `name=value`. */
  buttons: string[];
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };
const decode = (text: string) => text.replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole);

function attributes(tag: string): Record<string, string> {
  const pairs = [...tag.matchAll(/([\w-]+)="([^"]*)"/g)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decode(value)]));
}

function parseForms(html: string): Form[] {
  return [...html.matchAll(/<form[^>]*>[\s\S]*?<\/form>/g)].map(([form]) => {
    const tags = (name: string) =>
      [...form.matchAll(new RegExp(`<${name}\\b[^>]*>`, 'g'))].map(([tag]) => attributes(tag));
    const hidden = tags('input').filter(({ type }) => type === 'hidden');
    return {
      action: tags('form')[0]?.['action'] ?? '',
      hidden: Object.fromEntries(hidden.map(({ name = '', value = '' }) => [name, value])),
      buttons: tags('button').map(({ name = '', value = '' }) => `${name}=${value}`),
    };
  });
}

type Send = (
  url: string,
  init: { redirect: 'manual'; method: string; headers: Record<string, string>; body?: URLSearchParams },
) => Promise<Pick<Response, 'status' | 'headers' | 'text'>>;

/**
 * Creates a browser that keeps cookies and follows redirects.
 * @param origin the origin of the hosted pages. A redirect to another origin is not followed, because it ends the flow
 * @param send the function that sends requests
 */
export function createBrowser(origin: string, send: Send = fetch) {
  const cookies = new Map<string, string>();

  async function request(url: string, body?: URLSearchParams): Promise<Page> {
    const response = await send(url, {
      redirect: 'manual',
      method: body ? 'POST' : 'GET',
      headers: {
        accept: 'text/html',
        'user-agent': 'journey',
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body ? { origin, 'sec-fetch-site': 'same-origin' } : {}),
      },
      ...(body ? { body } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const target = response.headers.get('location');
    const html = await response.text();
    if (!target) return { url, status: response.status, html, forms: parseForms(html) };
    const next = new URL(target, url);
    if (next.origin !== new URL(origin).origin)
      return { url: next.href, status: response.status, html: '', forms: [] };
    return request(next.href);
  }

  return {
    cookies,
    open: (url: string) => request(url),

    /** Presses a button, for instance `decision=accept`. @throws if the page has no such button */
    async press(page: Page, button: string): Promise<Page> {
      const form = page.forms.find(({ buttons }) => buttons.includes(button));
      if (!form) throw new Error(`${page.url} answered ${page.status} and has no button ${button}`);
      const [name = '', value = ''] = button.split('=');
      return request(
        new URL(form.action, page.url).href,
        new URLSearchParams({ ...form.hidden, [name]: value }),
      );
    },
  };
}
export type Browser = ReturnType<typeof createBrowser>;

/**
 * Completes the hosted flow as a sandbox user.
 * @returns the partner's redirect address, with `code` or `error`
 */
export async function passFlow(browser: Browser, startUrl: string, person: string): Promise<URL> {
  let page = await browser.open(startUrl);
  for (let step = 0; step < 6 && page.forms.length > 0; step += 1) {
    const wanted = [`person=${person}`, 'decision=accept', 'decision=continue'];
    const button = wanted.find((each) => page.forms.some(({ buttons }) => buttons.includes(each)));
    if (!button) break;
    page = await browser.press(page, button);
  }
  const end = new URL(page.url);
  if (page.html !== '') throw new Error(`the flow ended on a hosted page (${page.status}): ${page.url}`);
  return end;
}
