import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { MemberRole } from '../../../contracts/admin/members.ts';
import { actOnDevices, createDevice } from '../../console/portal/device/device-harness.ts';
import { type SignedInMember, signedIn } from '../../console/portal/signed-in.ts';
import type { TestServer } from '../../harness/server.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { type CommandLine, createCommandLine, ownEnvironment } from '../svcadmin.ts';

export interface MemberLine extends CommandLine {
  member: SignedInMember;
  token: string;
}

/** Returns calls of `svc` in a new directory, without a login. */
export function svcCommandLine(url: string): CommandLine {
  const cwd = temporaryFolder('svc');
  return createCommandLine('svc', { cwd, env: { ...ownEnvironment(cwd), SVC_BASE_URL: url } });
}

let count = 0;

/** Returns calls of `svc` with the login of a new member. */
export async function memberLine(
  server: TestServer,
  partnerId: string,
  role: MemberRole,
): Promise<MemberLine> {
  count += 1;
  const member = await signedIn(server, partnerId, role, `${role}${count}`);
  const device = createDevice(server);
  const { device_code: code, user_code: userCode } = await device.start();
  expect((await actOnDevices(member.browser, 'confirm', { code: userCode })).status).toBe(303);
  const { token } = await device.poll(code);
  const svc = svcCommandLine(server.baseUrl);
  const profile = { url: server.baseUrl, token, environment: 'development', partnerId };
  mkdirSync(join(svc.cwd, 'config', 'svc'), { recursive: true });
  writeFileSync(
    join(svc.cwd, 'config', 'svc', 'profiles.json'),
    JSON.stringify({ current: 'default', profiles: { default: profile } }),
  );
  return { ...svc, member, token };
}
