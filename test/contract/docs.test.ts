import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimNames } from '../../contracts/claims.ts';
import { eventNames } from '../../contracts/event-names.ts';
import { accessTokenLifetimeSeconds } from '../../contracts/oauth.ts';
import {
  codeLifetimeSeconds,
  FailureReason,
  Rehearsal,
  StartQuery,
  sessionLifetimeSeconds,
} from '../../contracts/verification.ts';
import { attemptLimit, attemptTimeoutMs } from '../../contracts/webhooks.ts';
import { createPartner, redirectUri } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createBrowser } from '../journey/browser.ts';
import { newStart, startUrl } from '../journey/pkce.ts';
import { codeBlocks, readDoc } from './markdown.ts';

const docs = new URL('../../docs/', import.meta.url);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Returns those of the texts that a page does not contain, because a failure that shows the whole page hides them. */
const missingIn = (page: string, texts: readonly string[]): string[] => {
  const text = readDoc(page);
  return texts.filter((one) => !text.includes(one)).map((one) => `${one} in docs/${page}`);
};

describe('the pages of docs/', () => {
  const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));

  it('name every claim, event, failure reason and sandbox user', async () => {
    const code = (name: string) => `\`${name}\``;
    expect(missingIn('tokens-and-claims.md', claimNames.map(code))).toEqual([]);
    expect(missingIn('webhooks.md', [...eventNames, ...FailureReason.options].map(code))).toEqual([]);
    expect(missingIn('testing.md', Rehearsal.options.map(code))).toEqual([]);
    const partner = await createPartner(server);
    const { codeChallenge, state } = newStart();
    const { clientId } = partner;
    const scope = 'age_18_plus';
    const browser = createBrowser(server.baseUrl);
    const first = startUrl({ baseUrl: server.baseUrl, clientId, redirectUri, scope, state, codeChallenge });
    const people = await browser.press(await browser.open(first), 'decision=accept');
    const names = people.forms.flatMap(({ buttons }) => buttons).filter((name) => name.startsWith('person='));
    expect(names.length).toBeGreaterThan(8);
    const rows = names.map((name) => `| \`${name.slice('person='.length)}\` |`);
    expect(missingIn('testing.md', rows)).toEqual([]);
  });

  it('have one row in choices.md for each place where the interface says "not shown"', () => {
    const places = readDoc('interface-0.8.0.md').match(/not shown/g)?.length ?? 0;
    const [table = ''] = readDoc('choices.md').split('## Where it is silent');
    const rows = table.split('\n').filter((line) => /^\| \d/.test(line));
    expect(rows).toHaveLength(places);
    expect(table).toContain(`in ${places} places`);
  });

  it('state the retry rule of interface 7.6 in errors.md and limits-and-billing.md, and no other rule', () => {
    const rule = (page: string) => {
      const text = readDoc(page).replaceAll(/\s+/g, ' ');
      return {
        waits: /429,? (?:and a )?503.{1,60}`Retry-After`/.test(text),
        backoff: /500,? or no answer.{1,60}after 1 s, then after 2 s.{1,5}three attempts in all/.test(text),
      };
    };
    const whole = { waits: true, backoff: true };
    expect(rule('errors.md')).toEqual(whole);
    expect(rule('limits-and-billing.md')).toEqual(whole);
    expect(readDoc('errors.md')).not.toMatch(/after 4 s|exponential/);
  });

  it('state the limits of the contract in limits-and-billing.md', () => {
    const { minLength, maxLength } = StartQuery.shape.state;
    const rows = [
      `access token | ${accessTokenLifetimeSeconds} seconds`,
      `authorization code | ${codeLifetimeSeconds / 60} minutes`,
      `hosted session | ${sessionLifetimeSeconds / 60} minutes`,
      `\`state\` | ${minLength} to ${maxLength?.toLocaleString('en')} characters`,
      `webhook | ${attemptTimeoutMs / 1000} seconds to answer, ${attemptLimit} attempts`,
    ];
    expect(
      missingIn(
        'limits-and-billing.md',
        rows.map((row) => `| ${row} |`),
      ),
    ).toEqual([]);
    expect(
      missingIn('flow.md', [`| \`state\` | ${minLength} to ${maxLength?.toLocaleString('en')} characters`]),
    ).toEqual([]);
  });

  it('contain in storefront.md three rules in bold, such as "A retry repeats the body byte for byte."', () => {
    const bold = [...readDoc('storefront.md').matchAll(/\*\*([^*]+)\*\*/g)].map(([, text]) => text);
    expect(bold).toEqual(
      expect.arrayContaining([
        '`verified: true` says that there is an answer, not what it says.',
        'Read the claim that your sale depends on',
        'A retry repeats the body byte for byte.',
      ]),
    );
  });

  it('have no broken links', () => {
    const anchors = (name: string) =>
      [...readDoc(name).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} -]/gu, '')
          .replaceAll(' ', '-'),
      );
    for (const page of pages) {
      const links = [...readDoc(page).matchAll(/\]\(([\w.-]*)(?:#([\w-]+))?\)/g)];
      for (const [link, target = '', anchor] of links) {
        const file = target === '' ? page : target;
        expect(readdirSync(docs), `${page}: ${link}`).toContain(file);
        if (anchor) expect(anchors(file), `${page}: ${link}`).toContain(anchor);
      }
    }
  });

  it('have only valid JSON in their JSON examples', () => {
    for (const page of pages)
      for (const { language, code } of codeBlocks(page))
        if (language === 'json' && !code.includes('…')) expect(() => JSON.parse(code), page).not.toThrow();
  });
});
