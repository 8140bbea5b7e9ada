import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OwnedSecretKind } from '../../contracts/admin/secrets.ts';
import { type SecretKind, secretPrefixes } from '../../contracts/identifiers.ts';
import { sha256 } from '../../server/platform/ids.ts';
import { actOnDevices, createDevice } from '../console/portal/device/device-harness.ts';
import { signedIn } from '../console/portal/signed-in.ts';
import { createPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
/** One secret of each kind that belongs to a member, with the member. */
let secrets: Partial<Record<SecretKind, { secret: string; id: string; active: boolean }>>;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  const { partnerId } = await createPartner(server);
  const { id, browser } = await signedIn(server, partnerId, 'owner');
  const wanted = { partnerId, email: 'next@shop.example', role: 'viewer' } as const;
  const invited = await server.admin.members.invite.mutate(wanted);
  const device = createDevice(server);
  const [open, used] = [await device.start(), await device.start()];
  for (const { user_code: code } of [open, used]) await actOnDevices(browser, 'confirm', { code });
  const { token } = await device.poll(used.device_code);
  secrets = {
    invitation: { secret: new URL(invited.link).hash.slice(1), id: invited.id, active: true },
    memberSession: { secret: browser.cookies.get('svc_portal') ?? '', id, active: true },
    deviceCode: { secret: open.device_code, id, active: true },
    deviceToken: { secret: token, id, active: true },
  };
});
afterAll(() => server.stop());

describe('secrets.find', () => {
  it('knows every prefix of the product but that of codes, which expire within minutes', () => {
    const kinds = Object.keys(secretPrefixes).filter((kind) => kind !== 'code');
    expect(OwnedSecretKind.options.toSorted()).toEqual(kinds.toSorted());
  });

  it('names the member whose secret has leaked, and the command that ends it', async () => {
    for (const [kind, { secret, id, active }] of Object.entries(secrets)) {
      expect([kind, secret.startsWith(secretPrefixes[kind as SecretKind])]).toEqual([kind, true]);
      const found = await server.admin.secrets.find.query({
        kind: kind as OwnedSecretKind,
        hash: sha256(secret),
      });
      expect([kind, found]).toMatchObject([kind, { id, active, next: `svcadmin members remove ${id}` }]);
    }
  });
});
