import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { type Document, documentFrame } from '../../../contracts/openapi/document.ts';
import { finishDocument } from '../../../contracts/openapi/finish.ts';

/** Everything is served from here; the pages load nothing from anywhere else. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "img-src 'self' data:",
  // The pages set style attributes on their own elements.
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ');

/** Without the header and the links of those who made the pages, and with the header of the guides. */
const ownStyle = `
.swagger-ui .topbar, .swagger-ui .info__license { display: none }
.top { display: flex; flex-wrap: wrap; gap: .25rem 2rem; align-items: center; padding: .75rem 1.5rem;
  background: #17594a; font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", sans-serif }
.top nav { display: flex; gap: 1.5rem }
.top a { color: #fff; text-decoration: none }
.top a:hover, .top [aria-current] { text-decoration: underline; text-underline-offset: .35em }
.top .name { font-weight: 700 }
`;

/** The header that the guides have too. */
const ownScript = `
const link = (href, text, attributes = {}) =>
  Object.assign(document.createElement('a'), { href, textContent: text, ...attributes });
const here = link('/docs', 'API reference');
here.setAttribute('aria-current', 'page');
const nav = document.createElement('nav');
nav.setAttribute('aria-label', 'Documentation');
nav.append(link('/docs/guides', 'Guides'), here);
const header = Object.assign(document.createElement('header'), { className: 'top' });
header.append(link('/docs/guides', 'SVC Gateway', { className: 'name' }), nav);
document.body.prepend(header);
`;

/**
 * The OpenAPI document of every route registered after this, at `/docs/openapi.json`, and as pages at `/docs`.
 * @param baseUrl where this server answers, without a trailing slash
 */
export async function describeApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: documentFrame(baseUrl) as object,
    transform: jsonSchemaTransform,
    transformObject: (input) =>
      finishDocument(jsonSchemaTransformObject(input) as unknown as Document) as never,
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    theme: {
      title: 'SVC Gateway API',
      css: [{ filename: 'own.css', content: ownStyle }],
      js: [{ filename: 'own.js', content: ownScript }],
    },
    uiConfig: { docExpansion: 'list', validatorUrl: null, defaultModelsExpandDepth: 0 },
  });
  app.get('/docs/openapi.json', { schema: { hide: true } as object }, async (_request, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  );
}
