import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { securityPolicy } from '../platform/http/browser/pages.ts';

/**
 * The directory of the site, which `.config/site/` renders at build. It is next to the built server, or in `dist/` if the server
 * runs from its sources.
 */
const directory = ['../../site/', '../../dist/site/']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.tgz': 'application/gzip',
};

/** Headers of every page of the site. The site loads nothing from other origins, and has no inline style or script. */
export const siteHeaders = {
  'content-security-policy': securityPolicy(
    "style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'",
  ),
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

interface SiteFile {
  type: string;
  etag: string;
  content: Buffer;
  /** The content compressed with gzip. It is made at the first request for it, and kept for later requests. */
  compressed?: Promise<Buffer>;
}

/** Replaces the placeholders of the base URL and its path. @param baseUrl the base URL of this server, without a trailing slash */
function fillPlaceholders(content: string, baseUrl: string): string {
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  return content.replaceAll('__SVC_BASE_PATH__', basePath).replaceAll('__SVC_BASE_URL__', baseUrl);
}

function requireDirectory(): string {
  if (!directory) throw new Error('the documentation site is not built: run `npm run build`');
  return directory;
}

/** Reads a page of the site into which another feature puts its content. @param name the name of the file, without `.html` */
export const readShell = (name: string, baseUrl: string): string =>
  fillPlaceholders(readFileSync(join(requireDirectory(), `${name}.html`), 'utf8'), baseUrl);

/** Archives are sent as they are. All other files are text with placeholders. */
function readFile(file: string, baseUrl: string): SiteFile {
  const isText = extname(file) !== '.tgz';
  const content = isText
    ? Buffer.from(fillPlaceholders(readFileSync(file, 'utf8'), baseUrl))
    : readFileSync(file);
  const type = types[extname(file)] ?? 'application/octet-stream';
  const digest = createHash('sha256').update(content).digest('base64url');
  return { type, etag: `"${digest}"`, content };
}

/** Lists the files of the site by path, without `.html`. A file is read at its first request, so that the server starts faster. */
function listSite(baseUrl: string): Map<string, () => SiteFile> {
  const root = requireDirectory();
  const files = new Map<string, () => SiteFile>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    // `docs/errors.html` has the path `docs/errors`, and `docs/index.html` has the path `docs/`.
    const path = relative(root, file).replace(/(?:\bindex)?\.html$/, '');
    let loaded: SiteFile | undefined;
    files.set(path, () => {
      loaded ??= readFile(file, baseUrl);
      return loaded;
    });
  }
  return files;
}

/** Whether an `Accept-Encoding` header names gzip, and not with a weight of zero, such as `gzip;q=0` or `gzip; q=0.0`. */
const acceptsGzip = (acceptEncoding: string): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(acceptEncoding);

/** Sends a file: 304 if the client has it already, compressed if the client accepts gzip. Archives are compressed already. */
async function sendFile(file: SiteFile, { headers }: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  void reply.headers({ ...siteHeaders, etag: file.etag, vary: 'accept-encoding' });
  // A proxy that compresses a response marks its tag as weak by `W/`.
  const knownTags = headers['if-none-match']?.split(/,\s*/).map((tag) => tag.replace(/^W\//, ''));
  if (knownTags?.includes(file.etag)) return reply.status(304).send();
  void reply.type(file.type);
  const isArchive = file.type === 'application/gzip';
  if (isArchive || !acceptsGzip(headers['accept-encoding']?.toString() ?? ''))
    return reply.send(file.content);
  file.compressed ??= promisify(gzip)(file.content);
  return reply.header('content-encoding', 'gzip').send(await file.compressed);
}

/** The parameters of a route such as `/docs/*`. */
type AnyBelow = { Params: { '*': string } };

/**
 * Returns the routes of the documentation site: the first page at `/`, guides and reference at `/docs/`, and
 * `/llms.txt`. Old addresses under `/docs/guides` redirect to the present pages.
 * @param baseUrl the base URL of this server, without a trailing slash
 */
export function siteRoutes(baseUrl: string): FastifyPluginAsync {
  return async (app) => {
    const files = listSite(baseUrl);
    // With `hide`, the OpenAPI document does not list these routes. The type does not have this option of the plugin.
    const schema = { hide: true } as object;
    /** Makes the handler that sends the file with this path of `listSite`. */
    const send = (path: string) => async (request: FastifyRequest, reply: FastifyReply) => {
      const file = files.get(path)?.();
      return file ? sendFile(file, request, reply) : reply.callNotFound();
    };

    app.get('/', { schema }, send(''));
    app.get('/llms.txt', { schema }, send('llms.txt'));
    // Redirects are relative, because the base URL may have a path that a proxy removes.
    app.get('/docs', { schema }, async (_request, reply) => reply.redirect('docs/', 308));
    app.get<AnyBelow>('/docs/*', { schema }, async (request, reply) =>
      send(`docs/${request.params['*']}`)(request, reply),
    );
    app.get('/docs/guides', { schema }, async (_request, reply) => reply.redirect('./', 308));
    app.get<AnyBelow>('/docs/guides/*', { schema }, async ({ params }, reply) =>
      files.has(`docs/${params['*']}`) ? reply.redirect(`../${params['*']}`, 308) : reply.callNotFound(),
    );
  };
}
