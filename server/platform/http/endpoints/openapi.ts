import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { type Document, documentFrame } from '../../../../contracts/openapi/document.ts';
import { finishDocument } from '../../../../contracts/openapi/finish.ts';
import { allowPreflight, anyOrigin } from '../browser/any-origin.ts';

/**
 * The OpenAPI document of every route registered after this, at `/docs/openapi.json`.
 * @param baseUrl where this server answers, without a trailing slash
 */
export async function describeApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: documentFrame(baseUrl) as object,
    transform: jsonSchemaTransform,
    transformObject: (input) =>
      finishDocument(jsonSchemaTransformObject(input) as unknown as Document) as never,
  });
  allowPreflight(app, '/docs/openapi.json');
  app.get('/docs/openapi.json', { schema: { hide: true } as object }, async (_request, reply) =>
    reply.headers(anyOrigin).type('application/json').send(JSON.stringify(app.swagger())),
  );
}
