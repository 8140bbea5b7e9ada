import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { misspeltSettings, readConfig } from '../../../server/platform/config/config.ts';
import { Environment } from '../../../server/platform/config/environment.ts';
import { connect } from '../../../server/platform/database/connect.ts';
import { honouredOptions } from '../../../server/platform/database/uri-options.ts';
import { ConfigError } from '../../../server/platform/errors.ts';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const production = {
  SVC_ENVIRONMENT: 'production',
  SVC_MASTER_KEY: key(1),
  SVC_ADMIN_TOKEN: 'x'.repeat(32),
  MONGODB_URI: 'mongodb://db.example/svc',
  SVC_BASE_URL: 'https://verify.example',
  SVC_LEGAL_NAME: 'SVC Identity Ltd',
  SVC_PRIVACY_URL: 'https://svc.example/privacy',
  SVC_TERMS_URL: 'https://svc.example/terms',
  SVC_HELP_ADDRESS: 'help@svc.example',
};

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('the default settings', () => {
  it('are those of a development server: ports 8080 and 8081 on 127.0.0.1, all roles, embedded database', () => {
    expect(readConfig({})).toMatchObject({
      environment: 'development',
      public: { host: '127.0.0.1', port: 8080 },
      admin: { host: '127.0.0.1', port: 8081 },
      baseUrl: 'http://localhost:8080',
      roles: new Set(['api', 'admin', 'worker']),
      mongodbUri: undefined,
      dataDir: resolve('.svc'),
      masterKeys: undefined,
      adminToken: undefined,
      webhooks: { retryDelays: [60_000, 300_000], localhost: true },
      priceCents: 50,
      startsPerMinute: 300,
      logLevel: 'info',
      trustProxy: false,
    });
  });

  it('apply if a variable is empty, as if it were missing', () => {
    const names = ['SVC_PORT', 'SVC_BASE_URL', 'MONGODB_URI', 'SVC_MASTER_KEY', 'SVC_PRICE_CENTS'];
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(readConfig({}));
  });

  it('allow webhooks to localhost in development only, unless SVC_LOCALHOST_WEBHOOKS is set', () => {
    expect(readConfig(production).webhooks.localhost).toBe(false);
    expect(readConfig({ ...production, SVC_LOCALHOST_WEBHOOKS: 'on' }).webhooks.localhost).toBe(true);
    expect(readConfig({ SVC_LOCALHOST_WEBHOOKS: 'off' }).webhooks.localhost).toBe(false);
  });
});

describe('the listener for probes and metrics', () => {
  const healthOf = (env: Record<string, string>) => readConfig(env).health;

  it('has port 8083 in a process without the role admin, and is absent if SVC_HEALTH_PORT is off', () => {
    for (const role of ['worker', 'api']) {
      expect(healthOf({ SVC_ROLES: role })).toEqual({ host: '127.0.0.1', port: 8083, byDefault: true });
    }
    expect(healthOf({})).toBeUndefined();
    expect(healthOf({ SVC_ROLES: 'worker', SVC_HEALTH_PORT: 'off' })).toBeUndefined();
  });

  it('has the port SVC_HEALTH_PORT even in a process with the role admin', () => {
    expect(healthOf({ SVC_HEALTH_PORT: '9100' })).toEqual({
      host: '127.0.0.1',
      port: 9100,
      byDefault: false,
    });
  });
});

describe('SVC_PEER_ADDRESS', () => {
  const peerOf = (text: string) => readConfig({ SVC_PEER_ADDRESS: text, SVC_PEER_ALLOW_PUBLIC: 'on' }).peer;

  it('can be a host, a host with a port, or off; a missing port is read as 0, which means any free port', () => {
    expect(readConfig({}).peer).toEqual({ port: 0 });
    expect(peerOf('off')).toBeUndefined();
    expect(peerOf('10.0.0.5')).toEqual({ host: '10.0.0.5', port: 0 });
    expect(peerOf('10.0.0.5:9000')).toEqual({ host: '10.0.0.5', port: 9_000 });
    expect(peerOf('pod-1.svc:9000')).toEqual({ host: 'pod-1.svc', port: 9_000 });
    expect(peerOf('fd00::5')).toEqual({ host: 'fd00::5', port: 0 });
    expect(peerOf('[fd00::5]:9000')).toEqual({ host: 'fd00::5', port: 9_000 });
  });

  it.each([
    ['10.0.0.5:', 'has an empty port'],
    [':9000', 'has no host'],
    ['10.0.0.5:65536', 'has a port above 65535'],
    ['[10.0.0.5]:1', 'has an IPv4 address in brackets'],
    ['[fd00::5', 'has an unclosed bracket'],
    ['http://a', 'is a URL'],
    ['a b', 'contains a space'],
    ['a:1:2', 'has two ports'],
  ])('is refused as a configuration fault if it is "%s", which %s', (text) => {
    expect(() => peerOf(text)).toThrow(/SVC_PEER_ADDRESS: expected off/);
  });
});

describe('readConfig', () => {
  it('converts environment variables to numbers, lists, durations and keys', () => {
    const config = readConfig({
      SVC_PORT: '9000',
      SVC_BASE_URL: 'https://verify.example/svc//',
      SVC_ROLES: 'api, worker',
      SVC_WEBHOOK_RETRY_DELAYS: '500ms,1.5h',
      SVC_MASTER_KEY: `${key(1)},${key(2)}`,
      SVC_PRICE_CENTS: '0',
      SVC_TRUST_PROXY: '10.0.0.0/8',
    });
    expect(config).toMatchObject({
      public: { port: 9000 },
      baseUrl: 'https://verify.example/svc',
      roles: new Set(['api', 'worker']),
      webhooks: { retryDelays: [500, 5_400_000] },
      masterKeys: [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)],
      priceCents: 0,
      trustProxy: '10.0.0.0/8',
    });
  });

  it('returns SVC_STARTS_PER_MINUTE as the limit of starts, and no limit if it is off', () => {
    expect(readConfig({ SVC_STARTS_PER_MINUTE: '20' }).startsPerMinute).toBe(20);
    expect(readConfig({ SVC_STARTS_PER_MINUTE: 'off' }).startsPerMinute).toBeUndefined();
  });

  it('sets a drain delay of 5 s outside development, unless SVC_DRAIN_DELAY is set', () => {
    expect(readConfig({}).drainDelay).toBe(0);
    expect(readConfig(production).drainDelay).toBe(5_000);
    expect(readConfig({ ...production, SVC_DRAIN_DELAY: '20s' }).drainDelay).toBe(20_000);
  });

  it('returns a default base URL on localhost with the port SVC_PORT', () => {
    expect(readConfig({ SVC_PORT: '9000' }).baseUrl).toBe('http://localhost:9000');
  });

  it('returns a frozen object', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });
});

describe('every variable', () => {
  /** A valid value of each variable. */
  const valid: Record<keyof Environment, string> = {
    SVC_PORT: '9000',
    SVC_HOST: '127.0.0.1',
    SVC_ADMIN_PORT: '9001',
    SVC_ADMIN_HOST: '127.0.0.1',
    SVC_HEALTH_PORT: '9002',
    SVC_PEER_ADDRESS: '10.0.0.5:9003',
    SVC_ADMIN_ALLOW_PUBLIC: 'off',
    SVC_PEER_ALLOW_PUBLIC: 'off',
    SVC_BASE_URL: 'https://verify.example',
    SVC_ENVIRONMENT: 'staging',
    SVC_ROLES: 'api,admin',
    MONGODB_URI: 'mongodb://db.example/svc',
    SVC_DATA_DIR: '/var/lib/svc',
    SVC_MASTER_KEY: key(1),
    SVC_ADMIN_TOKEN: 'x'.repeat(32),
    SVC_WEBHOOK_RETRY_DELAYS: '1s,2s',
    SVC_LOCALHOST_WEBHOOKS: 'on',
    SVC_PRICE_CENTS: '60',
    SVC_STARTS_PER_MINUTE: '10',
    SVC_OIDC_SOURCES: '[]',
    SVC_IDENTITY_WALLET_SOURCES: '[]',
    SVC_WALLET_SOURCES: '[]',
    SVC_CLAIM_FRESHNESS: '30d',
    SVC_LEGAL_NAME: 'SVC Identity Ltd',
    SVC_PRIVACY_URL: 'https://svc.example/privacy',
    SVC_TERMS_URL: 'https://svc.example/terms',
    SVC_HELP_ADDRESS: 'help@svc.example',
    SVC_PORTAL: 'on',
    SVC_PASSKEYS: 'on',
    SVC_PASSKEY_RP_ID: 'verify.example',
    SVC_DEMO_PORT: '9004',
    SVC_SMTP_URL: 'smtp://mail.example',
    SVC_SMTP_FROM: 'svc@svc.example',
    SVC_DRAIN_DELAY: '1s',
    SVC_LOG_LEVEL: 'warn',
    SVC_TRUST_PROXY: '10.0.0.0/8',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example',
  };
  /** Variables that another one needs beside it. */
  const companions: Partial<Record<string, Record<string, string>>> = {
    SVC_SMTP_URL: { SVC_SMTP_FROM: valid.SVC_SMTP_FROM },
    SVC_PASSKEY_RP_ID: { SVC_BASE_URL: valid.SVC_BASE_URL },
    SVC_ENVIRONMENT: production,
  };
  const names = Object.keys(Environment.shape) as (keyof Environment)[];

  it.each(names)('%s is read without white space at its ends, and counts as unset if it is blank', (name) => {
    const read = (value: string) => readConfig({ ...companions[name], [name]: value });
    for (const padded of [`${valid[name]}\n`, `\t ${valid[name]}\r\n`, `\u{FEFF}${valid[name]}\u00A0`]) {
      expect(read(padded)).toEqual(read(valid[name]));
    }
    for (const blank of [' ', '\n', '\r\n', '\t', '\u00A0']) expect(read(blank)).toEqual(read(''));
  });

  it.each(names.filter((name) => !name.endsWith('SOURCES')))(
    '%s is refused with an invisible character',
    (name) => {
      const middle = Math.ceil(valid[name].length / 2);
      for (const hidden of ['\t', '\r', '\u0000', '\u200B', '\u202E', '\u2028']) {
        const code = hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
        const value = valid[name].slice(0, middle) + hidden + valid[name].slice(middle);
        expect(faultsOf({ [name]: value })).toContain(
          `${name}: contains the invisible character U+${code}; remove it`,
        );
      }
    },
  );

  it.each([
    ['SVC_PORT', '0 to 65535'],
    ['SVC_ADMIN_PORT', '0 to 65535'],
    ['SVC_HEALTH_PORT', '0 to 65535'],
    ['SVC_DEMO_PORT', '0 to 65535'],
    ['SVC_PRICE_CENTS', '0 to 1000000'],
    ['SVC_STARTS_PER_MINUTE', '1 to 1000000'],
  ])('%s accepts digits only', (name, range) => {
    for (const text of [
      '0x1F90',
      '5e1',
      '1_000',
      '+80',
      '-1',
      '80.0',
      '8 0',
      '٥',
      'NaN',
      'Infinity',
      '1'.repeat(10),
    ]) {
      expect(faultsOf({ [name]: text }).join()).toContain(
        `${name}: expected a whole number from ${range}, in digits`,
      );
    }
  });

  it.each(['SVC_HOST', 'SVC_ADMIN_HOST'])('%s is an address or a host name', (name) => {
    for (const text of ['http://a', 'a b', '例え.jp', '[::1]', 'a/b', 'a:80'])
      expect(faultsOf({ [name]: text })).toContain(`${name}: expected an IP address or a host name`);
    expect(faultsOf({ [name]: 'fe80::1%br-lan' })).toEqual([]);
  });
});

describe('SVC_BASE_URL', () => {
  it.each([
    ['http://例え.jp', 'http://xn--r8jz45g.jp'],
    ['https://Verify.Example:443/svc/', 'https://verify.example/svc'],
    ['https://verify.example/a/./b/../c', 'https://verify.example/a/c'],
  ])('is used as URLs carry it: %s becomes %s', (given, used) => {
    expect(readConfig({ SVC_BASE_URL: given }).baseUrl).toBe(used);
  });

  it.each([
    ...['a;frame-ancestors', 'a,b', "a'b", 'a"b', 'a{b', '*.example', 'a..b', '-a.b', 'a_b', 'localhost.'],
  ])('is refused with the host %s, which is no host name and could end a directive of a header', (host) => {
    expect(faultsOf({ SVC_BASE_URL: `http://${host}:8080/svc` })).toEqual([
      expect.stringMatching(/^SVC_BASE_URL: must (?:have a host of letters|not have a wildcard|be ASCII)/),
    ]);
  });

  it('is refused with an empty segment of the path, which no route has', () => {
    expect(faultsOf({ SVC_BASE_URL: 'http://a.example//svc' })).toHaveLength(1);
  });
});

it.each([
  ['SVC_BASE_URL', 'localhost:8080', 'expected an address such as https://verify.example'],
  ['SVC_HELP_ADDRESS', 'http://a.example/help', 'expected an e-mail address or an https:// address'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'c:4318', 'expected an http:// or https:// address'],
  ['MONGODB_URI', 'mongodb://a/local', 'must not use the database local of MongoDB itself'],
  ['MONGODB_URI', 'mongodb://a/a%20b', expect.stringContaining('and spaces, in at most 63 bytes')],
  ['MONGODB_URI', `mongodb://a/${'x'.repeat(64)}`, expect.stringContaining('at most 63 bytes')],
])('%s=%s gets one fault, which says what is expected', (name, text, fault) => {
  const [found = '', ...others] = faultsOf({ [name]: text });
  expect([found.replace(`${name}: `, ''), others]).toEqual([fault, []]);
});

it('SVC_SMTP_URL is refused if its credentials cannot be decoded', () => {
  const SVC_SMTP_FROM = 'a@b.example';
  expect(faultsOf({ SVC_SMTP_URL: 'smtp://u:100%@mail.example', SVC_SMTP_FROM })).toEqual([
    'SVC_SMTP_URL: must write % in the user name and password as %25',
  ]);
  expect(faultsOf({ SVC_SMTP_URL: 'smtp://u:100%25@mail.example', SVC_SMTP_FROM })).toEqual([]);
});

describe('SVC_ADMIN_TOKEN', () => {
  it.each(['ü'.repeat(32), `${'x'.repeat(32)} y`, `"${'x'.repeat(32)}"`, 'x'.repeat(513)])(
    'is refused as %s, because no Authorization header can carry it',
    (token) => {
      expect(faultsOf({ SVC_ADMIN_TOKEN: token })).toEqual([
        expect.stringMatching(/^SVC_ADMIN_TOKEN: expected 32 to 512 letters/),
      ]);
    },
  );
});

describe('the configuration check', () => {
  it('reports all malformed variables together, one per line', () => {
    const wrong = {
      SVC_PORT: '65536',
      SVC_ADMIN_PORT: 'http',
      SVC_BASE_URL: 'ftp://x',
      SVC_ENVIRONMENT: 'prod',
      SVC_ROLES: 'api,web',
      MONGODB_URI: 'postgres://x',
      SVC_MASTER_KEY: 'short',
      SVC_ADMIN_TOKEN: 'short',
      SVC_WEBHOOK_RETRY_DELAYS: '60s',
      SVC_LOCALHOST_WEBHOOKS: 'maybe',
      SVC_PRICE_CENTS: '0.5',
      SVC_STARTS_PER_MINUTE: '0',
      SVC_LOG_LEVEL: 'loud',
      SVC_TRUST_PROXY: '10.0.0.0/33',
      SVC_LEGAL_NAME: 'SVC\u202E Ltd',
      SVC_PRIVACY_URL: 'http://svc.example/privacy',
      SVC_TERMS_URL: 'https://svc.example@evil.example/',
      SVC_HELP_ADDRESS: 'ask us',
    };
    const faults = faultsOf(wrong);
    for (const name of Object.keys(wrong)) expect(faults.join('\n')).toMatch(new RegExp(`^${name}: `, 'm'));
    expect(new ConfigError(faults).message.split('\n')).toHaveLength(faults.length + 1);
  });

  it('reports missing and malformed variables of one environment together', () => {
    const faults = faultsOf({
      SVC_ENVIRONMENT: 'production',
      SVC_PORT: 'http',
      SVC_ADMIN_HOST: '0.0.0.0',
      SVC_OIDC_SOURCES: 'nowhere.json',
    });
    expect(faults.map((fault) => fault.split(':', 1)[0])).toEqual([
      ...[
        ...['SVC_PORT', 'SVC_MASTER_KEY', 'SVC_ADMIN_TOKEN', 'SVC_BASE_URL', 'MONGODB_URI'],
        ...['SVC_LEGAL_NAME', 'SVC_PRIVACY_URL', 'SVC_TERMS_URL', 'SVC_HELP_ADDRESS', 'SVC_ADMIN_HOST'],
        'SVC_OIDC_SOURCES',
      ],
    ]);
  });

  it.each(['0.0.0.0:8084', '203.0.113.5', '[2001:db8::5]:8084', 'app.example:8084'])(
    'refuses the private listener at %s, unless SVC_PEER_ALLOW_PUBLIC is on',
    (SVC_PEER_ADDRESS) => {
      expect(faultsOf({ SVC_PEER_ADDRESS })).toEqual([expect.stringContaining('SVC_PEER_ALLOW_PUBLIC=on')]);
      expect(faultsOf({ SVC_PEER_ADDRESS, SVC_PEER_ALLOW_PUBLIC: 'on' })).toEqual([]);
    },
  );

  it('accepts a public admin listener if SVC_ADMIN_ALLOW_PUBLIC is on', () => {
    expect(faultsOf({ SVC_ADMIN_HOST: '0.0.0.0', SVC_ADMIN_ALLOW_PUBLIC: 'on' })).toEqual([]);
  });

  it('does not show the value of a malformed master key or admin token in its faults', () => {
    const environment = { SVC_MASTER_KEY: 'c2VjcmV0LXRoYXQtaXMtc2hvcnQ', SVC_ADMIN_TOKEN: 'hunter2' };
    expect(faultsOf(environment).join()).not.toMatch(/c2VjcmV0|hunter2/);
  });

  it.each(Object.keys(production).slice(1))('requires %s in production', (name) => {
    const { [name as keyof typeof production]: _missing, ...rest } = production;
    expect(faultsOf(rest)).toEqual([expect.stringMatching(new RegExp(`^${name}: required`))]);
    const inStaging = faultsOf({ ...rest, SVC_ENVIRONMENT: 'staging' });
    expect(inStaging).toHaveLength(
      ['SVC_MASTER_KEY', 'SVC_ADMIN_TOKEN', 'SVC_BASE_URL'].includes(name) ? 1 : 0,
    );
  });

  it.each(['staging', 'production'])('refuses a base URL with http in %s', (environment) => {
    const given = { ...production, SVC_ENVIRONMENT: environment, SVC_BASE_URL: 'http://verify.example' };
    expect(faultsOf(given)).toEqual(['SVC_BASE_URL: must be https outside development']);
  });

  it.each([
    ['https://verify.example/?tenant=1', 'it has a query'],
    ['https://verify.example/svc?', 'it has an empty query'],
    ['https://verify.example/#top', 'it has a fragment'],
    ['https://verify.example/svc#', 'it has an empty fragment'],
    ['https://user:secret@verify.example', 'it has a user name'],
    ['https://verify.example/:id', 'its path has a colon'],
    ['https://verify.example/*', 'its path has an asterisk'],
    ['https://verify.example/%7Esvc', 'its path has percent-encoding'],
    ['HTTPS://verify.example', 'its scheme has upper case'],
  ])('refuses %s as SVC_BASE_URL, the OAuth issuer, because %s', (address) => {
    expect(faultsOf({ ...production, SVC_BASE_URL: address })).toEqual([
      expect.stringMatching(/^SVC_BASE_URL: must have no query, fragment or user name/),
    ]);
  });

  it.each(['https://verify.example:8443/', 'http://[::1]:8080', 'https://verify.example/a/b-c_d.e~f'])(
    'accepts %s as SVC_BASE_URL, the OAuth issuer',
    (address) => {
      expect(readConfig({ SVC_BASE_URL: address }).baseUrl).toBe(address.replace(/\/$/, ''));
    },
  );

  it.each([
    ...['w=1', 'w=majority', 'journal=false', 'j=false', 'readConcernLevel=local'],
    ...['READCONCERNLEVEL=local', 'wtimeoutMS=1', 'readPreference=secondary'],
  ])('refuses MONGODB_URI with the option %s, because options must not change durability', (option) => {
    const uri = `mongodb://user:pass@db.example/svc?tls=true&${option}&retryWrites=true`;
    const [name] = option.split('=');
    expect(faultsOf({ MONGODB_URI: uri })).toEqual([
      `MONGODB_URI: must not set ${name}: this service decides how durable writes are`,
    ]);
  });

  it.each([
    ...['socketTimeoutMS=60000', 'serverSelectionTimeoutMS=1', 'connectTimeoutMS=1'],
    ...['WAITQUEUETIMEOUTMS=1', 'timeoutMS=100', 'heartbeatFrequencyMS=60000'],
  ])('refuses MONGODB_URI with the option %s, because options must not change timeouts', (option) => {
    const [name] = option.split('=');
    expect(faultsOf({ MONGODB_URI: `mongodb://db.example/svc?maxPoolSize=50&${option}` })).toEqual([
      `MONGODB_URI: must not set ${name}: this service decides how long it waits, so that it answers a billable request within 5 s`,
    ]);
  });

  it.each(['loadBalanced=true', 'useBigInt64=true', 'raw=true', 'promoteLongs=false', 'misspelt=1'])(
    'refuses MONGODB_URI with the option %s, which the service does not support',
    (option) => {
      const [name] = option.split('=');
      expect(faultsOf({ MONGODB_URI: `mongodb://db.example/svc?${option}` })).toEqual([
        `MONGODB_URI: must not set ${name}: this service does not honour it`,
      ]);
    },
  );

  it.each([
    ...['retryWrites=maybe', 'RETRYWRITES=1', 'retryReads=TRUE', 'tls=yes', 'ssl=', 'tlsInsecure=on'],
    ...['tlsAllowInvalidCertificates=0', 'tlsAllowInvalidHostnames=no', 'directConnection=x'],
    'monitorCommands=x',
  ])('refuses MONGODB_URI with %s, and names the option', (option) => {
    const [name] = option.split('=');
    expect(faultsOf({ MONGODB_URI: `mongodb://db.example/svc?maxPoolSize=50&${option}` })).toEqual([
      `MONGODB_URI: must set ${name} to true or false`,
    ]);
  });

  it('reports refused options of MONGODB_URI in one fault for each reason', () => {
    const uri = 'mongodb://db.example/svc?w=1&socketTimeoutMS=1&j=true&raw=true';
    expect(faultsOf({ MONGODB_URI: uri })).toEqual([
      expect.stringMatching(/^MONGODB_URI: must not set w, j: /),
      expect.stringMatching(/^MONGODB_URI: must not set socketTimeoutMS: /),
      expect.stringMatching(/^MONGODB_URI: must not set raw: /),
    ]);
  });

  it.each([
    ...['mongodb://svc:pa?ssw0rd@127.0.0.1:1/svc', 'mongodb://svc:p@a?ssw0rd&x@127.0.0.1:1/svc?tls=true'],
    ...['mongodb://svc:pa/?ssw0rd=1&tls@127.0.0.1:1/svc', 'mongodb+srv://svc:pa?w=ssw0rd@db.example'],
  ])('shows nothing of a password that is not escaped: %s', async (uri) => {
    const fault = (() => {
      try {
        return connect({
          uri: readConfig({ MONGODB_URI: uri }).mongodbUri ?? '',
          embedded: false,
          appName: 'test',
        });
      } catch (error) {
        return Promise.reject(error);
      }
    })();
    const { name, message } = await fault.then(
      () => expect.fail('it connects'),
      (error: Error) => error,
    );
    expect(name).toBe('ConfigError');
    expect(message).toMatch(/MONGODB_URI: .*(unescaped|%3F)/);
    expect(message).not.toMatch(/ssw0rd/);
  });

  it.each([
    [
      { SVC_PORT: '1', SVC_ADMIN_PORT: '1' },
      ['SVC_ADMIN_PORT: SVC_PORT has the port 1 too; set one of them to another'],
    ],
    [
      { SVC_PORT: '1', SVC_ADMIN_PORT: '2', SVC_HEALTH_PORT: '2', SVC_HOST: '0.0.0.0' },
      ['SVC_HEALTH_PORT: SVC_ADMIN_PORT has the port 2 too; set one of them to another'],
    ],
    [{ SVC_PORT: '0', SVC_ADMIN_PORT: '0' }, []],
    [{ SVC_PORT: '1', SVC_ADMIN_PORT: '1', SVC_ROLES: 'api,worker' }, []],
    [{ SVC_PORT: '1', SVC_ADMIN_PORT: '1', SVC_HOST: '127.0.0.2' }, []],
  ])('refuses listeners with the same port of the same address: %o', (given, faults) => {
    expect(faultsOf(given)).toEqual(faults);
  });

  it('finds settings that are probably misspelt, and no names of other programs', () => {
    const given = { SVC_ROLE: 'api', SVC_ADMINPORT: '1', MONGO_URI: 'x', SVC_MASTER_KEYS: 'x' };
    expect(misspeltSettings(given)).toEqual([
      { name: 'SVC_ROLE', meant: 'SVC_ROLES' },
      { name: 'SVC_ADMINPORT', meant: 'SVC_ADMIN_PORT' },
      { name: 'MONGO_URI', meant: 'MONGODB_URI' },
      { name: 'SVC_MASTER_KEYS', meant: 'SVC_MASTER_KEY' },
    ]);
    const others = {
      ...{ SVC_ROLES: 'api', SVC_MASTER_KEY_FILE: '/key', SVC_TEST_OPENID: 'on', PATH: '/bin' },
      // What Kubernetes sets for a service of this name, and a source of OpenID Connect.
      ...{
        SVC_GATEWAY_PORT: 'tcp://10.0.0.1:8080',
        SVC_GATEWAY_SERVICE_HOST: '10.0.0.1',
        SVC_OIDC_ACME_ISSUER: 'x',
      },
    };
    expect(misspeltSettings(others)).toEqual([]);
  });

  it('accepts the options of MONGODB_URI that docs/operations.md lists with yes, and refuses those with no', async () => {
    const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const [, table = ''] = /\n\| options of `MONGODB_URI`[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/.exec(page) ?? [];
    const cell = (row: string, n: number) =>
      [...(row.split('|')[n] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name);
    const rows = table.trim().split('\n');
    const documented = rows.filter((row) => row.includes('| yes')).flatMap((row) => cell(row, 1));
    expect(documented.toSorted()).toEqual([...honouredOptions].toSorted());
    const given = honouredOptions.map((name) => `${name}=true`).join('&');
    expect(faultsOf({ MONGODB_URI: `mongodb+srv://db.example/svc?${given}` })).toEqual([]);
    const refused = rows.filter((row) => row.includes('| no')).flatMap((row) => cell(row, 1));
    expect(refused.length).toBeGreaterThan(10);
    for (const name of refused)
      expect(faultsOf({ MONGODB_URI: `mongodb://db.example/svc?${name}=x` })).toHaveLength(1);
  });

  it.each([
    ['off', 'trusts no proxy', false],
    ['on', 'trusts every proxy', true],
    ['2', 'trusts the last two proxies', 2],
    [
      '10.0.0.0/8, 2001:db8::/32,192.0.2.1',
      'trusts proxies with these addresses',
      '10.0.0.0/8,2001:db8::/32,192.0.2.1',
    ],
    ['loopback', 'trusts proxies on the same machine', 'loopback'],
  ])('accepts SVC_TRUST_PROXY="%s", which %s', (text, _, trusted) => {
    expect(readConfig({ SVC_TRUST_PROXY: text }).trustProxy).toBe(trusted);
  });

  it.each([
    ['yes', 'is neither on nor off'],
    ['0', 'is not a positive number of proxies'],
    ['-1', 'is not a positive number of proxies'],
    ['10.0.0.0/33', 'is not a valid network'],
    ['proxy.example', 'is a host name'],
    ['10.0.0.0/8,', 'ends with a comma'],
  ])('refuses SVC_TRUST_PROXY="%s", which %s', (text) => {
    expect(faultsOf({ SVC_TRUST_PROXY: text })).toEqual([
      expect.stringMatching(/^SVC_TRUST_PROXY: expected/),
    ]);
  });

  it.each([
    ['api', 'off'],
    ['worker', 'off'],
    ['api,worker', 'off'],
  ])('accepts a missing SVC_ADMIN_TOKEN if SVC_ROLES is "%s", without the role admin', (roles, token) => {
    const { SVC_ADMIN_TOKEN: _, ...others } = production;
    expect(readConfig({ ...others, SVC_ROLES: roles }).adminToken).toBe(token);
    expect(readConfig({ SVC_ROLES: roles }).adminToken).toBeUndefined();
  });

  it.each(['admin', 'api,admin'])('requires SVC_ADMIN_TOKEN in production if SVC_ROLES is "%s"', (roles) => {
    const { SVC_ADMIN_TOKEN: _, ...others } = production;
    expect(faultsOf({ ...others, SVC_ROLES: roles })).toEqual([
      'SVC_ADMIN_TOKEN: required outside development',
    ]);
  });

  it('accepts a complete production environment', () => {
    const { environment, imprint } = readConfig(production);
    expect(environment).toBe('production');
    expect(imprint).toEqual({
      legalName: 'SVC Identity Ltd',
      privacyUrl: 'https://svc.example/privacy',
      termsUrl: 'https://svc.example/terms',
      helpAddress: 'help@svc.example',
    });
  });

  it('accepts a web address as SVC_HELP_ADDRESS', () => {
    const SVC_HELP_ADDRESS = 'https://svc.example/help';
    expect(readConfig({ SVC_HELP_ADDRESS }).imprint.helpAddress).toBe(SVC_HELP_ADDRESS);
  });
});
