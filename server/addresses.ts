import type { Config } from './platform/config/config.ts';
import { type Address, requireFree } from './platform/http/listen.ts';

/** Returns the addresses on which this process listens, by its roles. */
function addressesOf({ roles, ...config }: Config): Partial<Record<'api' | 'admin' | 'health', Address>> {
  const api = { ...config.public, variables: { host: 'SVC_HOST', port: 'SVC_PORT' } };
  const admin = { ...config.admin, variables: { host: 'SVC_ADMIN_HOST', port: 'SVC_ADMIN_PORT' } };
  const health = config.health && {
    ...config.health,
    variables: { host: 'SVC_HOST', port: 'SVC_HEALTH_PORT' },
  };
  return {
    ...(roles.has('api') && { api }),
    ...(roles.has('admin') && { admin }),
    ...(health && { health }),
  };
}

/** Returns the addresses to listen on. @throws StartFault if another program uses a configured port */
export async function usableAddresses(config: Config): Promise<ReturnType<typeof addressesOf>> {
  const addresses = addressesOf(config);
  const { health, ...others } = addresses;
  // Another process of this machine may have the default health port. The server then starts without a health listener.
  const configuredHealth = health && !config.health?.byDefault ? [health] : [];
  await Promise.all([...Object.values(others), ...configuredHealth].map(requireFree));
  return addresses;
}
