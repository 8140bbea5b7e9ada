import { createTRPCClient, httpLink } from '@trpc/client';
import type { AdminRouter } from '../wiring/admin-router.ts';

/** The admin API, with the token of this machine's operator. */
export function createAdminApi({ url, token }: { url: string; token: string }) {
  return createTRPCClient<AdminRouter>({
    links: [httpLink({ url: `${url}/trpc`, headers: { authorization: `Bearer ${token}` } })],
  });
}
export type AdminApi = ReturnType<typeof createAdminApi>;
