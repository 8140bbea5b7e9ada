import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PNG } from 'pngjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { randomId } from '../../../server/platform/ids.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { adminToken, startTestServer } from '../../harness/server.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { within } from '../../harness/time-limits.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

const folder = temporaryFolder('unknown-partner');
const logo = join(folder, 'logo.png');

/** What each command needs besides the partner, with the ids of another partner's records. */
const otherArguments: Record<string, (other: TestPartner) => string> = {
  'clients create': ({ keyId, redirectUri }) =>
    `--key ${keyId} --name N --redirect-uri ${redirectUri} --claims age_18_plus`,
  'deliveries cancel': () => '--yes',
  'deliveries hold': () => '--for 2h --yes',
  'deliveries reschedule': () => '--in 2h --yes',
  'deliveries resend': () => '--since 2h --yes',
  'integrations create': ({ clientId }) => `--client ${clientId} --shop wine.example`,
  'limits set': () => '--per-minute 70',
  'members invite': () => 'kim@acme.example --role developer',
  'partners close': () => '--reason left --yes',
  'partners export': () => `--out-file ${join(folder, 'export.tar.gz')}`,
  'partners set-logo': () => `--file ${logo}`,
  'partners suspend': () => '--yes',
  'partners update': () => '--name Other',
  'prices set': () => '--kind token --cents 40 --yes',
  'wallets adjust': () => '--mode test --amount 1.00 --reason test --yes',
  'wallets fund': () => '--mode test --amount 50.00 --reference test --yes',
  'wallets refund': () => '--mode test --from 2026-01-01 --reason test --yes',
  'wallets repair': () => '--yes',
  'warnings set': () => '--email ops@acme.example',
};

const root = fileURLToPath(new URL('../../../dist/cli/commands', import.meta.url));
interface CommandClass {
  args?: Record<string, unknown>;
  flags?: Record<string, unknown>;
}

/** The commands that take a partner, and whether by an argument. */
async function commandsOfPartners(): Promise<{ name: string; isArgument: boolean }[]> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.js'),
  );
  const found = await Promise.all(
    files.map(async (file) => {
      const module = (await import(pathToFileURL(join(root, file)).href)) as { default: CommandClass };
      const { args = {}, flags = {} } = module.default;
      const name = file.replace(/\.js$/, '').replaceAll(/[\\/]/g, ' ');
      return 'partner' in args || 'partner' in flags ? [{ name, isArgument: 'partner' in args }] : [];
    }),
  );
  return found.flat();
}

let svcadmin: CommandLine;
let other: TestPartner;
beforeAll(async () => {
  const server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  other = await createPartner(server);
  svcadmin = await commandLine(server.adminUrl, adminToken);
  // The server checks the picture before it looks for the partner.
  writeFileSync(logo, PNG.sync.write(new PNG({ width: 16, height: 16 })));
  return server.stop;
});

describe('every command that takes a partner', () => {
  it(
    'says for an unknown and for a mistyped id that there is no such partner, and exits with 4',
    async () => {
      const commands = await commandsOfPartners();
      expect(commands.length).toBeGreaterThan(45);
      const wrong: string[] = [];
      for (const { name, isArgument } of commands)
        for (const id of [randomId('partner'), 'ptr_short']) {
          const more = otherArguments[name]?.(other).split(' ') ?? [];
          const partner = isArgument ? [id] : ['--partner', id];
          const { code, stderr } = await svcadmin.run([...name.split(' '), ...partner, ...more]);
          if (code !== 4 || !stderr.includes(`No partner ${id}`))
            wrong.push(`${name} ${id}: ${code} ${stderr.slice(0, 300)}`);
        }
      expect(wrong).toEqual([]);
    },
    within(60_000),
  );
});
