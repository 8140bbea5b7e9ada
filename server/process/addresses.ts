import type { Config } from '../platform/config/config.ts';
import { type Address, requireFree } from '../platform/http/listen.ts';

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

/**
 * Links to `localhost` lead browsers to ::1 first. Another program there would get the users of a listener at 127.0.0.1.
 * @returns the address that has to be free besides those to listen on
 */
function ofLocalhost({ baseUrl, roles, public: { host, port } }: Config): Address[] {
  const isShared = new URL(baseUrl).hostname === 'localhost' && host === '127.0.0.1' && port !== 0;
  const variables = { host: 'SVC_HOST', port: 'SVC_PORT' };
  return isShared && roles.has('api') ? [{ host: '::1', port, variables }] : [];
}

/** Returns the addresses to listen on. @throws StartFault if another program uses a configured port */
export async function usableAddresses(config: Config): Promise<ReturnType<typeof addressesOf>> {
  const addresses = addressesOf(config);
  const { health, ...others } = addresses;
  // Another process of this machine may have the default health port. The server then starts without a health listener.
  const configuredHealth = health && !config.health?.byDefault ? [health] : [];
  await Promise.all([...Object.values(others), ...configuredHealth, ...ofLocalhost(config)].map(requireFree));
  return addresses;
}
