import type { Hosted } from './hosted.ts';
import { baseUrl, startQuery } from './hosted.ts';

export interface Answer {
  status: number;
  location: string;
  body: string;
  headers: Record<string, unknown>;
}

type Fields = Record<string, string>;

/** Acts as a browser without JavaScript. It sends cookies by path, hidden fields of forms, and `Origin` on a POST. */
export function openBrowser({ send }: Pick<Hosted, 'send'>, userAgent = 'test') {
  const jar = new Map<string, { value: string; path: string }>();
  let page: Answer = { status: 0, location: '', body: '', headers: {} };
  let at = '';

  function cookiesFor(path: string): string {
    return [...jar]
      .filter(([, cookie]) => path.startsWith(cookie.path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }

  async function request(url: string, fields?: Fields, headers: Fields = {}): Promise<Answer> {
    const path = url.replace(baseUrl, '');
    const response = await send(path, {
      method: fields ? 'POST' : 'GET',
      headers: {
        accept: 'text/html,application/xhtml+xml',
        'user-agent': userAgent,
        cookie: cookiesFor(path),
        ...(fields ? { 'content-type': 'application/x-www-form-urlencoded', origin: baseUrl } : {}),
        ...headers,
      },
      ...(fields ? { body: new URLSearchParams(fields).toString() } : {}),
    });
    const { 'set-cookie': set = [], location = '' } = response.headers;
    for (const line of [set].flat()) {
      const [, name = '', value = '', scope = '/'] = /^([^=]+)=([^;]*)(?:.*; Path=([^;]*))?/.exec(line) ?? [];
      jar.set(name, { value, path: scope });
    }
    page = { ...response, location: String(location) };
    at = path;
    return page;
  }

  /** Follows redirects within the service. */
  async function follow(answer: Answer): Promise<Answer> {
    let latest = answer;
    while (latest.location.startsWith(baseUrl)) latest = await request(latest.location);
    return latest;
  }

  const browser = {
    jar,
    get page() {
      return page;
    },
    get at() {
      return at;
    },
    /** Returns the hidden fields and the target of the page's form. */
    form(answer: Answer = page): { action: string; fields: Fields } {
      const action = /<form method="post" action="([^"]*)"/.exec(answer.body)?.[1] ?? '';
      const hidden = [...answer.body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
      return { action, fields: Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])) };
    },
    request,
    follow,
    open: async (url: string) => follow(await request(url)),
    start: async (clientId: string, changes: Record<string, string | undefined> = {}) =>
      browser.open(`/verify/start?${startQuery(clientId, changes)}`),
    /** Sends the page's form, and follows the redirect. */
    async press(fields: Fields): Promise<Answer> {
      const form = browser.form();
      return follow(await request(form.action, { ...form.fields, ...fields }));
    },
    sessionId: () => /ses_[0-9A-Za-z]{22}/.exec(at)?.[0] ?? '',
  };
  return browser;
}

/** Completes the flow as a sandbox user. `answer` is the redirect to the partner. */
export async function verifyAs(hosted: Hosted, clientId: string, person: string) {
  const browser = openBrowser(hosted);
  await browser.start(clientId);
  const sessionId = browser.sessionId();
  await browser.press({ decision: 'accept' });
  const answer = await browser.press({ person });
  return { browser, sessionId, answer };
}
