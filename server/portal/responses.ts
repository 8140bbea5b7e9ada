import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isOwnOrigin } from '../platform/http/csrf.ts';
import type { Browser } from './browser.ts';
import { type Language, languages } from './messages/languages.ts';
import type { Document } from './views/page.ts';

const pages = fileURLToPath(new URL('./pages', import.meta.url));

interface Asset {
  name: string;
  type: string;
  content: Buffer;
}

function loadAsset(file: string, type: string): Asset {
  const content = readFileSync(`${pages}/${file}`);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { name: file.replace('.', `.${hash}.`), type, content };
}
const style = loadAsset('portal.css', 'text/css; charset=utf-8');
const script = loadAsset('passkey.js', 'text/javascript; charset=utf-8');
/** Files that pages load. */
export const assets: readonly Asset[] = [style, script];

/** Allows only our own files and forms. @param framed whether the page shows one of our documents in a frame */
const policyOf = ({ scripted, framed }: { scripted: boolean; framed: boolean }) =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ...(scripted ? ["script-src 'self'"] : []),
    ...(framed ? ["frame-src 'self'"] : []),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');

/** The policy of a document that our pages may show in a frame. It has no scripts, and its forms are off. */
const documentPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'; sandbox allow-same-origin";

const languageCookie = 'svc_language';
const isLanguage = (code: unknown): code is Language =>
  typeof code === 'string' && Object.hasOwn(languages, code);

interface Dependencies {
  browser: Browser;
  /** The language of an `Accept-Language` header. */
  acceptedLanguage: (header: string | undefined) => Language;
}

export type Responses = ReturnType<typeof createResponses>;

/** Renders and sends the portal's pages, in the member's language. Templates escape everything by default. */
export function createResponses({ browser, acceptedLanguage }: Dependencies) {
  const eta = new Eta({ views: pages, cache: true });
  const { root, secure } = browser;

  const languageOf = ({ cookies, headers }: FastifyRequest): Language => {
    const chosen = cookies[languageCookie];
    return isLanguage(chosen) ? chosen : acceptedLanguage(headers['accept-language']);
  };

  return {
    languageOf,
    messagesOf: (request: FastifyRequest) => languages[languageOf(request)],

    /** Follows a link of our pages to another language. @returns whether the request was such a link, and was answered */
    followChoice(request: FastifyRequest, reply: FastifyReply): boolean {
      const { lang } = (request.query ?? {}) as { lang?: unknown };
      if (request.method !== 'GET' || !isLanguage(lang) || !isOwnOrigin(request.headers, '')) return false;
      const [path = ''] = request.url.split('?', 1);
      void reply
        .setCookie(languageCookie, lang, { path: root, httpOnly: true, sameSite: 'lax', secure })
        .redirect(`./${path.slice(path.lastIndexOf('/') + 1)}`, 303);
      return true;
    },

    send(
      request: FastifyRequest,
      reply: FastifyReply,
      template: string,
      {
        status = 200,
        framed = false,
        ...data
      }: { status?: number; framed?: boolean; passkey?: string } & Record<string, unknown>,
    ): FastifyReply {
      const language = languageOf(request);
      const html = eta.render(`./${template}`, {
        m: languages[language],
        language,
        languages: Object.entries(languages).map(([code, { name }]) => ({ code, name })),
        root,
        base: root.replace(/\/portal$/, ''),
        style: `${root}/assets/${style.name}`,
        script: data.passkey === undefined ? undefined : `${root}/assets/${script.name}`,
        ...data,
      });
      return reply
        .status(status)
        .headers({
          'content-security-policy': policyOf({ scripted: data.passkey !== undefined, framed }),
          vary: 'accept-language, cookie',
        })
        .type('text/html; charset=utf-8')
        .send(html);
    },

    sendDocument(reply: FastifyReply, { type, content, fileName }: Document): FastifyReply {
      return reply
        .headers({
          'content-security-policy': documentPolicy,
          'x-frame-options': 'SAMEORIGIN',
          ...(fileName === undefined ? {} : { 'content-disposition': `attachment; filename="${fileName}"` }),
        })
        .type(`${type}; charset=utf-8`)
        .send(content);
    },
  };
}
