import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../contracts/openapi/operations.ts';
import { recordingLogger } from '../harness/log-lines.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { renderErrors } from './error-reference.ts';
import { expectGenerated } from './generated.ts';

let server: TestServer;
let address: string;
const log = recordingLogger();
beforeAll(async () => {
  // The document contains the server's own address.
  server = await startTestServer({ env: { SVC_BASE_URL: 'http://localhost:8080' }, logger: log.logger });
  address = server.publicUrl;
});
afterAll(() => server.stop());

describe('the OpenAPI document', () => {
  it('is served at /docs/openapi.json, equal to the file docs/openapi.json', async () => {
    const answer = await fetch(`${address}/docs/openapi.json`);
    const served: unknown = await answer.json();
    // Before the file is written: an answer without the document does not say its cause, but the log does.
    const faults = log.lines.flatMap(({ err }) => (err as Error | undefined)?.message ?? []);
    expect(answer.status, faults.join('\n')).toBe(200);
    await expectGenerated('docs/openapi.json', `${JSON.stringify(served, null, 2)}\n`);
  });

  it('has no error or warning of Redocly with strict rules', async () => {
    const cli = dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json'));
    const document = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
    const lint = promisify(execFile)(
      process.execPath,
      [join(cli, 'bin/cli.js'), 'lint', '--extends=recommended-strict', '--format=json', document],
      { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    );
    const { stdout } = await lint.catch((failed: { stdout: string }) => failed);
    expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] });
  });

  it('describes only endpoints that exist', async () => {
    const unknown = await Promise.all(
      Object.keys(operations).map(async (endpoint) => {
        const [method = '', path = ''] = endpoint.split(' ');
        const url = `${address}${path.replaceAll(/\{.*?\}/g, 'x')}`;
        return { endpoint, status: (await fetch(url, { method, redirect: 'manual' })).status };
      }),
    );
    // 404 would mean that a described path does not exist; 405 that it is served with another method.
    expect(unknown.filter(({ status }) => status === 404 || status === 405)).toEqual([]);
  });
});

describe('docs/errors.md', () => {
  it('is generated from the error table', () => expectGenerated('docs/errors.md', renderErrors()));
});
