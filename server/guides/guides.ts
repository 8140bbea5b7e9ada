import { readdirSync, readFileSync } from 'node:fs';
import { Eta } from 'eta';
import type { FastifyPluginAsync } from 'fastify';
import { ApiError } from '../platform/errors.ts';
import { renderGuide } from './markdown.ts';

/** From the sources as from the build: the guides lie beside the server. */
const directory = new URL('../../docs/', import.meta.url);
const pages = new URL('pages/', import.meta.url);
const index = 'README';

const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const headers = {
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** Links at the top of each page, in the order of reading. */
const contents = [
  ['README', 'Overview'],
  ['quickstart', 'Quickstart'],
  ['sdk-typescript', 'TypeScript'],
  ['sdk-python', 'Python'],
  ['sdk-php', 'PHP'],
  ['recipes', 'Recipes'],
  ['flow', 'Hosted flow'],
  ['tokens-and-claims', 'Tokens and claims'],
  ['storefront', 'Storefronts'],
  ['webhooks', 'Webhooks'],
  ['limits-and-billing', 'Limits and billing'],
  ['errors', 'Errors'],
  ['testing', 'Testing'],
  ['security', 'Security'],
] as const;

/** Names of all guides, without their ending. */
export const guideNames: readonly string[] = readdirSync(directory)
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.slice(0, -'.md'.length))
  .sort();

const addressOf = (name: string): string => (name === index ? '/docs/guides' : `/docs/guides/${name}`);

/** Links of a guide on this server: other guides, the OpenAPI document, and addresses of the web. */
function resolve(target: string): string | undefined {
  if (/^https?:\/\//.test(target) || target.startsWith('#')) return target;
  const [file = '', anchor] = target.split('#');
  if (file === 'openapi.json') return '/docs/openapi.json';
  const name = file.replace(/\.md$/, '');
  return guideNames.includes(name) ? addressOf(name) + (anchor ? `#${anchor}` : '') : undefined;
}

/** `/docs/guides`: the guides of `docs/` as pages, beside the reference at `/docs`. They load nothing from elsewhere. */
export const guideRoutes: FastifyPluginAsync = async (app) => {
  const eta = new Eta({ cache: true });
  const template = readFileSync(new URL('guide.eta', pages), 'utf8');
  const style = readFileSync(new URL('guide.css', pages), 'utf8');
  const rendered = new Map<string, string>();

  function page(name: string): string {
    const known = rendered.get(name);
    if (known !== undefined) return known;
    const { title, html } = renderGuide(readFileSync(new URL(`${name}.md`, directory), 'utf8'), resolve);
    const links = contents.map(([each, label]) => ({
      label,
      href: addressOf(each),
      current: each === name,
    }));
    const whole = eta.renderString(template, { title, html, links });
    rendered.set(name, whole);
    return whole;
  }

  const schema = { hide: true } as object;
  app.addHook('onRequest', async (_request, reply) => {
    void reply.headers(headers);
  });
  app.get('/', { schema }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page(index)),
  );
  app.get<{ Params: { name: string } }>('/:name', { schema }, async ({ params }, reply) => {
    if (params.name === 'guide.css') return reply.type('text/css; charset=utf-8').send(style);
    if (!guideNames.includes(params.name)) throw new ApiError('route_not_found');
    return reply.type('text/html; charset=utf-8').send(page(params.name));
  });
};
