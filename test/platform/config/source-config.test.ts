import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usualClaims } from '../../../contracts/oidc-sources.ts';
import { ConfigError, readConfig } from '../../../server/platform/config/config.ts';
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
  it('is a list of OpenID providers; fields that are missing get their defaults', () => {
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

  it('can be a file whose client secrets are in environment variables; a variable that is not set is a fault', () => {
    const file = join(temporaryFolder('sources'), 'sources.json');
    const second = { ...source, name: 'other', clientSecret: 'in the file' };
    writeFileSync(file, JSON.stringify([{ ...source, clientSecret: { env: 'BANK_ID_SECRET' } }, second]));
    const { oidcSources } = readConfig({ SVC_OIDC_SOURCES: file, BANK_ID_SECRET: 'hush' });
    expect(oidcSources.map(({ clientSecret }) => clientSecret)).toEqual(['hush', 'in the file']);
    expect(faultOf(file)).toBe(
      'SVC_OIDC_SOURCES: bank-id: the variable BANK_ID_SECRET, its secret, is not set',
    );
  });

  it.each([
    ['/nowhere/sources.json', 'cannot be read (ENOENT)'],
    ['[not json', 'is not JSON'],
    [[{ ...source, issuer: 'http://id.bank.example' }], '0.issuer: must be https, or http on localhost'],
    [[{ ...source, name: 'sandbox' }], '0.name: is the name of the sandbox'],
    [[source, source], ': bank-id is there twice'],
    [[{ ...source, scope: 'profile' }], '0.scope: must hold openid'],
    [[{ ...source, parameters: { state: 'x' } }], '0.parameters: must not hold'],
    [[{ ...source, parameters: { max_age: '1h' } }], '0.parameters: max_age must be a number of seconds'],
    [[{ ...source, parameters: { max_age: '-1' } }], '0.parameters: max_age must be a number of seconds'],
    [
      [{ ...source, claims: { country: { birthdate: 'birthdate' } } }],
      'only an age can come from a birth date',
    ],
    [
      [{ ...source, claims: { assurance_level: { acr: { high: 4 } } } }],
      'high: 4 is not a value of assurance_level',
    ],
    [[{ ...source, claims: { shoe_size: { claim: 'x' } } }], '0.claims'],
    [[{ ...source, typo: true }], 'typo'],
  ])('is reported as a fault if its value is %j', (sources, fault) => {
    expect(faultOf(sources)).toContain(fault);
  });

  it('is reported as a fault that does not show a client secret', () => {
    expect(faultOf([{ ...source, clientSecret: 'hush', scope: '' }])).not.toContain('hush');
  });
});

describe('SVC_CLAIM_FRESHNESS', () => {
  const day = 86_400_000;

  it.each([
    ['30d', { default: 30 * day }],
    ['365d, country=30d,age_18_plus=12h', { default: 365 * day, country: 30 * day, age_18_plus: day / 2 }],
  ])('accepts %s', (text, lifetimes) => {
    expect(readConfig({ SVC_CLAIM_FRESHNESS: text }).claimLifetimes).toEqual(lifetimes);
  });

  it.each(['30', 'country', 'shoe_size=30d', 'country=30 days', 'a=b=c'])(
    'is reported as a fault if its value is %s',
    (text) => {
      expect(faultOf([], { SVC_CLAIM_FRESHNESS: text })).toMatch(/^SVC_CLAIM_FRESHNESS: /);
    },
  );
});

describe('SVC_DEMO_PORT', () => {
  it('is 8082 in development, and can be another port or off', () => {
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
