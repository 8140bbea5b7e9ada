import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TokenRequest } from '../../contracts/oauth.ts';
import { SigningHeaders } from '../../contracts/storefront.ts';
import { StartQuery } from '../../contracts/verification.ts';
import { mergeCredentials } from '../../server/api/oauth/basic-credentials.ts';
import { isTokenOf } from '../../server/platform/http/browser/csrf.ts';
import { languageAccepted, languageAsked } from '../../server/platform/http/browser/language.ts';
import { choiceAddress } from '../../server/platform/http/browser/language-choice.ts';
import { parseJson } from '../../server/platform/http/json.ts';
import { parseForm } from '../../server/platform/http/parameters.ts';
import { boundHeaders } from '../../server/platform/http/request-headers.ts';
import { presentedCode } from '../../server/sessions/code.ts';
import { deviceName, isPhone } from '../../server/sessions/devices.ts';
import { presentedLink } from '../../server/sessions/hand-off/link.ts';
import { parseState } from '../../server/sessions/sources/authorization-request.ts';
import { startTestServer } from '../harness/server.ts';

/** Node limits the request line and headers to this size; `bodyLimit` limits a body. */
const longestHead = 15 * 1024;
const longestBody = 64 * 1024 - 1;

const filled = (unit: string, length: number) =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

/** Texts whose repetition is expensive for patterns and splitting. */
const units = [
  ...[',', ';', ' ', '=', '&', 'a&', 'a=b;', 'svc_a=%;', '%', '.', 'a ', 'Version/1 ', 'Android '],
  ...['Mobile ', 'Bearer ', 'basic a', '/p/', '"'],
];

async function refusal(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {
    // The result does not matter, only the time.
  }
}

/**
 * Microseconds of processor time of this process. The smallest of several values, because the machine does other work
 * too.
 */
async function cost(work: () => unknown, { rounds = 4, repeat = 1 } = {}): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    for (let n = 0; n < repeat; n += 1) await refusal(work);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / repeat);
  }
  return least;
}

/**
 * Other work of this process is measured too, so a ratio above the bound is measured again. Excessive work stays above
 * it.
 */
async function leastRatio(measure: () => Promise<number>, bound: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5 && least >= bound; round += 1) least = Math.min(least, await measure());
  return least;
}

describe('a parser of input from callers without credentials', () => {
  const parsers: [name: string, longest: number, parse: (text: string) => unknown][] = [
    ['deviceName', longestHead, deviceName],
    ['isPhone', longestHead, isPhone],
    ['languageAccepted', longestHead, languageAccepted],
    ['languageAsked', longestHead, languageAsked],
    ['choiceAddress', longestHead, (text) => choiceAddress({ url: `/verify/p/${text}`, method: 'GET' }, '')],
    ['parseState', longestHead, parseState],
    ['boundHeaders', longestHead, (text) => boundHeaders({ cookie: text, authorization: text })],
    ['Basic credentials', longestHead, (text) => mergeCredentials(`Basic ${text}`, {})],
    ['isTokenOf', longestBody, (text) => isTokenOf('secret', text)],
    ['presentedLink', longestBody, presentedLink],
    ['presentedCode', longestBody, presentedCode],
    ['parseForm', longestBody, parseForm],
    ['parseJson', longestBody, parseJson],
    ['parseJson of a string', longestBody, (text) => parseJson(JSON.stringify({ text }))],
    ['StartQuery', longestHead, (text) => StartQuery.safeParse({ scope: text, state: text })],
    ['TokenRequest', longestBody, (text) => TokenRequest.safeParse({ code_verifier: text })],
    ['SigningHeaders', longestHead, (text) => SigningHeaders.safeParse({ 'x-svc-timestamp': text })],
  ];

  it.each(parsers)(
    'needs less than 60 times the processor time for 16 times the input, as measured for %s',
    async (_, longest, parse) => {
      for (const unit of units) {
        const [short, long] = [filled(unit, longest / 16), filled(unit, longest)];
        const measure = async () => {
          const least = await cost(() => parse(short), { repeat: 20 });
          return (await cost(() => parse(long), { repeat: 5 })) / (least + 5);
        };
        expect(await leastRatio(measure, 60), unit).toBeLessThan(60);
      }
    },
  );
});

it('the server refuses a form of more than 32 fields with 400', async () => {
  const server = await startTestServer();
  onTestFinished(() => server.stop());
  const fields = (count: number) => Array.from({ length: count }, (_, n) => `f${n}=1`).join('&');
  const call = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } } as const;
  const answers = async (path: string, count: number) => {
    const answer = await request(`${server.baseUrl}${path}`, { ...call, body: fields(count) });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
  };
  const text = 'The form has more than 32 fields';
  expect(await answers('/api/oauth/token', 33)).toEqual({
    status: 400,
    body: { error: 'invalid_request', error_description: text },
  });
  expect(await answers('/verify/session/ses_1', 33)).toEqual({
    status: 400,
    body: { success: false, error: text },
  });
  const { body } = await answers('/api/oauth/token', 32);
  expect(body['error_description']).toBe('grant_type is required');
});
