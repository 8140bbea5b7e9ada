import { createTRPCClient, httpLink } from '@trpc/client';
import type { DeviceAuthorization, DeviceLogin } from '../../../../contracts/device-login.ts';
import { deviceGrantType } from '../../../../contracts/device-login.ts';
import type { AdminRouter } from '../../../../server/operations/admin-router.ts';
import type { TestServer } from '../../../harness/server.ts';
import type { PortalBrowser } from '../signed-in.ts';

type Json = Record<string, unknown>;

/** Returns calls of a program, such as `svc`, that signs a member in on a device. */
export function createDevice({ publicUrl }: Pick<TestServer, 'publicUrl'>) {
  const post = async (path: string, body: Json) => {
    const response = await fetch(`${publicUrl}/portal/device/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Json };
  };
  const withToken = (token: string, init: RequestInit = {}) =>
    fetch(`${publicUrl}/portal/device/login`, { ...init, headers: { authorization: `Bearer ${token}` } });

  return {
    post,
    withToken,
    start: async (name = 'laptop') =>
      (await post('authorization', { client_name: name })).body as unknown as DeviceAuthorization,
    /** Polls once for the token. `token` is empty if the response has an error. */
    async poll(code: string): Promise<{ error?: unknown; token: string }> {
      const { body } = await post('token', { grant_type: deviceGrantType, device_code: code });
      return {
        ...(body['error'] ? { error: body['error'] } : {}),
        token: String(body['access_token'] ?? ''),
      };
    },
    whoami: async (token: string) => (await (await withToken(token)).json()) as DeviceLogin,
    api: (token: string) =>
      createTRPCClient<AdminRouter>({
        links: [httpLink({ url: `${publicUrl}/portal/trpc`, headers: { authorization: `Bearer ${token}` } })],
      }),
  };
}

/** Sends the form of `/portal/devices` with this action. */
export const actOnDevices = async (browser: PortalBrowser, act: string, fields: Record<string, string>) =>
  browser.post('/devices', { csrf: await browser.csrf(), act, ...fields });
