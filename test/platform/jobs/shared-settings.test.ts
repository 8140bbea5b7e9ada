import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../server/platform/config/config.ts';
import { compareSettings, sharedSettingsOf } from '../../../server/platform/jobs/shared-settings.ts';

const settingsOf = (environment: Record<string, string>) => sharedSettingsOf(readConfig(environment));
const freshness = (text: string) => settingsOf({ SVC_CLAIM_FRESHNESS: text })['SVC_CLAIM_FRESHNESS'];

describe('the settings that processes must share', () => {
  it('have their defaults if they are unset', () => {
    expect(settingsOf({})).toEqual({
      SVC_ENVIRONMENT: 'development',
      SVC_BASE_URL: 'http://localhost:8080',
      SVC_PRICE_CENTS: '50',
      SVC_CLAIM_FRESHNESS: '365d',
    });
  });

  it('contain no secret', () => {
    const secrets = {
      SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      SVC_ADMIN_TOKEN: 'f'.repeat(40),
      MONGODB_URI: 'mongodb://user:password@db/svc',
      SVC_SMTP_URL: 'smtps://user:password@mail.example',
      SVC_SMTP_FROM: 'svc@example.com',
    };
    expect(settingsOf(secrets)).toEqual(settingsOf({}));
  });

  it('have one form for lifetimes with the same effect', () => {
    const form = '365d,age_18_plus=12h,country=30d';
    expect(freshness(form)).toBe(form);
    expect(freshness('country=720h,age_18_plus=0.5d')).toBe(form);
    expect(freshness('country=365d')).toBe('365d');
    expect(freshness('30d,country=30d')).toBe('30d');
  });
});

describe('a comparison of processes', () => {
  it('finds nothing if all have the same settings', () => {
    const sharedSettings = settingsOf({});
    expect(
      compareSettings([
        { _id: 'a', sharedSettings },
        { _id: 'b', sharedSettings },
      ]),
    ).toEqual([]);
    expect(compareSettings([])).toEqual([]);
  });

  it('names each setting that differs, its values, and the processes that have them', () => {
    const [one, other] = [
      { SVC_PRICE_CENTS: '50', SVC_BASE_URL: 'x' },
      { SVC_PRICE_CENTS: '75', SVC_BASE_URL: 'x' },
    ];
    const found = compareSettings([
      { _id: 'a', sharedSettings: one },
      { _id: 'b', sharedSettings: other },
      { _id: 'c', sharedSettings: one },
    ]);
    expect(found).toEqual([
      {
        setting: 'SVC_PRICE_CENTS',
        values: [
          { value: '50', processes: ['a', 'c'] },
          { value: '75', processes: ['b'] },
        ],
      },
    ]);
  });

  it('leaves out processes of older builds, and settings that only newer builds report', () => {
    const sharedSettings = { SVC_PRICE_CENTS: '50' };
    const newer = { ...sharedSettings, SVC_NEWER: 'on' };
    expect(
      compareSettings([{ _id: 'a' }, { _id: 'b', sharedSettings }, { _id: 'c', sharedSettings: newer }]),
    ).toEqual([]);
  });
});
