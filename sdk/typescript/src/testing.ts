import type { Person } from './contract.ts';
import { SvcError } from './errors.ts';

export type { Person } from './contract.ts';

/** The hosted flow did not end with a redirect to the partner. `code` is `unknown_person` or `unexpected_page`. */
export class FlowError extends SvcError {}

export interface FlowOptions {
  /** The sandbox user who verifies. */
  person: Person | (string & {});
  /** The user's answer on the first page; by default `accept`. */
  consent?: 'accept' | 'decline';
  fetch?: typeof fetch;
}

interface Form {
  action: string;
  hidden: [name: string, value: string][];
  /** Buttons that submit it, as `name=value`. */
  buttons: string[];
}

interface Page {
  url: string;
  status: number;
  html: string;
  forms: Form[];
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };
const decode = (text: string) => text.replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole);

function attributesOf(tag: string): Record<string, string> {
  const pairs = [...tag.matchAll(/([\w-]+)="([^"]*)"/g)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decode(value)]));
}

function formOf(html: string): Form {
  const tags = (name: string) =>
    [...html.matchAll(new RegExp(`<${name}\\b[^>]*>`, 'g'))].map(([tag]) => attributesOf(tag));
  return {
    action: tags('form')[0]?.['action'] ?? '',
    hidden: tags('input')
      .filter((input) => input['type'] === 'hidden')
      .map((input) => [input['name'] ?? '', input['value'] ?? '']),
    buttons: tags('button').map((button) => `${button['name']}=${button['value']}`),
  };
}

/** A browser without JavaScript: cookies, redirects and forms. It leaves the origin of `start` for nothing but the end. */
function createBrowser(start: string, send: typeof fetch) {
  const { origin } = new URL(start);
  const cookies = new Map<string, string>();

  return async function open(address: string, form?: URLSearchParams): Promise<Page> {
    let body = form;
    let url = address;
    for (let hops = 0; hops < 20; hops += 1) {
      const response = await send(url, {
        redirect: 'manual',
        method: body ? 'POST' : 'GET',
        headers: {
          accept: 'text/html',
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          ...(body ? { origin, 'sec-fetch-site': 'same-origin' } : {}),
        },
        ...(body ? { body } : {}),
      });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const [html, target] = [await response.text(), response.headers.get('location')];
      const forms = (html.match(/<form[^>]*>[\s\S]*?<\/form>/g) ?? []).map(formOf);
      if (!target) return { url, status: response.status, html, forms };
      url = new URL(target, url).href;
      if (new URL(url).origin !== origin) return { url, status: response.status, html: '', forms: [] };
      body = undefined;
    }
    return { url, status: 310, html: 'too many redirects', forms: [] };
  };
}

/** The words of a page. */
const wordsOf = (html: string): string =>
  decode(html.replaceAll(/<(style|head)[\s\S]*?<\/\1>|<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 300);

function refusal(code: string, message: string, start: string): FlowError {
  const docUrl = `${new URL(start).origin}/docs/testing`;
  return new FlowError({ code, message: `${code}: ${message}`, retryable: false, docUrl });
}

/**
 * Walks the hosted flow of a test client to its end, as one of the sandbox's people and without a browser.
 * @param start where the user would be sent: the `url` of `authorizationUrl`
 * @returns the partner's redirect URI with `code` or `error`, for `callback`
 * @throws FlowError where the flow does not end there; the message has the words of the page
 */
export async function walkFlow(
  start: string,
  { person, consent = 'accept', fetch: send = fetch }: FlowOptions,
): Promise<URL> {
  const open = createBrowser(start, send);
  let page = await open(start);
  const pressed = new Set<string>();
  while (page.html !== '') {
    const { forms, url } = page;
    const people = forms.flatMap(({ buttons }) => buttons).filter((button) => button.startsWith('person='));
    const known = people.map((button) => button.slice('person='.length));
    if (known.length > 0 && !known.includes(person))
      throw refusal('unknown_person', `"${person}" is none of ${known.join(', ')}`, start);
    const wanted = [`person=${person}`, `decision=${consent}`, 'decision=continue'];
    const button = wanted.find(
      (each) => !pressed.has(each) && forms.some(({ buttons }) => buttons.includes(each)),
    );
    const form = forms.find(({ buttons }) => button !== undefined && buttons.includes(button));
    if (!button || !form)
      throw refusal(
        'unexpected_page',
        `the flow stopped at ${url}, status ${page.status}: ${wordsOf(page.html)}`,
        start,
      );
    pressed.add(button);
    const [name = '', value = ''] = button.split('=');
    page = await open(new URL(form.action, url).href, new URLSearchParams([...form.hidden, [name, value]]));
  }
  return new URL(page.url);
}
