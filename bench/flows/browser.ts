import type { Answer, Connection } from './connection.ts';

interface Form {
  action: string;
  /** Names and values of its hidden fields. */
  hidden: [string, string][];
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const decode = (text: string) =>
  text.replace(/&(#?\w+);/g, (whole, name: string) => characters[name] ?? whole);

function attribute(tag: string, name: string): string {
  return decode(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}

/** The form that has a field of this name. */
function formWith(html: string, field: string): Form | undefined {
  for (const [form] of html.matchAll(/<form\b[\s\S]*?<\/form>/g)) {
    if (!form.includes(`name="${field}"`)) continue;
    const hidden = [...form.matchAll(/<input\b[^>]*type="hidden"[^>]*>/g)].map(([tag]): [string, string] => [
      attribute(tag, 'name'),
      attribute(tag, 'value'),
    ]);
    return { action: attribute(form.slice(0, form.indexOf('>')), 'action'), hidden };
  }
  return undefined;
}

/** Keeps cookies without regard to their path, because every flow has its own cookies. */
function keep(cookies: Map<string, string>, lines: readonly string[]): void {
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
}

/** More requests than any flow needs. */
const most = 30;
const form = 'application/x-www-form-urlencoded';

/**
 * Acts as a browser in one flow: follows redirects, keeps cookies, fills in forms.
 * @param redirectUri that ends the flow
 * @returns the code, and the number of requests
 * @throws if a page lacks the next form, or the flow ends without a code
 */
export async function passFlow(
  connection: Connection,
  flow: { origin: string; start: string; answers: readonly string[] },
  redirectUri: string,
): Promise<{ code: string; requests: number }> {
  const { origin, start, answers } = flow;
  const cookies = new Map<string, string>();
  const left = [...answers];

  async function request(path: string, body?: string): Promise<Answer> {
    const headers = ['accept', 'text/html'];
    if (cookies.size > 0) headers.push('cookie', [...cookies].map((pair) => pair.join('=')).join('; '));
    if (body === undefined) return connection.send({ method: 'GET', path, headers });
    headers.push('content-type', form, 'origin', origin, 'sec-fetch-site', 'same-origin');
    return connection.send({ method: 'POST', path, headers, body });
  }

  let path = start;
  let answer = await request(path);
  for (let requests = 1; requests < most; requests += 1) {
    keep(cookies, answer.cookies);
    if (answer.location?.startsWith(redirectUri)) {
      const code = new URL(answer.location).searchParams.get('code');
      if (code === null) throw new Error(`a flow ended with ${answer.location}`);
      return { code, requests };
    }
    if (answer.location !== undefined) {
      const { pathname, search } = new URL(answer.location, `${origin}${path}`);
      path = pathname + search;
      answer = await request(path);
      continue;
    }
    const [name = '', value = ''] = left.shift()?.split('=') ?? [];
    const found = formWith(answer.body, name);
    if (!found)
      throw new Error(`${path} answered ${answer.status} without a field "${name}": ${answer.body}`);
    path = new URL(found.action, `${origin}${path}`).pathname;
    answer = await request(path, new URLSearchParams([...found.hidden, [name, value]]).toString());
  }
  throw new Error(`a flow took more than ${most} requests`);
}
