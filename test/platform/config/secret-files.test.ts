import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../server/platform/config/config.ts';
import { ConfigError } from '../../../server/platform/errors.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

function fileWith(text: string): string {
  const path = join(temporaryFolder('secret'), 'secret');
  writeFileSync(path, text);
  return path;
}

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const key = Buffer.alloc(32, 1).toString('base64');
const token = 't'.repeat(32);
const source = {
  name: 'bank',
  label: 'The bank',
  issuer: 'https://bank.example',
  clientId: 'svc',
  clientSecret: { env: 'BANK_SECRET' },
  scope: 'openid',
  claims: { age_18_plus: { claim: 'adult' } },
};
const production = {
  SVC_ENVIRONMENT: 'production',
  SVC_BASE_URL: 'https://verify.example',
  SVC_LEGAL_NAME: 'SVC Identity Ltd',
  SVC_PRIVACY_URL: 'https://svc.example/privacy',
  SVC_TERMS_URL: 'https://svc.example/terms',
  SVC_HELP_ADDRESS: 'help@svc.example',
};

describe('a secret in a file', () => {
  it('can replace each secret variable of a production environment', () => {
    const config = readConfig({
      ...production,
      SVC_MASTER_KEY_FILE: fileWith(`${key}\n`),
      SVC_ADMIN_TOKEN_FILE: fileWith(token),
      MONGODB_URI_FILE: fileWith('mongodb://svc:password@db.example/svc\r\n'),
      SVC_OIDC_SOURCES: JSON.stringify([source]),
      BANK_SECRET_FILE: fileWith('of the bank\n'),
    });
    expect(config).toMatchObject({
      masterKeys: [new Uint8Array(32).fill(1)],
      adminToken: token,
      mongodbUri: 'mongodb://svc:password@db.example/svc',
      oidcSources: [{ clientSecret: 'of the bank' }],
    });
  });

  it('is a fault if both the variable and its _FILE variable are set', () => {
    expect(faultsOf({ SVC_MASTER_KEY: key, SVC_MASTER_KEY_FILE: fileWith(key) })).toEqual([
      'SVC_MASTER_KEY_FILE: SVC_MASTER_KEY is set too; set one of them',
    ]);
  });

  it('causes one fault for each missing, empty or too short file, and no fault contains the text of a file', () => {
    expect(
      faultsOf({
        ...production,
        SVC_MASTER_KEY_FILE: '/nonexistent/key',
        SVC_ADMIN_TOKEN_FILE: fileWith('hunter2'),
        MONGODB_URI_FILE: fileWith(''),
        SVC_OIDC_SOURCES: JSON.stringify([source]),
        BANK_SECRET_FILE: '/nonexistent/bank',
      }),
    ).toEqual([
      expect.stringMatching(/^SVC_ADMIN_TOKEN: expected 32 to 512 letters.*, or off$/),
      'SVC_MASTER_KEY_FILE: cannot be read (ENOENT)',
      'MONGODB_URI_FILE: the file is empty',
      'SVC_OIDC_SOURCES: bank: BANK_SECRET_FILE: cannot be read (ENOENT)',
    ]);
  });
});
