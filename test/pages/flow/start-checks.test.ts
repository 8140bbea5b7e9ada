import { describe, expect, it } from 'vitest';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { StartQuery } from '../../../contracts/verification.ts';
import { checkStart, type StartFacts } from '../../../server/pages/flow/start-checks.ts';

const query: StartQuery = {
  ...{ client_id: 'cli_1', redirect_uri: 'https://shop.example/back', state: 's', scope: 'age_18_plus' },
  ...{ response_type: 'code', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
};

const facts = (mode: Mode, source?: string): StartFacts => ({
  client: {
    ...{
      _id: 'cli_1',
      partnerId: 'ptr_1',
      keyId: 'key_1',
      mode,
      kind: 'oauth',
      name: 'Shop',
      status: 'active',
    },
    ...{ redirectUris: [query.redirect_uri], claims: ['age_18_plus'], ...(source && { source }) },
    ...{ secrets: [], createdAt: new Date(0), revision: 1, audit: [] },
  },
  partner: { status: 'active' },
  key: { status: 'active' },
  integrated: false,
  sources: new Map([
    ['sandbox', { modes: ['test'], answers: (claims) => [...claims] }],
    ['bank', { modes: ['live'], answers: (claims) => [...claims] }],
    ['ministry', { modes: ['test', 'live'], answers: (claims) => [...claims] }],
  ]),
});

describe('the check of the verification source at /verify/start', () => {
  it.each([
    ['test', 'no source, and uses the sandbox', undefined, 'sandbox'],
    ['test', 'a source of both modes', 'ministry', 'ministry'],
    ['live', 'a source of both modes', 'ministry', 'ministry'],
    ['live', 'a live source', 'bank', 'bank'],
  ] as const)('admits a %s client that names %s', (mode, _, named, source) => {
    expect(checkStart(query, facts(mode, named))).toMatchObject({ admitted: true, sources: [source] });
  });

  it.each([
    ['live', 'names no source', undefined, /no verification source/],
    ['live', 'names the sandbox', 'sandbox', /the sandbox serves test clients only/],
    [
      'test',
      'names a live source',
      'bank',
      /bank of this client does not exist or does not serve test clients/,
    ],
    ['live', 'names an unknown source', 'ghost', /ghost of this client does not exist/],
  ] as const)('refuses a %s client that %s, and returns the reason', (mode, _, named, because) => {
    const verdict = checkStart(query, facts(mode, named));
    expect(verdict).toMatchObject({ admitted: false, because: expect.stringMatching(because) });
  });
});

it.each(['pending', 'suspended'] as const)(
  'the check of /verify/start refuses a client of a %s partner with "the partner account is not active"',
  (status) => {
    const known = facts('test');
    expect(checkStart(query, { ...known, partner: { status } })).toEqual({
      admitted: false,
      because: 'client_id: the partner account is not active',
    });
  },
);
