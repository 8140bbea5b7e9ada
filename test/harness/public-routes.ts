import type { z } from 'zod';
import { createPublicApp } from '../../server/process/app.ts';
import { recordingLogger } from './log-lines.ts';
import type { TestServer } from './server.ts';

export const parts = ['body', 'querystring', 'params', 'headers'] as const;
export interface PublicRoute {
  method: string | string[];
  url: string;
  schema?: Partial<Record<(typeof parts)[number], z.ZodType>>;
}

/** The routes of the public listener, of a second app with the same services that does not listen. */
export async function publicRoutes({ services, config }: Pick<TestServer, 'services' | 'config'>) {
  const found: PublicRoute[] = [];
  const admin = {
    ...services.admin,
    observe: (app: { addHook: (name: 'onRoute', hook: (route: PublicRoute) => void) => void }) =>
      app.addHook('onRoute', (route) => void found.push(route)),
  };
  const context = {
    ...{ config, logger: recordingLogger().logger, isStopping: () => false, closed: () => undefined },
    ...{ keyring: { publicKeys: [] }, readiness: { reasons: () => [] } },
  };
  const app = await createPublicApp({ ...services, admin } as never, context as never);
  await app.ready();
  await app.close();
  return found.filter(({ method }) => method !== 'HEAD');
}
