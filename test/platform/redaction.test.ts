import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Field names under which code may log a secret by mistake. */
const secretNames = [
  ...['authorization', 'cookie', 'code', 'client_secret', 'clientSecret', 'code_verifier', 'token'],
  ...['access_token', 'apiKey', 'secret', 'signingSecret', 'state'],
];

const logging = fileURLToPath(new URL('../../dist/server/platform/telemetry/logging.js', import.meta.url));

/** The lines that the process logs for this value. */
function logged(lines: readonly object[]): Record<string, unknown>[] {
  const program = `
    const { createLogger } = await import(${JSON.stringify(logging)});
    const log = createLogger('info');
    for (const line of JSON.parse(process.argv[1])) log.info(line, 'x');`;
  const output = execFileSync(
    process.execPath,
    ['--input-type=module', '-e', program, JSON.stringify(lines)],
    {
      encoding: 'utf8',
    },
  );
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a log line', () => {
  it('has [redacted] in place of each secret at its top level and one level below, except for `code` among headers', () => {
    const flat = Object.fromEntries(secretNames.map((name) => [name, 'a secret']));
    const [top, nested] = logged([flat, { headers: flat, query: flat, body: flat }]);
    const hidden = Object.fromEntries(secretNames.map((name) => [name, '[redacted]']));
    expect(top).toMatchObject(hidden);
    // `code` is an error code, except in a body or a query.
    expect(nested).toMatchObject({ headers: { ...hidden, code: 'a secret' }, query: hidden, body: hidden });
  });

  it('contains the code of an error, a session id and a status unmasked', () => {
    const [line] = logged([{ err: { code: 'ECONNREFUSED' }, sessionId: 'ses_1', status: 400 }]);
    expect(line).toMatchObject({ err: { code: 'ECONNREFUSED' }, sessionId: 'ses_1', status: 400 });
  });
});
