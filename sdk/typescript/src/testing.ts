import type { Person } from './contract.ts';
import { SvcError } from './errors.ts';
import { notCached } from './transport.ts';

export type { Person } from './contract.ts';

/**
 * The hosted flow did not end with a redirect to the partner. `code` is `unknown_person`, `unexpected_page`, `no_answer` or
 * `malformed_argument`.
 */
export class FlowError extends SvcError {}

export interface FlowOptions {
  /** The sandbox user who verifies. `string & {}` also accepts people of a later version. */
  person: Person | (string & {});
  /** The user's answer on the first page; by default `accept`. */
  consent?: 'accept' | 'decline';
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

interface Form {
  action: string;
  hidden: [name: string, value: string][];
  /** Buttons that submit the form, as `name=value`. */
  buttons: string[];
}

interface Page {
  url: string;
  /** Whether the flow has ended with a redirect to the partner. `url` is then the partner's, and was not requested. */
  isAtPartner: boolean;
  status: number;
  html: string;
  forms: Form[];
}

const mostRedirects = 20;
/** The status that stands for too many redirects. No server sends it. */
const tooManyRedirects = 310;
/** The most characters of a page in the message of an error. */
const longestExcerpt = 300;

/** The HTML entities with which the pages of the service escape text. */
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };
const decode = (text: string) => text.replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole);

/** Returns the attributes of a tag. The pages of the service write all values in double quotes. */
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

/**
 * Makes a browser without JavaScript: it has cookies, redirects and forms. It sends requests only to the origin of `start`. If a redirect
 * leads elsewhere, it returns the address of the partner without a request.
 */
function createBrowser(start: string, send: typeof fetch) {
  const { origin } = new URL(start);
  const cookies = new Map<string, string>();

  function keepCookies({ headers }: Response): void {
    for (const line of headers.getSetCookie()) {
      const { name = '', value = '' } = /^(?<name>[^=]+)=(?<value>[^;]*)/.exec(line)?.groups ?? {};
      cookies.set(name, value);
    }
  }

  return async function open(address: string, form?: URLSearchParams): Promise<Page> {
    let body = form;
    let url = address;
    for (let redirects = 0; redirects < mostRedirects; redirects += 1) {
      const response = await send(url, {
        ...notCached,
        redirect: 'manual',
        method: body ? 'POST' : 'GET',
        headers: {
          accept: 'text/html',
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          // The service refuses forms that do not come from its own pages.
          ...(body ? { origin, 'sec-fetch-site': 'same-origin' } : {}),
        },
        ...(body ? { body } : {}),
      });
      keepCookies(response);
      const { status } = response;
      const html = await response.text();
      const target = response.headers.get('location');
      if (!target) {
        const forms = (html.match(/<form[^>]*>[\s\S]*?<\/form>/g) ?? []).map(formOf);
        return { url, isAtPartner: false, status, html, forms };
      }
      url = new URL(target, url).href;
      if (new URL(url).origin !== origin) return { url, isAtPartner: true, status, html: '', forms: [] };
      // A redirect after a form is followed with GET.
      body = undefined;
    }
    return { url, isAtPartner: false, status: tooManyRedirects, html: 'too many redirects', forms: [] };
  };
}

/** Returns the text of a page without tags, for the message of an error. */
const excerptOf = (html: string): string =>
  decode(html.replaceAll(/<(style|head)[\s\S]*?<\/\1>|<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, longestExcerpt);

function refusal(code: string, message: string, start: string, cause?: unknown): FlowError {
  const origin = URL.canParse(start) ? new URL(start).origin : '';
  const docUrl = `${origin}/docs/testing`;
  return new FlowError({ code, message: `${code}: ${message}`, retryable: false, docUrl, cause });
}

/**
 * Walks the hosted flow of a test client to its end, as one of the sandbox's people and without a browser.
 * @param start where the user would be sent: the `url` of `authorizationUrl`
 * @returns the partner's redirect URI with `code` or `error`, for `callback`
 * @throws FlowError if the flow does not end there; the message has the text of the page
 */
export async function walkFlow(
  start: string,
  { person, consent = 'accept', fetch: send = fetch }: FlowOptions,
): Promise<URL> {
  if (!URL.canParse(start)) throw refusal('malformed_argument', 'start is no address', start);
  const browse = createBrowser(start, send);
  const open: typeof browse = (...parameters) =>
    browse(...parameters).catch((cause: unknown) => {
      throw refusal('no_answer', 'the service did not answer', start, cause);
    });
  /** The buttons to press. Each is pressed once, so that a page that does not lead further ends the loop. */
  const buttonsLeft = new Set([`person=${person}`, `decision=${consent}`, 'decision=continue']);
  let page = await open(start);
  while (!page.isAtPartner) {
    const { forms, url } = page;
    const offered = forms.flatMap(({ buttons }) => buttons);
    const people = offered
      .filter((button) => button.startsWith('person='))
      .map((button) => button.slice('person='.length));
    if (people.length > 0 && !people.includes(person))
      throw refusal('unknown_person', `"${person}" is none of ${people.join(', ')}`, start);
    const button = [...buttonsLeft].find((each) => offered.includes(each));
    const form = forms.find(({ buttons }) => button !== undefined && buttons.includes(button));
    if (!button || !form)
      throw refusal(
        'unexpected_page',
        `the flow stopped at ${url}, status ${page.status}: ${excerptOf(page.html)}`,
        start,
      );
    buttonsLeft.delete(button);
    const [name = '', value = ''] = button.split('=');
    page = await open(new URL(form.action, url).href, new URLSearchParams([...form.hidden, [name, value]]));
  }
  return new URL(page.url);
}
