import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usualClaims } from '../../../contracts/oidc-sources.ts';
import { readConfig } from '../../../server/platform/config/config.ts';
import { ConfigError } from '../../../server/platform/errors.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

const source = { name: 'bank-id', label: 'Bank ID', issuer: 'https://id.bank.example', clientId: 'svc' };

function faultOf(sources: unknown, more: Record<string, string> = {}): string {
  try {
    const text = typeof sources === 'string' ? sources : JSON.stringify(sources);
    readConfig({ SVC_OIDC_SOURCES: text, ...more });
    return '';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.join('\n');
  }
}

describe('SVC_OIDC_SOURCES', () => {
  it('is a list of OpenID providers, in which omitted fields get their defaults', () => {
    expect(readConfig({}).oidcSources).toEqual([]);
    expect(readConfig({ SVC_OIDC_SOURCES: JSON.stringify([source]) }).oidcSources).toEqual([
      {
        ...source,
        clientSecret: undefined,
        clientAuthentication: 'client_secret_basic',
        modes: ['test', 'live'],
        scope: 'openid profile',
        parameters: {},
        userinfo: true,
        claims: usualClaims,
        failures: { access_denied: 'abandoned', unmet_authentication_requirements: 'document_rejected' },
      },
    ]);
  });

  it('can be a file that names environment variables as client secrets; an unset variable is a fault', () => {
    const file = join(temporaryFolder('sources'), 'sources.json');
    const second = { ...source, name: 'other', clientSecret: 'in the file' };
    writeFileSync(file, JSON.stringify([{ ...source, clientSecret: { env: 'BANK_ID_SECRET' } }, second]));
    const { oidcSources } = readConfig({ SVC_OIDC_SOURCES: file, BANK_ID_SECRET: 'hush' });
    expect(oidcSources.map(({ clientSecret }) => clientSecret)).toEqual(['hush', 'in the file']);
    expect(faultOf(file)).toBe(
      'SVC_OIDC_SOURCES: bank-id: the variable BANK_ID_SECRET, its secret, is not set',
    );
  });

  it.each<[what: string, fault: string, sources: unknown]>([
    ['it names a file that does not exist', 'cannot be read (ENOENT)', '/nowhere/sources.json'],
    ['it is not JSON', 'is not JSON', '[not json'],
    [
      'an issuer has http on a public host',
      '0.issuer: must be https, or http on localhost',
      [{ ...source, issuer: 'http://id.bank.example' }],
    ],
    [
      'a provider has the name sandbox',
      '0.name: is the name of the sandbox',
      [{ ...source, name: 'sandbox' }],
    ],
    ['two providers have the same name', ': bank-id is there twice', [source, source]],
    ['a scope lacks openid', '0.scope: must hold openid', [{ ...source, scope: 'profile' }]],
    [
      'the extra parameters include state',
      '0.parameters: must not hold',
      [{ ...source, parameters: { state: 'x' } }],
    ],
    [
      'the parameter max_age is no number',
      '0.parameters: max_age must be a number of seconds',
      [{ ...source, parameters: { max_age: '1h' } }],
    ],
    [
      'the parameter max_age is negative',
      '0.parameters: max_age must be a number of seconds',
      [{ ...source, parameters: { max_age: '-1' } }],
    ],
    [
      'the claim country is derived from a birth date',
      'only an age can come from a birth date',
      [{ ...source, claims: { country: { birthdate: 'birthdate' } } }],
    ],
    [
      'an acr value is mapped to an unknown assurance level',
      'high: 4 is not a value of assurance_level',
      [{ ...source, claims: { assurance_level: { acr: { high: 4 } } } }],
    ],
    [
      'it maps the unknown claim shoe_size',
      '0.claims',
      [{ ...source, claims: { shoe_size: { claim: 'x' } } }],
    ],
    ['a provider has an unknown field', 'typo', [{ ...source, typo: true }]],
  ])('is refused as a configuration fault if %s', (_, fault, sources) => {
    expect(faultOf(sources)).toContain(fault);
  });

  it('is refused with a fault that does not show the client secret', () => {
    expect(faultOf([{ ...source, clientSecret: 'hush', scope: '' }])).not.toContain('hush');
  });
});

describe('SVC_CLAIM_FRESHNESS', () => {
  const day = 86_400_000;

  it.each([
    ['one duration for all claims', '30d', { default: 30 * day }],
    [
      'a duration for all claims and others for single claims',
      '365d, country=30d,age_18_plus=12h',
      { default: 365 * day, country: 30 * day, age_18_plus: day / 2 },
    ],
  ])('can contain %s, such as "%s"', (_, text, lifetimes) => {
    expect(readConfig({ SVC_CLAIM_FRESHNESS: text }).claimLifetimes).toEqual(lifetimes);
  });

  it.each([
    ['30', 'has no unit'],
    ['country', 'has no duration'],
    ['30d,365d', 'has two durations for all claims'],
    ['country=30d,country=31d', 'has two durations for a claim'],
    ['country=30 days', 'has an unknown unit'],
    ['a=b=c', 'has two equals signs'],
  ])('is refused as a configuration fault if its value is "%s", which %s', (text) => {
    expect(faultOf([], { SVC_CLAIM_FRESHNESS: text })).toMatch(/^SVC_CLAIM_FRESHNESS: /);
  });
});

it('SVC_CLAIM_FRESHNESS with an unknown claim gets a fault that lists the claims', () => {
  for (const text of ['shoe_size=30d', '365d,Country=30d', '365d;country=30d'])
    expect(faultOf([], { SVC_CLAIM_FRESHNESS: text })).toMatch(
      /^SVC_CLAIM_FRESHNESS: expected 365d or country=30d.* age_18_plus/,
    );
});

describe('SVC_DEMO_PORT', () => {
  it('is 8082 by default in development, and can be set to another port or to off', () => {
    expect(readConfig({}).demoPort).toBe(8082);
    expect(readConfig({ SVC_DEMO_PORT: '9000' }).demoPort).toBe(9000);
    expect(readConfig({ SVC_DEMO_PORT: 'off' }).demoPort).toBeUndefined();
  });

  it('is ignored outside development', () => {
    const staging = {
      SVC_ENVIRONMENT: 'staging',
      SVC_BASE_URL: 'https://verify.example',
      SVC_MASTER_KEY: Buffer.alloc(32).toString('base64'),
      SVC_ADMIN_TOKEN: 'x'.repeat(32),
    };
    expect(readConfig({ ...staging, SVC_DEMO_PORT: '9000' }).demoPort).toBeUndefined();
  });
});
