import { describe, expect, it } from 'vitest';
import type { View } from '../../../server/pages/flow/view.ts';
import { viewModelOf } from '../../../server/pages/views/view-models.ts';

const view = {
  kind: 'handoff',
  session: { timeline: [] },
  shown: { token: '0123456789', code: '123456' },
} as unknown as View;

const viewModelAt = (baseUrl: string) =>
  viewModelOf(view, { baseUrl, language: 'en', action: '/verify/session/x', onPhone: false, now: 0 });

describe('the QR code of the hand-off', () => {
  it.each(['https://verify.example', 'http://192.168.1.7:8080', 'https://localhost.example/svc'])(
    'is shown at %s',
    (baseUrl) => {
      expect(viewModelAt(baseUrl)).toMatchObject({ qr: { path: expect.stringMatching(/^M/) as unknown } });
    },
  );

  it.each(['http://localhost:8080', 'http://svc.localhost', 'http://127.0.0.1:8080', 'http://[::1]:8080'])(
    'is not shown at %s, which phones cannot open',
    (baseUrl) => {
      const viewModel = viewModelAt(baseUrl);
      expect(viewModel['qr']).toBeUndefined();
      expect(viewModel['link']).toBe(`${baseUrl}/verify/p/0123456789`);
    },
  );
});
