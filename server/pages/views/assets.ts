import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.ts';
import { cacheForever, loadAsset, serveAsset } from '../../platform/http/browser/pages.ts';
import { brandStyle } from './branding.ts';

/** Templates and style sheets: beside this file, in the source tree and in the build alike. */
const templates = fileURLToPath(new URL('../templates', import.meta.url));
/** Templates escape everything by default. */
export const eta = new Eta({ views: templates, cache: true });

const load = (folder: 'styles' | 'scripts', name: string, type: string, files?: readonly string[]) =>
  loadAsset(`${templates}/${folder}`, name, type, files);
const css = 'text/css; charset=utf-8';
const javascript = 'text/javascript; charset=utf-8';

const sheets = [
  'theme',
  'parts',
  'devices',
  'people',
  'problem',
  'legal',
  'identity-wallet',
  'narrow',
  'consent',
].map((name) => `${name}.css`);
const style = load('styles', 'style.css', css, sheets);
/** A separate file, because other pages do not need it. */
const yourDataStyle = load('styles', 'you.css', css);
const script = load('scripts', 'wait.js', javascript);
const identityWalletScript = load('scripts', 'wallet.js', javascript);
const passkeyScript = load('scripts', 'passkey.js', javascript);
const icon = load('styles', 'icon.svg', 'image/svg+xml');

export function assetAddresses(prefix: string) {
  return {
    style: `${prefix}/${style.name}`,
    /** For the pages of a user's own data, beside `style`. */
    yourDataStyle: `${prefix}/${yourDataStyle.name}`,
    icon: `${prefix}/${icon.name}`,
    script: `${prefix}/${script.name}`,
    /** For the page that asks an identity wallet. */
    identityWalletScript: `${prefix}/${identityWalletScript.name}`,
    /** For pages that ask for a passkey. */
    passkeyScript: `${prefix}/${passkeyScript.name}`,
    /** The style sheet of a partner's colour, `#rrggbb`. */
    brandStyle: (color: string) => `${prefix}/brand/${color.slice(1)}.css`,
    logo: (id: string) => `${prefix}/logo/${id}.png`,
  };
}

/** Browsers may show a logo for a day after it was removed. */
const forOneDay = 'public, max-age=86400, immutable';

/**
 * The files that pages load, to be mounted at the prefix of their addresses.
 * @param findLogo finds the logo of a partner, which is served from this origin
 */
export const assetRoutes =
  (findLogo: (id: string) => Promise<Buffer | undefined>): FastifyPluginAsyncZod =>
  async (app) => {
    const assets = [style, yourDataStyle, script, identityWalletScript, passkeyScript, icon];
    for (const asset of assets) serveAsset(app, '/', asset);
    // The style sheet of a partner's colour. It depends on the colour alone, so it may be cached for ever too.
    app.get(
      '/brand/:file',
      { schema: { params: z.object({ file: z.string().regex(/^[0-9a-f]{6}\.css$/) }) } },
      async ({ params }, reply) =>
        reply
          .header('cache-control', cacheForever)
          .type(css)
          .send(brandStyle(`#${params.file.replace('.css', '')}`)),
    );

    app.get(
      '/logo/:file',
      { schema: { params: z.object({ file: z.string().max(64) }) } },
      async ({ params }, reply) => {
        const { id } = /^(?<id>[0-9a-f]{32})\.png$/.exec(params.file)?.groups ?? {};
        const png = id === undefined ? undefined : await findLogo(id);
        if (!png) throw new ApiError('route_not_found');
        // A logo that is opened as a page of its own can load and run nothing.
        const policy = "default-src 'none'; sandbox";
        void reply.headers({ 'cache-control': forOneDay, 'content-security-policy': policy });
        return reply.type('image/png').send(png);
      },
    );
  };
