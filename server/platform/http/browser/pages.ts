import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyHelmetOptions } from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

/** A static file of our pages. Its name contains a hash of its content, so that browsers may keep the file forever. */
export interface Asset {
  name: string;
  type: string;
  content: Buffer;
}

/** The `cache-control` of a file that never changes. */
export const cacheForever = 'public, max-age=31536000, immutable';

/** A style sheet without its comments, which are an eighth of it and which browsers do not need. */
const withoutComments = (sheet: string) => sheet.replaceAll(/\/\*[\s\S]*?\*\/\n?/g, '');

/**
 * Makes an asset from one or more files of a folder.
 * @param name the name without the hash, such as `style.css`
 * @param files the names of the files. The default is the one file with the asset's own name
 */
export function loadAsset(
  folder: string,
  name: string,
  type: string,
  files: readonly string[] = [name],
): Asset {
  const text = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8')).join('');
  const content = Buffer.from(type.startsWith('text/css') ? withoutComments(text) : text);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { name: name.replace('.', `.${hash}.`), type, content };
}

/** Answers requests for an asset. @param folder the path before the asset's name, such as `/assets/` */
export function serveAsset(scope: FastifyInstance, folder: string, { name, type, content }: Asset): void {
  scope.get(`${folder}${name}`, async (_request, reply) =>
    reply.header('cache-control', cacheForever).type(type).send(content),
  );
}

/** A Content-Security-Policy that allows nothing but what the given directives allow. `default-src` stands before them. */
export function securityPolicy(...directives: readonly (string | false)[]): string {
  const allowed = directives.filter((directive) => directive !== false).join('; ');
  const others = ['form-action', 'frame-ancestors', 'base-uri'].filter((name) => !allowed.includes(name));
  return ["default-src 'none'", allowed, ...others.map((name) => `${name} 'none'`)].join('; ');
}
/** Directives for pages that load our own style sheets and images. */
export const ownFiles = "style-src 'self'; img-src 'self'";

/** Options for the headers of every page, also of errors. The content security policy is left out, because pages differ in it. */
export const pageHeaders = (isSecure: boolean): FastifyHelmetOptions => ({
  contentSecurityPolicy: false,
  // Not `no-referrer`: browsers would then send our own forms with `Origin: null`.
  referrerPolicy: { policy: 'same-origin' },
  strictTransportSecurity: isSecure ? { maxAge: 31_536_000 } : false,
  xFrameOptions: { action: 'deny' },
});
