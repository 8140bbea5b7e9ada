import { largestLogoFile } from '../../../../../contracts/admin/partners.ts';
import { withoutResult } from '../kit/forms.ts';
import type { PageContext, PageRow, View } from '../kit/page.ts';
import { requestFacts } from './client.ts';

/** The most bytes of the form: the file in base64, whose signs `+` and `/` take three bytes, and the other fields. */
const largestForm = 5 * largestLogoFile;

/** The logo of the partner, which all its clients show, as the hosted pages of a client have it. */
async function show({ api, m, partnerId }: PageContext): Promise<View> {
  const [{ logo, brandRequest }, [client]] = await Promise.all([
    api.partners.show({ partnerId }),
    api.clients.list({ partnerId, limit: 1 }),
  ]);
  return {
    title: m.logo,
    sections: [
      {
        title: m.logo,
        note: m.brandNote,
        ...(brandRequest && { facts: requestFacts(brandRequest, m) }),
        ...(client && { frame: { src: `/clients/${client.id}/preview?`, title: m.preview } }),
        forms: [
          {
            act: 'set',
            fields: [{ name: 'image', label: m.logoFile, kind: 'file' }],
            submit: m.save,
            note: m.logoNote,
          },
          (logo !== null || brandRequest?.status === 'waiting') && {
            act: 'remove',
            fields: [],
            submit: m.remove,
            needs: 'partners.removeLogo',
            danger: true,
          },
        ],
      },
    ],
  };
}

export const logoPages: readonly PageRow[] = [
  {
    path: '/logo',
    needs: 'partners.show',
    changes: 'partners.setLogo',
    largestForm,
    view: show,
    actions: {
      set: withoutResult(({ api, partnerId }, { image = '' }) => api.partners.setLogo({ partnerId, image })),
      remove: withoutResult(({ api, partnerId }) => api.partners.removeLogo({ partnerId })),
    },
  },
];
