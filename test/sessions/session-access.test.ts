import { expect, it } from 'vitest';
import type { Device } from '../../contracts/verification.ts';
import { sha256 } from '../../server/platform/ids.ts';
import type { Session } from '../../server/sessions/session.ts';
import { createSessionAccess, newBrowserSecret } from '../../server/sessions/session-access.ts';

it('a session is found for its computer and its phone, each by its own secret; all others are unauthorized', async () => {
  const [computer, old, phone] = [newBrowserSecret(), newBrowserSecret(), newBrowserSecret()];
  const session = {
    _id: 'ses_1',
    browserHash: sha256(computer),
    handoff: { computerHash: sha256(old), phoneHash: sha256(phone) },
  } as unknown as Session;
  const { authorize } = createSessionAccess({
    sessions: { find: async (id) => (id === 'ses_1' ? session : undefined) },
    keyring: { id: Buffer.alloc(32) },
  });
  const by = (device: Device, secret: string | undefined, sessionId = 'ses_1') =>
    authorize({ sessionId, device, secret }).catch(({ code }: { code: string }) => code);
  for (const secret of [computer, old]) expect(await by('computer', secret)).toBe(session);
  expect(await by('phone', phone)).toBe(session);
  for (const secret of [phone, newBrowserSecret(), '', undefined])
    expect(await by('computer', secret)).toBe('unauthorized');
  for (const secret of [computer, old, newBrowserSecret(), '', undefined])
    expect(await by('phone', secret)).toBe('unauthorized');
  expect(await by('computer', computer, 'ses_2')).toBe('session_not_found');
});
