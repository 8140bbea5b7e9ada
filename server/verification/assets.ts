import type { FastifyPluginAsync } from 'fastify';

/** A static file of the pages; its name holds a hash of its content, so that it may be kept for ever. */
export interface Asset {
  name: string;
  type: string;
  content: Buffer;
}

export function assetRoutes(assets: readonly Asset[]): FastifyPluginAsync {
  return async (app) => {
    for (const { name, type, content } of assets) {
      app.get(`/${name}`, async (_request, reply) =>
        reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(content),
      );
    }
  };
}
