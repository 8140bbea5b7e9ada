import { request } from 'undici';

export type QuickResponse = Pick<Response, 'ok' | 'status' | 'headers' | 'text' | 'json'>;

interface Init {
  method?: string;
  headers?: Record<string, string>;
  body?: string | URLSearchParams | null;
}

/** Sends a request like `fetch`, which takes a millisecond of processor time more, but follows no redirect. */
export async function quickFetch(
  url: string,
  { method = 'GET', headers = {}, body }: Init = {},
): Promise<QuickResponse> {
  const type = body instanceof URLSearchParams && {
    'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
  };
  const sent = { method, headers: { ...type, ...headers }, body: body?.toString() ?? null };
  const { statusCode: status, ...answer } = await request(url, sent);
  // A connection serves no other request until its answer is read.
  const text = await answer.body.text();
  const received = new Headers();
  for (const [name, values] of Object.entries(answer.headers))
    for (const value of [values ?? []].flat()) received.append(name, value);
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: received,
    text: async () => text,
    json: async () => JSON.parse(text),
  };
}
