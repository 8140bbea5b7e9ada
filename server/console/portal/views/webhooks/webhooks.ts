import { modeOf } from '../kit/forms.ts';
import { listView, pageOf, pageSize } from '../kit/list.ts';
import type { PageContext, PageRow, View } from '../kit/page.ts';
import { link, text } from '../kit/text.ts';

async function list(context: PageContext): Promise<View> {
  const { api, m, partnerId, query } = context;
  const [keys, health] = await Promise.all([
    api.keys.list({ ...pageOf(context), status: 'active', mode: modeOf(query) }),
    api.webhooks.health({ partnerId, mode: modeOf(query), limit: pageSize }),
  ]);
  // A key without a URL has no state. One call returns 50 endpoints at most, so keys on later pages may show none either.
  const stateOf = (keyId: string) => health.find((endpoint) => endpoint.keyId === keyId)?.state;
  return listView(context, 'webhooks', {
    empty: m.emptyWebhooks,
    rows: keys,
    columns: [
      [m.key, ({ id }) => link(id, `/webhooks/${id}`)],
      [m.mode, ({ mode }) => text(mode)],
      [m.url, ({ webhookUrl }) => text(webhookUrl)],
      [m.status, ({ id }) => text(stateOf(id))],
    ],
  });
}

export const webhookPages: readonly PageRow[] = [
  { path: '/webhooks', nav: 'webhooks', modes: 'any', needs: 'webhooks.show', view: list },
];
