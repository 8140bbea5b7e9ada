import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Language, languageAccepted } from '../../platform/http/browser/language.ts';
import { languageChosen } from '../../platform/http/browser/language-choice.ts';
import { loadAsset, ownFiles, securityPolicy } from '../../platform/http/browser/pages.ts';
import type { Browser } from './browser.ts';
import { languages } from './messages/languages.ts';
import { pages, renderTemplate, type Templates } from './templates.ts';
import type { Document } from './views/kit/page.ts';

export const style = loadAsset(pages, 'portal.css', 'text/css; charset=utf-8');
const script = loadAsset(pages, 'passkey.js', 'text/javascript; charset=utf-8');
/** Local times and buttons to copy. The pages work without it. */
const pageScript = loadAsset(pages, 'page.js', 'text/javascript; charset=utf-8');
/** What the other two scripts share. */
const releaseScript = loadAsset(pages, 'release.js', 'text/javascript; charset=utf-8');
export const assets = [style, script, pageScript, releaseScript] as const;

/** The policy of a page. It allows only our own files and forms, and scripts and frames only where a page needs them. */
const policyOf = ({ hasScript, hasFrame }: { hasScript: boolean; hasFrame: boolean }) =>
  securityPolicy(
    ownFiles,
    hasScript && "script-src 'self'",
    hasFrame && "frame-src 'self'",
    "form-action 'self'",
  );

/**
 * The policy of a document that our pages may show in a frame, such as the preview of a consent page. Its forms and scripts are
 * off. With `allow-same-origin`, it may still load our own style sheet.
 */
const documentPolicy = securityPolicy(ownFiles, "frame-ancestors 'self'", 'sandbox allow-same-origin');

interface Answer {
  /** The HTTP status, if it is not 200. */
  status?: number;
  hasFrame?: boolean;
  /** Whether the page loads the script for passkeys and invitations. */
  hasPasskey?: boolean;
}

export type Responses = ReturnType<typeof createResponses>;

/** Renders and sends the portal's pages, in the member's language. */
export function createResponses({ basePath, root }: Browser) {
  const languageOf = (request: FastifyRequest): Language =>
    languageChosen(request) ?? languageAccepted(request.headers['accept-language']);

  return {
    languageOf,
    messagesOf: (request: FastifyRequest) => languages[languageOf(request)],

    send<T extends keyof Templates>(
      request: FastifyRequest,
      reply: FastifyReply,
      template: T,
      values: Templates[T],
      { status = 200, hasFrame = false, hasPasskey = false }: Answer = {},
    ): FastifyReply {
      const isPage = template === 'page';
      const own = [...(isPage ? [pageScript] : []), ...(hasPasskey ? [script] : [])];
      const scripts = own.length > 0 ? [releaseScript, ...own] : [];
      const language = languageOf(request);
      const html = renderTemplate(template, {
        m: languages[language],
        language,
        languages: Object.entries(languages).map(([code, { name }]) => ({ code, name })),
        root,
        basePath,
        style: `${root}/assets/${style.name}`,
        scripts: scripts.map(({ name }) => `${root}/assets/${name}`),
        ...values,
      });
      return reply
        .status(status)
        .headers({
          'content-security-policy': policyOf({ hasScript: scripts.length > 0, hasFrame }),
          vary: 'accept-language, cookie',
        })
        .type('text/html; charset=utf-8')
        .send(html);
    },

    /** Sends a document, which pages of the portal may show in a frame. */
    sendDocument(reply: FastifyReply, { type, content, fileName }: Document): FastifyReply {
      return reply
        .headers({
          'content-security-policy': documentPolicy,
          // Replaces the `DENY` of all other pages.
          'x-frame-options': 'SAMEORIGIN',
          ...(fileName === undefined ? {} : { 'content-disposition': `attachment; filename="${fileName}"` }),
        })
        .type(`${type}; charset=utf-8`)
        .send(typeof content === 'string' ? content : Readable.from(content));
    },
  };
}
