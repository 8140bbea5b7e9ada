import type { PageContext, PageRow, View } from './kit/page.ts';
import { text } from './kit/text.ts';

async function view({ m, about }: PageContext): Promise<View> {
  const { contract, version, environment, baseUrl } = about;
  return {
    title: m.news,
    sections: [
      {
        title: m.service,
        note: m.serviceUp,
        facts: [
          [m.interfaceVersion, text(contract)],
          [m.serviceVersion, text(version)],
          [m.environment, text(environment)],
          [m.url, text(baseUrl)],
        ],
        links: [
          { text: m.changelog, to: '/docs/changelog', away: true },
          { text: m.guide, to: '/docs/portal', away: true },
          { text: m.errorsExplained, to: '/docs/errors', away: true },
          { text: m.statusPage, to: '/status', away: true },
        ],
      },
    ],
  };
}

export const newsPages: readonly PageRow[] = [{ path: '/news', nav: 'news', needs: 'partners.show', view }];
