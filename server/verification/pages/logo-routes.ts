import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.ts';

/** Browsers may show a logo for a day after it was removed. */
const cacheControl = 'public, max-age=86400, immutable';

/** Returns the route of partners' logos, which are served from this origin. Register it at the prefix of the assets. */
export function logoRoutes(findLogo: (id: string) => Promise<Buffer | undefined>): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/logo/:file',
      { schema: { params: z.object({ file: z.string().max(64) }) } },
      async ({ params }, reply) => {
        const { id } = /^(?<id>[0-9a-f]{32})\.png$/.exec(params.file)?.groups ?? {};
        const png = id === undefined ? undefined : await findLogo(id);
        if (!png) throw new ApiError('route_not_found');
        return (
          reply
            .header('cache-control', cacheControl)
            // A logo that is opened as a page of its own can load and run nothing.
            .header('content-security-policy', "default-src 'none'; sandbox")
            .type('image/png')
            .send(png)
        );
      },
    );
  };
}
