import { expect, it } from 'vitest';
import { readConfig } from '../../server/platform/config/config.ts';
import { greetingOf } from '../../server/process/greeting.ts';

const publicUrl = 'http://127.0.0.1:8080';
const adminUrl = 'http://127.0.0.1:8081';

const greet = (env: Record<string, string>, urls: { publicUrl?: string; adminUrl?: string }) =>
  greetingOf({
    ...{ publicUrl: undefined, adminUrl: undefined, embedded: false, ...urls },
    config: readConfig(env),
    demoUrl: undefined,
    typedDataDir: env['SVC_DATA_DIR'],
  });

it('the greeting of a process with all roles names its listeners, its token and the next command', () => {
  const text = greet({ SVC_DATA_DIR: 'elsewhere' }, { publicUrl, adminUrl });
  expect(text).toContain('SVC Gateway is up.\n');
  expect(text).toContain(`Admin API     ${adminUrl}  (operator token: elsewhere/admin-token)`);
  expect(text).toContain('\n  SVC_DATA_DIR=elsewhere npm run journey\n');
});

it('the greeting of a process with some roles names these and what they serve, and no journey', () => {
  const database = '  Database      MONGODB_URI\n';
  expect(greet({ SVC_ROLES: 'worker' }, {})).toBe(
    `\nSVC Gateway is up: worker.\n\n  Webhooks      sent by this process\n${database}\n`,
  );
  expect(greet({ SVC_ROLES: 'api' }, { publicUrl })).toBe(
    `\nSVC Gateway is up: api.\n\n  Public API    http://localhost:8080  (listens at ${publicUrl})\n${database}\n`,
  );
  expect(greet({ SVC_ROLES: 'admin', SVC_ADMIN_TOKEN: 'off' }, { adminUrl })).toBe(
    `\nSVC Gateway is up: admin.\n\n  Admin API     ${adminUrl}  (operator token: none)\n${database}\n`,
  );
});
